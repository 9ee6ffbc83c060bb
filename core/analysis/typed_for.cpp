#include "core/analysis/typed_for.h"

#include "core/analysis/infer.h"
#include "core/analysis/seen_types.h"

namespace sonde::analysis {

using graph::InternalGraph;
using graph::NodeId;
using tensor::TypeInfo;
using tensor::Value;

InternalGraph typedFor(const InternalGraph& graph, std::span<const Value> inputs,
                       const std::map<NodeId, TypeInfo>& seen, const ops::Registry& registry) {
    std::vector<TypeInfo> types(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!inputs[i].isNone()) types[i] = TypeInfo::of(inputs[i]);
    base::Diagnostics ofCopy;
    return typedForTypes(graph, types, ofCopy, seen, registry);
}

InternalGraph typedForTypes(const InternalGraph& graph, std::span<const TypeInfo> inputs, base::Diagnostics& findings,
                            const std::map<NodeId, TypeInfo>& seen, const ops::Registry& registry) {
    InternalGraph copy = graph;
    // What was worked out for any input must not stand beside what is worked out for these.
    // Stored values are what they are; of one whose data file is missing nothing else tells the type.
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const graph::ExprId producer = graph.node(NodeId(i)).producer;
        const graph::ExprKind kind = graph.isErased(producer) ? graph::ExprKind::Output : graph.expr(producer).kind;
        if (kind != graph::ExprKind::Constant && kind != graph::ExprKind::GetAttr) copy.setType(NodeId(i), {});
    }
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
        const NodeId input = graph.inputs()[i];
        const bool isGiven = i < inputs.size() && inputs[i].kind;
        copy.setType(input, isGiven ? inputs[i] : graph.node(input).type);
    }
    for (const auto& [node, type] : seen) copy.setType(node, type);
    inferTypes(copy, findings, registry);
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const TypeInfo& general = graph.node(NodeId(i)).type;
        if (!isExact(copy.node(NodeId(i)).type) && general.kind) copy.setType(NodeId(i), general);
    }
    return copy;
}

}  // namespace sonde::analysis
