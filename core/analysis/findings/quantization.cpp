#include "core/analysis/quantization.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/model_summary.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"
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

/// Works with bytes that stand for other numbers, and may give such bytes: QuantizeLinear, layers of quantised tensors.
bool isQuantizing(const CheckedModel& model, const Expr& expr) {
    const auto limits = limitsOf(model.graph, expr);
    return limits && limits->isQuantized && expr.outputs.size() == 1 && expr.inputs.size() >= 2;
}

/// The bytes that it gave in a run; null if it gave other numbers, or too few to tell.
const ObservedValue* observedBytes(const CheckedModel& model, const Expr& expr) {
    const ObservedValue* const value =
        model.run && isQuantizing(model, expr) ? model.run->values.of(expr.outputs.front()) : nullptr;
    const bool areBytes = value && (value->dtype == DType::Int8 || value->dtype == DType::UInt8);
    return areBytes && value->count >= kMinQuantized ? value : nullptr;
}

bool isDequantize(const Expr& expr) {
    return graph::traitsOf(expr).opClass == operators::OpClass::Dequantize && expr.inputs.size() >= 2;
}

/// Scales that are no positive numbers make everything 0, infinite or NaN. `isChecked`: by node, those that an
/// operation before has too are told once.
void checkScales(const CheckedModel& model, const Expr& expr, std::vector<bool>& isChecked,
                 std::vector<Finding>& findings) {
    const ops::OpDef* const definition = definitionOf(expr);
    if (!definition) return;
    std::int64_t bad = 0, count = 0;
    for (std::size_t i = 0; i < definition->inputs.size(); ++i) {
        // x_scale, y_scale, b_scale: what the schema has at that place, which may be a weight or indices.
        const Tensor* const scale =
            definition->inputs[i].name.ends_with("_scale") ? storedTensor(model, expr, i) : nullptr;
        if (!scale || !tensor::isFloating(scale->dtype())) continue;
        const std::size_t node = expr.arguments[i].node.index();
        if (isChecked[node]) continue;
        isChecked[node] = true;
        count += scale->numel();
        for (std::int64_t at = 0; at < scale->numel(); ++at) {
            const double x = scale->toDouble(at);
            bad += std::isfinite(x) && x > 0 ? 0 : 1;
        }
    }
    if (bad == 0) return;
    findings.push_back(
        findingAt(expr.outputs.front(), base::Severity::Error, Confidence::High,
                  fmt::format("{} of {} of {} are zero, negative or not finite: the values that they scale are "
                              "lost",
                              bad, base::countedText(count, "scale"), placeText(model.graph, expr.outputs.front())),
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

double lowestOf(DType dtype) { return dtype == DType::Int8 ? -128 : 0; }
double highestOf(DType dtype) { return dtype == DType::Int8 ? 127 : 255; }

void findRanges(const CheckedModel& model, std::vector<Finding>& findings) {
    std::vector<bool> isChecked(model.graph.nodeCount(), false);
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const Expr& expr = model.graph.expr(id);
        const bool isQuantizer = isQuantizing(model, expr);
        if (!isQuantizer && !isDequantize(expr)) continue;
        checkScales(model, expr, isChecked, findings);
        if (!isQuantizer) checkStoredLevels(model, expr, findings);
        const ObservedValue* const value = observedBytes(model, expr);
        if (!value || value->maximum - value->minimum + 1 > kFewLevels) continue;
        // At the end of the levels the scale is too small instead: see findClipping().
        if (value->maximum == highestOf(value->dtype) || (value->dtype == DType::Int8 && value->minimum == -128))
            continue;
        findings.push_back(findingAt(
            expr.outputs.front(), base::Severity::Warning, model.run->inputs > 1 ? Confidence::Medium : Confidence::Low,
            fmt::format(
                "the values of {} use the levels {:.0f} to {:.0f} of 256 on the input: the scale is too large for "
                "them, and most of the precision is lost",
                placeText(model.graph, expr.outputs.front()), value->minimum, value->maximum),
            "calibrate again on typical inputs"));
    }
}

/// Whether 0 is the lowest level, so that a lower end is what a rectifier gives, in the operation or before it.
bool isRectified(const CheckedModel& model, graph::NodeId node, DType dtype) {
    const auto by = quantizationOf(model.graph, node, [&](graph::NodeId at) -> const tensor::Value* {
        const auto& constant = model.graph.node(at).constant;
        return constant ? &*constant : nullptr;
    });
    if (!by || !by->zeroPoint.defined()) return dtype == DType::UInt8;
    for (std::int64_t i = 0; i < by->zeroPoint.numel(); ++i)
        if (by->zeroPoint.toDouble(i) != lowestOf(dtype)) return false;
    return true;
}

/// Where the elements of a stored weight are in its range. The largest one sets the scale: of each scale one at either
/// end is as it should be.
struct StoredEnds {
    std::int64_t clipped = 0;
    bool isGraded = false;  ///< any is neither at an end nor 0; weights of two or three values have nothing to cut off
};

StoredEnds endsOf(const Tensor& weight, const Quantization& by, const ScalePlaces& places) {
    const double lowest = weight.dtype() == DType::Int8 ? -127 : 0;  // symmetric ranges end there
    const double highest = highestOf(weight.dtype());
    const bool hasZeros = by.zeroPoint.defined() && by.zeroPoint.numel() == by.scale.numel();
    StoredEnds ends;
    std::vector<bool> hasLow(static_cast<std::size_t>(by.scale.numel())), hasHigh = hasLow;
    for (std::int64_t i = 0; i < weight.numel(); ++i) {
        const double x = weight.toDouble(i);
        const std::int64_t place = places.of(i);
        if (x > lowest && x < highest) {
            ends.isGraded = ends.isGraded || x != (hasZeros ? by.zeroPoint.toDouble(place) : 0);
            continue;
        }
        std::vector<bool>& isSeen = x <= lowest ? hasLow : hasHigh;
        ends.clipped += isSeen[static_cast<std::size_t>(place)] ? 1 : 0;
        isSeen[static_cast<std::size_t>(place)] = true;
    }
    return ends;
}

void findClippedWeights(const CheckedModel& model, std::vector<Finding>& findings) {
    const auto constantOf = [&](NodeId at) -> const tensor::Value* {
        const auto& constant = model.graph.node(at).constant;
        return constant ? &*constant : nullptr;
    };
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const Expr& expr = model.graph.expr(id);
        if (!isStored(expr)) continue;
        for (const NodeId node : expr.outputs) {
            const tensor::Value* const value = constantOf(node);
            if (!value || !value->isTensor() || model.work.cancelled()) continue;
            const Tensor& weight = value->tensor();
            const bool isByte = weight.dtype() == DType::Int8 || weight.dtype() == DType::UInt8;
            if (!isByte || weight.numel() < kMinQuantized) continue;
            const auto by = quantizationOf(model.graph, node, constantOf);
            if (!by) continue;
            const auto places = scalePlaces(weight, *by);
            if (!places) continue;
            const StoredEnds ends = endsOf(weight, *by, *places);
            if (!ends.isGraded || ends.clipped * 100 < weight.numel() * kClippedPercent) continue;
            findings.push_back(
                findingAt(node, base::Severity::Warning, Confidence::Medium,
                          fmt::format("{} of the elements of {} are at the ends of the quantised range, beyond the one "
                                      "that sets each scale: larger weights were cut off",
                                      percentText(ends.clipped, weight.numel()), placeText(model.graph, node)),
                          "quantise the weights again with the range that they have, by channel if one needs a larger "
                          "one"));
        }
    }
}

void findClipping(const CheckedModel& model, std::vector<Finding>& findings) {
    findClippedWeights(model, findings);
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const Expr& expr = model.graph.expr(id);
        const ObservedValue* const value = observedBytes(model, expr);
        if (!value) continue;
        const graph::NodeId node = expr.outputs.front();
        const std::int64_t clipped = value->high + (isRectified(model, node, value->dtype) ? 0 : value->low);
        if (clipped * 100 < value->count * kClippedPercent) continue;
        findings.push_back(findingAt(
            node, base::Severity::Warning, model.run->inputs > 1 ? Confidence::Medium : Confidence::Low,
            fmt::format("{} of the values of {} are at the ends of the quantised range: larger ones are cut off",
                        percentText(clipped, value->count), placeText(model.graph, node)),
            "calibrate again on typical inputs, or check the normalisation of the input"));
    }
}

}  // namespace

FindingChecker quantizationRangeChecker() {
    return {"quantization-range", FindingNeed::File,
            "Scales that are no positive numbers, or so large that few levels are used", findRanges};
}

FindingChecker quantizationClippingChecker() {
    return {"quantization-clipping", FindingNeed::File,
            "Stored weights, and on a run values, at the ends of a quantised range", findClipping};
}

}  // namespace sonde::analysis
