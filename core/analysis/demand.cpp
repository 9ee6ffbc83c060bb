#include "core/analysis/demand.h"

#include "core/analysis/demand/demands.h"

namespace sonde::analysis {

using demand::Demand;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::TypeInfo;

namespace {

bool wantsDemand(const InternalGraph& graph, NodeId input) {
    const graph::Node& node = graph.node(input);
    const bool hasDefault = !graph.expr(node.producer).arguments.empty();
    return !hasDefault && !node.type.shape && node.type.dtype == DType::Undefined &&
           (!node.type.kind || node.type.isTensor());
}

}  // namespace

std::vector<TypeInfo> requiredByLayers(const InternalGraph& graph) {
    // A recorded shape is one of many: sizes that were read from it are no demand. Weights keep theirs.
    InternalGraph unrecorded = graph;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.kind == graph::ExprKind::Constant || expr.kind == graph::ExprKind::GetAttr) continue;
        for (const NodeId node : expr.outputs) {
            if (!graph.node(node).constant && graph.node(node).type.isTensor())
                unrecorded.setType(node, TypeInfo::tensor(DType::Undefined));
        }
    }
    demand::Demands demands(unrecorded);
    demands.collect();
    std::vector<TypeInfo> types;
    for (const NodeId input : graph.inputs()) {
        const Demand wanted = demands.of(input);
        types.push_back(TypeInfo::tensor(wanted.dtype, wanted.rank ? std::optional(wanted.dims()) : std::nullopt));
    }
    return types;
}

std::vector<NodeId> demandInputTypes(InternalGraph& graph) {
    demand::Demands demands(graph);
    demands.collect();
    std::vector<NodeId> changed;
    for (const NodeId input : graph.inputs()) {
        Demand wanted = demands.of(input);
        if (!wanted.rank && wanted.leastRank == wanted.mostRank) wanted.rank = wanted.mostRank;
        if (!wantsDemand(graph, input) || (!wanted.rank && wanted.dtype == DType::Undefined)) continue;
        graph.setType(input, TypeInfo::tensor(wanted.dtype, wanted.rank ? std::optional(wanted.dims()) : std::nullopt));
        changed.push_back(input);
    }
    return changed;
}

std::vector<tensor::ExtentHints> usualExtents(const InternalGraph& graph) {
    demand::Demands demands(graph);
    demands.collect();
    std::vector<tensor::ExtentHints> hints;
    for (const NodeId input : graph.inputs()) hints.push_back(demands.of(input).hints());
    return hints;
}

}  // namespace sonde::analysis
