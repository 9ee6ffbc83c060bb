#include <cmath>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

namespace {

constexpr std::int64_t kMinKernel = 16, kMinSampled = 512;

/// PyTorch begins its layers with uniform numbers below 1 / sqrt(fan in): a deviation of the bound / sqrt(3).
bool isUntrainedUniform(const StoredWeight& weight) {
    if (weight.count < kMinSampled || weight.fanIn < 1) return false;
    const double bound = 1 / std::sqrt(static_cast<double>(weight.fanIn));
    const double fullest = 1 - 8.0 / static_cast<double>(weight.count);
    const bool reachesBound = weight.maximum <= bound * 1.00001 && -weight.minimum <= bound * 1.00001 &&
                              weight.maximum >= bound * fullest && -weight.minimum >= bound * fullest;
    return reachesBound && std::abs(weight.rms / bound * std::sqrt(3.0) - 1) < 0.06;
}

void findUniformKernels(const CheckedModel& model, std::vector<Finding>& findings) {
    Finding untrained{{},
                      base::Severity::Info,
                      Confidence::Medium,
                      {},
                      {},
                      {},
                      "check that the trained checkpoint was loaded before the export"};
    for (const StoredWeight& weight : model.weights) {
        if (!weight.isKernel || weight.nan + weight.inf > 0) continue;
        const graph::Expr& reader = model.graph.expr(weight.reader);
        if (weight.count >= kMinKernel && weight.minimum == weight.maximum && weight.largest.size() > 1) {
            findings.push_back(findingAt(
                weight.node, base::Severity::Warning, Confidence::High,
                fmt::format(
                    "all {} weights of {} are {:.6g}: every filter does the same, and training cannot tell them "
                    "apart",
                    weight.count,
                    reader.outputs.empty() ? operatorText(reader) : placeText(model.graph, reader.outputs.front()),
                    weight.minimum),
                "check that the weights were initialised at random and the trained ones loaded"));
        } else if (isUntrainedUniform(weight)) {
            untrained.nodes.push_back(weight.node);
        }
    }
    if (untrained.nodes.empty()) return;
    untrained.message = fmt::format(
        "the weights of {} fill the range of PyTorch's initialisation, 1 / sqrt(fan in), evenly: they look as if they were "
        "never trained",
        base::countedText(static_cast<std::int64_t>(untrained.nodes.size()), "layer"));
    findings.push_back(std::move(untrained));
}

/// Running statistics as they are before the first batch: mean 0, variance 1.
void findFreshNorms(const CheckedModel& model, std::vector<Finding>& findings) {
    for (std::size_t i = 0; i + 1 < model.weights.size(); ++i) {
        const StoredWeight &mean = model.weights[i], &variance = model.weights[i + 1];
        const bool isPair = mean.position == WeightPosition::Statistic &&
                            variance.position == WeightPosition::Statistic && mean.reader == variance.reader;
        if (!isPair || mean.zero != mean.count || mean.count < 2) continue;
        if (variance.minimum != 1 || variance.maximum != 1) continue;
        findings.push_back(
            {{},
             base::Severity::Info,
             Confidence::Medium,
             {mean.node, variance.node},
             {},
             "the running mean is 0 and the running variance 1 in every channel, as before the first batch: the "
             "norm was never in training, and does not normalise",
             "check that the running statistics were saved and loaded with the weights"});
    }
}

void findInitialisation(const CheckedModel& model, std::vector<Finding>& findings) {
    findUniformKernels(model, findings);
    findFreshNorms(model, findings);
}

}  // namespace

FindingChecker suspiciousInitialisationChecker() {
    return {"suspicious-initialisation", FindingNeed::File,
            "Weights that are all equal or as PyTorch initialises them, and norms that never saw a batch",
            findInitialisation};
}

}  // namespace sonde::analysis
