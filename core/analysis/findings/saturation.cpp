#include <cmath>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"

namespace sonde::analysis {

namespace {

constexpr std::int64_t kMinSaturationElements = 32;
constexpr std::int64_t kSaturatedPercent = 90;

bool isModelOutput(const graph::InternalGraph& graph, graph::NodeId node) {
    for (const graph::NodeId output : graph.outputs())
        if (output == node) return true;
    return false;
}

void findSaturation(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const graph::Expr& expr = model.graph.expr(id);
        const auto limits = limitsOf(model.graph, expr);
        if (!limits || limits->isQuantized) continue;
        for (const graph::NodeId node : expr.outputs) {
            const ObservedValue* const value = model.run->values.of(node);
            if (!value || value->count < kMinSaturationElements) continue;
            const std::int64_t saturated = value->low + value->high;
            if (saturated * 100 < value->count * kSaturatedPercent) continue;
            // A clear decision is what a model's output is for: there it is no fault, but worth knowing.
            const bool isResult = isModelOutput(model.graph, node);
            if (isResult) {
                findings.push_back(findingAt(
                    node, base::Severity::Info, Confidence::Low,
                    fmt::format("{} of the elements of this model output are at the bounds of {}: clear decisions, or "
                                "an input of a scale that the model was not trained on",
                                percentText(saturated, value->count), placeText(model.graph, node)),
                    "compare the values before it on inputs whose results are known"));
                continue;
            }
            findings.push_back(findingAt(
                node, base::Severity::Warning, model.run->inputs > 1 ? Confidence::Medium : Confidence::Low,
                fmt::format(
                    "{} of the elements are at the bounds of {}: differences between its inputs are lost, and it "
                    "passes no gradient",
                    percentText(saturated, value->count), placeText(model.graph, node)),
                "check the scale of its input (normalisation, weights, the range that the model was trained on)"));
        }
    }
}

FewSamples fewForSaturation(const CheckedModel& model) {
    FewSamples few{{}, fmt::format("fewer than {} elements", kMinSaturationElements)};
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const graph::Expr& expr = model.graph.expr(id);
        const auto limits = limitsOf(model.graph, expr);
        const bool isBounded = limits && (std::isfinite(limits->low) || std::isfinite(limits->high));
        if (!isBounded || limits->isQuantized) continue;
        for (const graph::NodeId node : expr.outputs)
            if (const ObservedValue* const value = model.run->values.of(node);
                value && value->count < kMinSaturationElements)
                few.nodes.push_back(node);
    }
    return few;
}

}  // namespace

FindingChecker saturationChecker() {
    return {"saturation", FindingNeed::Run, "Nearly all elements of a bounded activation are at its bounds",
            findSaturation, fewForSaturation};
}

}  // namespace sonde::analysis
