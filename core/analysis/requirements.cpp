#include "core/analysis/requirements.h"

#include "core/analysis/requirements/requirements.h"

namespace sonde::analysis {

using graph::InternalGraph;
using graph::NodeId;
using requirement::Requirement;
using tensor::DType;
using tensor::TypeInfo;

namespace {

bool wantsRequirement(const InternalGraph& graph, NodeId input) {
    const graph::Node& node = graph.node(input);
    const bool hasDefault = !graph.expr(node.producer).arguments.empty();
    return !hasDefault && !node.type.shape && node.type.dtype == DType::Undefined &&
           (!node.type.kind || node.type.isTensor());
}

}  // namespace

std::vector<TypeInfo> requiredByLayers(const InternalGraph& graph) {
    // A recorded shape is one of many: sizes that were read from it are no requirement. Weights keep theirs.
    InternalGraph unrecorded = graph;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.kind == graph::ExprKind::Constant || expr.kind == graph::ExprKind::GetAttr) continue;
        for (const NodeId node : expr.outputs) {
            if (!graph.node(node).constant && graph.node(node).type.isTensor())
                unrecorded.setType(node, TypeInfo::tensor(DType::Undefined));
        }
    }
    requirement::Requirements requirements(unrecorded);
    requirements.collect();
    std::vector<TypeInfo> types;
    for (const NodeId input : graph.inputs()) {
        const Requirement wanted = requirements.of(input);
        types.push_back(TypeInfo::tensor(wanted.dtype, wanted.rank ? std::optional(wanted.dims()) : std::nullopt));
    }
    return types;
}

std::vector<NodeId> requireInputTypes(InternalGraph& graph) {
    requirement::Requirements requirements(graph);
    requirements.collect();
    std::vector<NodeId> changed;
    for (const NodeId input : graph.inputs()) {
        Requirement wanted = requirements.of(input);
        if (!wanted.rank && wanted.leastRank == wanted.mostRank) wanted.rank = wanted.mostRank;
        if (!wantsRequirement(graph, input) || (!wanted.rank && wanted.dtype == DType::Undefined)) continue;
        graph.setType(input, TypeInfo::tensor(wanted.dtype, wanted.rank ? std::optional(wanted.dims()) : std::nullopt));
        changed.push_back(input);
    }
    return changed;
}

std::vector<tensor::DimSizeHints> usualDimSizes(const InternalGraph& graph) {
    requirement::Requirements requirements(graph);
    requirements.collect();
    std::vector<tensor::DimSizeHints> hints;
    for (const NodeId input : graph.inputs()) hints.push_back(requirements.of(input).hints());
    return hints;
}

}  // namespace sonde::analysis
