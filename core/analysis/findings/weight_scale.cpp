#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"

namespace sonde::analysis {

namespace {

constexpr double kRatioOfFilters = 1e4, kRatioOfLayers = 1e3;

/// Infinity and NaN are bad-weight's findings: they have no scale.
bool hasScale(double number) { return number > 0 && std::isfinite(number); }

/// Of filters that are not zero.
void findFilterScales(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const StoredWeight& weight : model.weights) {
        if (!weight.isKernel || weight.largest.size() < 2) continue;
        float low = 0, high = 0;
        for (const float largest : weight.largest) {
            if (!hasScale(largest)) continue;
            if (low == 0 || largest < low) low = largest;
            high = std::max(high, largest);
        }
        if (low == 0 || high / low < kRatioOfFilters) continue;
        findings.push_back(findingAt(
            weight.node, base::Severity::Info, Confidence::High,
            fmt::format(
                "the largest weight of a filter is between {:.3g} and {:.3g}: with one scale for the whole tensor, "
                "quantisation sets the small filters to zero",
                low, high),
            "quantise this layer with a scale for each channel, or equalise it with the layers beside it"));
    }
}

std::vector<const StoredWeight*> scaledLayers(const CheckedModel& model) {
    std::vector<const StoredWeight*> layers;
    for (const StoredWeight& weight : model.weights)
        if (weight.isKernel && hasScale(weight.rms)) layers.push_back(&weight);
    return layers;
}

/// Of two layers none is in the middle: either may be the one that is wrong.
void findTwoScales(const CheckedModel& model, std::vector<Finding>& findings) {
    const std::vector<const StoredWeight*> layers = scaledLayers(model);
    const auto [low, high] = std::ranges::minmax(layers, {}, &StoredWeight::rms);
    if (high->rms / low->rms < kRatioOfLayers) return;
    Finding finding = findingAt(
        low->node, base::Severity::Warning, Confidence::Low,
        fmt::format("the weights of the two layers have a root mean square of {:.3g} and {:.3g}: scales that far apart "
                    "are rarely meant, and which of them is, two layers do not tell",
                    low->rms, high->rms),
        "compare with the checkpoint: a scale that was applied twice, or a normalisation that was not folded");
    finding.nodes.push_back(high->node);
    findings.push_back(std::move(finding));
}

void findLayerScales(const CheckedModel& model, std::vector<Finding>& findings) {
    std::vector<double> scales;
    for (const StoredWeight* const weight : scaledLayers(model)) scales.push_back(weight->rms);
    if (scales.size() == 2) return findTwoScales(model, findings);
    if (scales.size() < 3) return;
    const auto middle = scales.begin() + static_cast<std::ptrdiff_t>(scales.size() / 2);
    std::ranges::nth_element(scales, middle);
    const double median = *middle;
    for (const StoredWeight& weight : model.weights) {
        if (!weight.isKernel || !hasScale(weight.rms)) continue;
        const double ratio = std::max(weight.rms / median, median / weight.rms);
        if (ratio < kRatioOfLayers) continue;
        findings.push_back(findingAt(
            weight.node, base::Severity::Warning, Confidence::Medium,
            fmt::format(
                "the weights have a root mean square of {:.3g}, in the middle of the layers it is {:.3g}: a layer "
                "that much {} the others is rarely meant",
                weight.rms, median, weight.rms > median ? "above" : "below"),
            "compare with the checkpoint: a scale that was applied twice, or a normalisation that was not folded"));
    }
}

}  // namespace

FindingChecker weightScaleChecker() {
    return {"weight-scale", FindingNeed::File, "Layers, or filters of one layer, with weights of very different scale",
            [](const CheckedModel& model, std::vector<Finding>& findings) {
                findLayerScales(model, findings);
                findFilterScales(model, findings);
            }};
}

}  // namespace sonde::analysis
