#include "core/analysis/problems/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/graph/known_argument.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using operators::OpClass;
using tensor::DType;

namespace {

/// What usually is behind it where all inputs are finite, and what to try; empty: nothing that is known of the
/// operator.
struct Advice {
    OpClass opClass;
    std::string_view ofNan, ofInf;
};
constexpr std::string_view kAcceptMask = "if the mask is infinite on purpose, accept it";
constexpr std::string_view kPower =
    "a negative base with a fractional exponent is NaN, and large powers overflow; clamp the base or check its sign";
constexpr std::array kAdvice{
    Advice{
        OpClass::Log,
        "its input has negative elements; clamp it (max(x, 1e-12)), or find what should have made it positive upstream",
        "its input has elements that are zero; clamp it (max(x, 1e-12)), or use log_softmax in place of log(softmax)"},
    Advice{OpClass::Sqrt,
           "its input has negative elements; clamp it (max(x, 0)): a variance made by subtraction can fall below 0",
           {}},
    Advice{OpClass::ReciprocalSqrt, "its input has elements that are zero or negative; add an epsilon, as norms do",
           "its input has elements that are zero; add an epsilon, as norms do"},
    Advice{OpClass::Reciprocal, {}, "its input has elements that are zero or very small; add an epsilon"},
    Advice{OpClass::Pow, kPower, kPower},
    Advice{OpClass::Where, kAcceptMask, kAcceptMask},
    Advice{OpClass::MaskedFill, kAcceptMask, kAcceptMask},
};

struct Range {
    DType dtype;
    std::string_view largest;   ///< as people know it
    std::string_view exponent;  ///< above which exp() overflows
};
constexpr std::array kRanges{Range{DType::Float16, "65504", "11"}, Range{DType::Float64, "1.8e308", "709"},
                             Range{DType::BFloat16, "3.4e38", "88.7"}, Range{DType::Float32, "3.4e38", "88.7"}};

DType dtypeOf(const InternalGraph& graph, const Suspect& suspect) {
    const DType declared = graph.node(suspect.node).type.dtype;
    return suspect.bad.dtype != DType::Undefined ? suspect.bad.dtype : declared;
}

/// "the range of float16 (65504)"
std::string rangeText(DType dtype) {
    if (dtype == DType::Undefined) return "the range of its dtype";
    const auto found = std::ranges::find(kRanges, dtype, &Range::dtype);
    const std::string text = "the range of " + std::string(tensor::name(dtype));
    return found == kRanges.end() ? text : text + " (" + std::string(found->largest) + ")";
}

double lowest(const tensor::Tensor& tensor) {
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) least = std::min(least, tensor.toDouble(i));
    return least;
}

std::optional<double> epsilonOf(const InternalGraph& graph, const Expr& expr, std::size_t index) {
    const tensor::Value* const given = graph::knownArgument(graph, expr, index, "eps");
    if (given && given->isNumber()) return given->number();
    return expr.attributes.getFloat("epsilon", 1e-5);
}

/// What made something bad of finite inputs.
struct Maker {
    const InternalGraph& graph;
    const Expr& expr;
    DType dtype;
    bool isNan;
    std::string overflow;  ///< "its inputs are finite, but its result exceeds the range of float16 (65504)"
};

/// x · scale / √(variance + ε) + bias: what of it is wrong, as far as the weights tell.
std::string adviceForBatchNorm(const Maker& maker) {
    const tensor::Value* const known = graph::knownArgument(maker.graph, maker.expr, 4, "running_var");
    const std::string isStored = "; was the norm ever trained, and were its running statistics saved?";
    if (!known || !known->isTensor() || known->tensor().numel() == 0)
        return "check its running variance, which must be positive, and its scale";
    const double least = lowest(known->tensor()), epsilon = epsilonOf(maker.graph, maker.expr, 7).value_or(0);
    if (least + epsilon < 0) return "its running variance has negative elements" + isStored;
    if (least + epsilon == 0) return "its running variance has elements that are zero, and its epsilon is 0" + isStored;
    return maker.overflow + ": check its scale, its running variance and the magnitude of its input";
}

std::string adviceForLayerNorm(const Maker& maker) {
    if (epsilonOf(maker.graph, maker.expr, 4).value_or(1) == 0)
        return "its epsilon is 0, so that equal elements, whose variance is 0, are divided by 0; set it to 1e-5";
    return maker.overflow + ": check its scale and the magnitude of its input, whose square must fit too";
}

std::string adviceForDivision(const Maker& maker) {
    const tensor::Value* const divisor = graph::knownArgument(maker.graph, maker.expr, 1, "other");
    const std::string what = maker.isNan ? "0 / 0 is NaN" : "x / 0 is infinite";
    if (divisor && divisor->isTensor())
        for (std::int64_t i = 0; i < divisor->tensor().numel(); ++i)
            if (divisor->tensor().toDouble(i) == 0)
                return "its divisor is a constant with elements that are zero (" + what +
                       "); check where that weight comes from";
    return "its divisor has elements that are zero or very small (" + what +
           "); add an epsilon, or find why the divisor vanishes: a sum or norm of zeros, an empty mask";
}

std::string adviceForExp(const Maker& maker) {
    const DType known = maker.dtype == DType::Undefined ? DType::Float32 : maker.dtype;
    const auto found = std::ranges::find(kRanges, known, &Range::dtype);
    return "its input has elements above " + std::string(found == kRanges.end() ? "88.7" : found->exponent) +
           ", where " + std::string(tensor::name(known)) + " overflows; subtract the maximum first, as softmax does";
}

std::string adviceForCast(const Maker& maker) {
    return "its input has elements outside of " + rangeText(maker.dtype) +
           "; keep this part in a wider dtype, or scale the values down first";
}

struct Rule {
    OpClass opClass;
    std::string (*advice)(const Maker& maker);
};
constexpr std::array kRules{
    Rule{OpClass::BatchNorm, adviceForBatchNorm}, Rule{OpClass::BatchNormWithStatistics, adviceForBatchNorm},
    Rule{OpClass::LayerNorm, adviceForLayerNorm}, Rule{OpClass::Exp, adviceForExp},
    Rule{OpClass::Div, adviceForDivision},        Rule{OpClass::Cast, adviceForCast}};

}  // namespace

/// Something bad that is no mere overflow comes from what an operation is given; only where all of that is finite is
/// the operator the one to check.
std::string adviceFor(const InternalGraph& graph, const Suspect& suspect, bool hasBadWeight) {
    const Expr& expr = graph.expr(graph.node(suspect.node).producer);
    if (expr.kind == ExprKind::Input) return "the given input contains it: check the file and its normalisation";
    const OpClass opClass = graph::traitsOf(expr).opClass;
    const bool isNan = suspect.bad.nan > 0;
    const bool isMask = !isNan && (opClass == OpClass::Where || opClass == OpClass::MaskedFill);
    if (hasBadWeight && !isMask)
        return "check where its weight comes from: a checkpoint of a training that diverged, a conversion that "
               "overflowed, or memory that was never initialised";
    if (!suspect.bad.isOrigin)
        return "its inputs contain infinity: \u221e \u2212 \u221e, 0 \u00b7 \u221e, \u221e / \u221e and a softmax of \u2212\u221e alone are NaN; the infinity is the "
               "one to avoid or to replace, as by the lowest number of the dtype in masks";
    const DType dtype = dtypeOf(graph, suspect);
    const std::string overflow = "its inputs are finite, but its result exceeds " + rangeText(dtype);
    if (const auto rule = std::ranges::find(kRules, opClass, &Rule::opClass); rule != kRules.end())
        return rule->advice({graph, expr, dtype, isNan, overflow});
    const auto found = std::ranges::find(kAdvice, opClass, &Advice::opClass);
    const std::string_view text = found == kAdvice.end() ? "" : isNan ? found->ofNan : found->ofInf;
    if (!text.empty()) return std::string(text);
    if (isNan)
        return "its inputs are finite: check for 0 / 0, and for intermediate results that exceed " + rangeText(dtype);
    if (dtype == DType::Float16)
        return overflow + ": scale its inputs or weights down, or compute it in float32 or bfloat16";
    return overflow + ": check the magnitude of its inputs and weights";
}

}  // namespace sonde::analysis
