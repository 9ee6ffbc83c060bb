#include "core/analysis/findings/findings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

namespace sonde::analysis {

using graph::NodeId;

std::string_view name(Confidence confidence) {
    switch (confidence) {
        case Confidence::Low: return "low";
        case Confidence::Medium: return "medium";
        case Confidence::High: break;
    }
    return "high";
}

std::vector<std::string> namesOf(const graph::InternalGraph& graph, const Finding& finding) {
    std::vector<std::string> names;
    for (const NodeId node : finding.nodes) names.push_back(graph.node(node).name);
    names.insert(names.end(), finding.others.begin(), finding.others.end());
    return names;
}

Finding findingAt(NodeId node, base::Severity severity, Confidence confidence, std::string message,
                  std::string advice) {
    return {{}, severity, confidence, {node}, {}, std::move(message), std::move(advice)};
}

std::vector<bool> resultNodes(const graph::InternalGraph& graph) {
    std::vector<bool> isResult(graph.nodeCount(), false);
    for (std::size_t i = 0; i < graph.bodyCount(); ++i)
        for (const NodeId node : graph.body(graph::BodyId(i)).outputs) isResult[node.index()] = true;
    return isResult;
}

std::string percentText(std::int64_t part, std::int64_t whole) {
    const double percent = whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
    if (percent > 0 && percent < 1) return fmt::format("{:.2g} %", percent);
    return fmt::format("{:.0f} %", part < whole ? std::min(percent, 99.0) : percent);
}

const std::vector<FindingChecker>& findingCheckers() {
    static const std::vector<FindingChecker> checkers = [] {
        std::vector<FindingChecker> all{badWeightChecker(),
                                        batchDependentChecker(),
                                        constantOutputChecker(),
                                        deadUnitChecker(),
                                        denormalChecker(),
                                        deprecatedOperatorChecker(),
                                        duplicateFilterChecker(),
                                        duplicateSubgraphChecker(),
                                        explodingScaleChecker(),
                                        float16OverflowChecker(),
                                        foldableConstantChecker(),
                                        infChecker(),
                                        nameCollisionChecker(),
                                        nanChecker(),
                                        oldOpsetChecker(),
                                        privateMetadataChecker(),
                                        quantizationClippingChecker(),
                                        quantizationRangeChecker(),
                                        redundantCastChecker(),
                                        redundantTransposeChecker(),
                                        saturationChecker(),
                                        suspiciousInitialisationChecker(),
                                        trainingModeChecker(),
                                        unusedInputChecker(),
                                        unusedOutputChecker(),
                                        unusedParameterChecker(),
                                        vanishingScaleChecker(),
                                        weightScaleChecker(),
                                        zeroFilterChecker()};
        std::ranges::sort(all, {}, &FindingChecker::id);
        return all;
    }();
    return checkers;
}

FoundFindings findFindings(const CheckedModel& model) {
    FoundFindings found;
    for (const FindingChecker& checker : findingCheckers()) {
        if (model.work.cancelled()) return found;
        const bool isLeftOut =
            (checker.need == FindingNeed::Run && !model.run) || (checker.need == FindingNeed::Batch && !model.batch);
        // Of a run that failed what was computed is looked at, which is not all there is to look at.
        const bool isCutShort = checker.need == FindingNeed::Run && model.run && model.run->complete == 0;
        if (isLeftOut || isCutShort) found.notChecked.push_back(checker.id);
        if (isLeftOut) continue;
        if (checker.tooFew)
            if (FewSamples few = checker.tooFew(model); !few.nodes.empty())
                found.tooFew.emplace(checker.id, std::move(few));
        std::vector<Finding> findings;
        checker.find(model, findings);
        // The most serious ones are those to keep.
        std::ranges::stable_sort(findings, std::greater(), &Finding::severity);
        if (findings.size() > kMaxFindings) {
            found.leftOut[std::string(checker.id)] = findings.size() - kMaxFindings;
            findings.resize(kMaxFindings);
        }
        for (Finding& finding : findings) {
            finding.id = checker.id;
            found.all.push_back(std::move(finding));
        }
    }
    std::ranges::stable_sort(found.all, std::greater(), &Finding::severity);
    return found;
}

}  // namespace sonde::analysis
