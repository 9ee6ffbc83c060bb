#include "core/analysis/infer.h"

namespace sonde::analysis {

using graph::InternalGraph;
using graph::NodeId;
using tensor::TypeInfo;
using tensor::Value;

namespace {

bool isExact(const TypeInfo& type) { return type.isTensor() && type.dtype != tensor::DType::Undefined && type.staticShape().has_value(); }

}  // namespace

std::vector<TypeInfo> typesWith(const InternalGraph& graph, std::span<const Value> inputs, const ops::Registry& registry) {
    InternalGraph copy = graph;
    // What was worked out for any input must not stand beside what is worked out for these.
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        copy.setType(NodeId(i), {});
    }
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
        const NodeId input = graph.inputs()[i];
        const bool isGiven = i < inputs.size() && !inputs[i].isNone();
        copy.setType(input, isGiven ? TypeInfo::of(inputs[i]) : graph.node(input).type);
    }
    base::Diagnostics ofCopy;
    inferTypes(copy, ofCopy, registry);
    std::vector<TypeInfo> types;
    types.reserve(graph.nodeCount());
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const TypeInfo &general = graph.node(NodeId(i)).type, &here = copy.node(NodeId(i)).type;
        types.push_back(isExact(here) || !general.kind ? here : general);
    }
    return types;
}

}  // namespace sonde::analysis
