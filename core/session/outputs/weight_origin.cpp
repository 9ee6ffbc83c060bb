#include "core/session/outputs/weight_origin.h"

#include <algorithm>
#include <set>

#include "core/analysis/findings/checker.h"

namespace sonde::session::outputs {

namespace {

std::int64_t storedBytes(const graph::InternalGraph& graph) {
    std::int64_t bytes = 0;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        for (const graph::NodeId node : graph.expr(id).outputs)
            if (const auto& constant = graph.node(node).constant; constant && constant->isTensor())
                bytes += static_cast<std::int64_t>(constant->tensor().sizeBytes());
    return bytes;
}

}  // namespace

WeightOrigin knownOrigin(const document::Document& document) {
    const bool isBuiltIn = document.location.starts_with("zoo:");
    return isBuiltIn && document.options.weights.empty() ? WeightOrigin::Random : WeightOrigin::Unknown;
}

WeightOrigin lookedAtOrigin(const document::Document& document, const base::WorkContext& work) {
    const WeightOrigin known = knownOrigin(document);
    if (known != WeightOrigin::Unknown || storedBytes(*document.graph) > kMaxLookedAtBytes) return known;
    const std::vector<analysis::StoredWeight> weights = analysis::storedWeights(*document.graph, work);
    if (work.cancelled()) return known;
    const analysis::ModelCounts counts;
    std::vector<analysis::Finding> findings;
    analysis::suspiciousInitialisationChecker().find({*document.graph, counts, weights, {}, {}}, findings);
    std::set<graph::NodeId> untrained;
    for (const analysis::Finding& finding : findings) untrained.insert(finding.nodes.begin(), finding.nodes.end());
    std::ptrdiff_t kernels = 0, found = 0;
    for (const analysis::StoredWeight& weight : weights) {
        if (!weight.isKernel) continue;
        ++kernels;
        found += untrained.contains(weight.node) ? 1 : 0;
    }
    return kernels > 0 && 2 * found > kernels ? WeightOrigin::LooksUntrained : WeightOrigin::Unknown;
}

std::string originText(WeightOrigin origin) {
    switch (origin) {
        case WeightOrigin::Random: return "random weights: the model was not trained, and what it says means nothing";
        case WeightOrigin::LooksUntrained:
            return "most weights look as if they were never trained (finding suspicious-initialisation): names may mean "
                   "nothing";
        case WeightOrigin::Unknown: break;
    }
    return {};
}

}  // namespace sonde::session::outputs
