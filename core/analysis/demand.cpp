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
    return !hasDefault && !node.type.shape && node.type.dtype == DType::Undefined && (!node.type.kind || node.type.isTensor());
}

}  // namespace

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
