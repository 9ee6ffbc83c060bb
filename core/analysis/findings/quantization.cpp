#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;

namespace {

constexpr std::int64_t kMinQuantized = 64, kClippedPercent = 5;
/// Of the 256 levels of 8 bits.
constexpr double kFewLevels = 16;

const Tensor* storedTensor(const CheckedModel& model, const Expr& expr, std::size_t index) {
    if (index >= expr.arguments.size() || expr.arguments[index].kind != graph::Argument::Kind::Node) return nullptr;
    const auto& constant = model.graph.node(expr.arguments[index].node).constant;
    return constant && constant->isTensor() ? &constant->tensor() : nullptr;
}

bool isQuantizeLinear(const CheckedModel& model, const Expr& expr) {
    const auto limits = limitsOf(model.graph, expr);
    return limits && limits->isQuantized && expr.outputs.size() == 1 && expr.inputs.size() >= 2;
}

bool isDequantize(const Expr& expr) {
    return graph::traitsOf(expr).opClass == operators::OpClass::Dequantize && expr.inputs.size() >= 2;
}

/// A scale that is no positive number makes everything 0, infinite or NaN.
void checkScale(const CheckedModel& model, const Expr& expr, std::vector<Finding>& findings) {
    const Tensor* const scale = storedTensor(model, expr, 1);
    if (!scale || scale->dtype() == DType::String) return;
    std::int64_t bad = 0;
    for (std::int64_t i = 0; i < scale->numel(); ++i) {
        const double x = scale->toDouble(i);
        bad += std::isfinite(x) && x > 0 ? 0 : 1;
    }
    if (bad == 0) return;
    findings.push_back(
        findingAt(expr.outputs.front(), base::Severity::Error, Confidence::High,
                  fmt::format("{} of {} of {} are zero, negative or not finite: the values that they scale are "
                              "lost",
                              bad, countedText(scale->numel(), "scale"), placeText(model.graph, expr.outputs.front())),
                  "calibrate again on data that is not constant; an unused channel needs a scale too, 1 for "
                  "instance"));
}

/// How many of the levels of a stored quantised weight are used.
void checkStoredLevels(const CheckedModel& model, const Expr& expr, std::vector<Finding>& findings) {
    const Tensor* const weight = storedTensor(model, expr, 0);
    const bool isByte = weight && (weight->dtype() == DType::Int8 || weight->dtype() == DType::UInt8);
    if (!isByte || weight->numel() < kMinQuantized) return;
    double low = 255, high = -128;
    for (std::int64_t i = 0; i < weight->numel(); ++i) {
        low = std::min(low, weight->toDouble(i));
        high = std::max(high, weight->toDouble(i));
    }
    if (high - low + 1 > kFewLevels) return;
    findings.push_back(
        findingAt(expr.outputs.front(), base::Severity::Warning, Confidence::High,
                  fmt::format("the quantised weights of {} use the levels {:.0f} to {:.0f} of 256: their "
                              "scale is too large, and most of the precision is lost",
                              placeText(model.graph, expr.outputs.front()), low, high),
                  "quantise the weights again with the range that they have"));
}

void findRanges(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const Expr& expr = model.graph.expr(id);
        const bool isQuantizer = isQuantizeLinear(model, expr);
        if (!isQuantizer && !isDequantize(expr)) continue;
        checkScale(model, expr, findings);
        if (!isQuantizer) checkStoredLevels(model, expr, findings);
        const ObservedValue* const value =
            isQuantizer && model.run ? model.run->values.of(expr.outputs.front()) : nullptr;
        if (!value || value->count < kMinQuantized || value->maximum - value->minimum + 1 > kFewLevels) continue;
        // At the end of the levels the scale is too small instead: see findClipping().
        const bool isSigned = model.graph.node(expr.outputs.front()).type.dtype == tensor::DType::Int8;
        if (value->maximum == (isSigned ? 127 : 255) || (isSigned && value->minimum == -128)) continue;
        findings.push_back(findingAt(
            expr.outputs.front(), base::Severity::Warning, model.run->inputs > 1 ? Confidence::Medium : Confidence::Low,
            fmt::format(
                "the values of {} use the levels {:.0f} to {:.0f} of 256 on the input: the scale is too large for "
                "them, and most of the precision is lost",
                placeText(model.graph, expr.outputs.front()), value->minimum, value->maximum),
            "calibrate again on typical inputs"));
    }
}

void findClipping(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const Expr& expr = model.graph.expr(id);
        if (!isQuantizeLinear(model, expr)) continue;
        const ObservedValue* const value = model.run->values.of(expr.outputs.front());
        if (!value || value->count < kMinQuantized) continue;
        // A lower end at the zero point is what a rectifier before it gives.
        const Tensor* const zero = storedTensor(model, expr, 2);
        const double lowest = value->dtype == DType::Int8 ? -128 : 0;
        const bool isRectified =
            !zero ? value->dtype == DType::UInt8 : zero->numel() == 1 && zero->toDouble(0) == lowest;
        const std::int64_t clipped = value->high + (isRectified ? 0 : value->low);
        if (clipped * 100 < value->count * kClippedPercent) continue;
        findings.push_back(findingAt(
            expr.outputs.front(), base::Severity::Warning, model.run->inputs > 1 ? Confidence::Medium : Confidence::Low,
            fmt::format("{} of the values of {} are at the ends of the quantised range: larger ones are cut off",
                        percentText(clipped, value->count), placeText(model.graph, expr.outputs.front())),
            "calibrate again on typical inputs, or check the normalisation of the input"));
    }
}

}  // namespace

FindingChecker quantizationRangeChecker() {
    return {"quantization-range", FindingNeed::File,
            "Scales that are no positive numbers, or so large that few levels are used", findRanges};
}

FindingChecker quantizationClippingChecker() {
    return {"quantization-clipping", FindingNeed::Run, "Values at the ends of a quantised range", findClipping};
}

}  // namespace sonde::analysis
