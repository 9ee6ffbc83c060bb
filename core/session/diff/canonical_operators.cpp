#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <string_view>

#include "core/session/diff/form_call.h"

namespace sonde::session::diff {

namespace {

using Form = std::optional<TermId>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Functions of elements.

Form sameForm(FormCall& call) { return call.in(0); }
Form sumForm(FormCall& call) { return call.terms.sum(call.operand(0, 1), call.operand(1, 0)); }
Form differenceForm(FormCall& call) {
    return call.terms.sum(call.operand(0, 1), call.terms.scaled(call.operand(1, 0), -1));
}
Form productForm(FormCall& call) { return call.terms.product(call.operand(0, 1), call.operand(1, 0)); }
Form quotientForm(FormCall& call) {
    return call.terms.product(call.operand(0, 1), call.terms.reciprocal(call.operand(1, 0)));
}
Form negativeForm(FormCall& call) { return call.terms.scaled(call.in(0), -1); }
Form reciprocalForm(FormCall& call) { return call.terms.reciprocal(call.in(0)); }
Form rootForm(FormCall& call) { return call.terms.root(call.in(0)); }
Form powerForm(FormCall& call) {
    const auto exponent = call.terms.numberOf(call.operand(1, 0));
    return exponent ? Form(call.terms.power(call.in(0), *exponent)) : std::nullopt;
}

Form reluForm(FormCall& call) { return call.terms.clip(call.in(0), 0, kInfinity); }

/// A limit that is an attribute, or an input of opset 11 and later.
std::optional<double> limitOf(const FormCall& call, std::size_t position, const char* attribute, double none) {
    if (call.has(position)) return call.filled(position);
    return call.attributes().getFloat(attribute, none);
}
Form clipForm(FormCall& call) {
    const auto low = limitOf(call, 1, "min", -kInfinity), high = limitOf(call, 2, "max", kInfinity);
    // The largest numbers are what old files write for no limit.
    constexpr double kNoLimit = std::numeric_limits<float>::max();
    if (!low || !high) return std::nullopt;
    return call.terms.clip(call.in(0), *low <= -kNoLimit ? -kInfinity : *low, *high >= kNoLimit ? kInfinity : *high);
}
Form limitedForm(FormCall& call, bool isLow) {
    if (call.expr().arguments.size() != 2) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i)
        if (const auto number = call.terms.numberOf(call.operand(i, 1 - i)))
            return call.terms.clip(call.in(1 - i), isLow ? *number : -kInfinity, isLow ? kInfinity : *number);
    return std::nullopt;
}
Form maximumForm(FormCall& call) { return limitedForm(call, true); }
Form minimumForm(FormCall& call) { return limitedForm(call, false); }

TermId hardSigmoid(CanonicalTerms& terms, TermId x, double alpha, double beta) {
    return terms.clip(terms.sum(terms.scaled(x, alpha), terms.number(beta)), 0, 1);
}
Form hardSigmoidForm(FormCall& call) {
    return hardSigmoid(call.terms, call.in(0), call.attributes().getFloat("alpha", 0.2),
                       call.attributes().getFloat("beta", 0.5));
}
Form hardSwishForm(FormCall& call) {
    return call.terms.product(call.in(0), hardSigmoid(call.terms, call.in(0), 1.0 / 6, 0.5));
}
Form mishForm(FormCall& call) {
    return call.terms.product(call.in(0), call.terms.apply("Tanh", {call.terms.apply("Softplus", {call.in(0)})}));
}
Form sigmoidForm(FormCall& call) { return call.terms.apply("Sigmoid", {call.in(0)}); }
Form tanhForm(FormCall& call) { return call.terms.apply("Tanh", {call.in(0)}); }
Form softplusForm(FormCall& call) { return call.terms.apply("Softplus", {call.in(0)}); }
Form erfForm(FormCall& call) { return call.terms.apply("Erf", {call.in(0)}); }

TermId exactGelu(CanonicalTerms& terms, TermId x) {
    const TermId erf = terms.apply("Erf", {terms.scaled(x, std::sqrt(0.5))});
    return terms.scaled(terms.product(x, terms.sum(erf, terms.number(1))), 0.5);
}
/// x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
TermId tanhGelu(CanonicalTerms& terms, TermId x) {
    const double root = std::sqrt(2 / std::acos(-1.0));
    const TermId inside = terms.scaled(terms.sum(x, terms.scaled(terms.power(x, 3), 0.044715)), root);
    return terms.scaled(terms.product(x, terms.sum(terms.apply("Tanh", {inside}), terms.number(1))), 0.5);
}
Form geluForm(FormCall& call) {
    const bool isTanh = call.attributes().getString("approximate", "none") == "tanh";
    return isTanh ? tanhGelu(call.terms, call.in(0)) : exactGelu(call.terms, call.in(0));
}
TermId withBias(FormCall& call) { return call.has(1) ? call.terms.sum(call.in(0), call.in(1)) : call.in(0); }
Form biasGeluForm(FormCall& call) { return exactGelu(call.terms, withBias(call)); }
Form fastGeluForm(FormCall& call) { return tanhGelu(call.terms, withBias(call)); }
Form quickGeluForm(FormCall& call) {
    const TermId inside = call.terms.scaled(call.in(0), call.attributes().getFloat("alpha", 1.702));
    return call.terms.product(call.in(0), call.terms.apply("Sigmoid", {inside}));
}

TermId leaky(CanonicalTerms& terms, TermId x, double slope) {
    return terms.apply("LeakyRelu", {x, terms.number(slope)});
}
Form leakyForm(FormCall& call) { return leaky(call.terms, call.in(0), call.attributes().getFloat("alpha", 0.01)); }
Form preluForm(FormCall& call) {
    const auto slope = call.terms.numberOf(call.operand(1, 0));
    return slope ? Form(leaky(call.terms, call.in(0), *slope)) : std::nullopt;
}

// Reductions and normalisations.

std::string labelOfAxes(std::string label, const std::vector<std::size_t>& axes) {
    for (const std::size_t axis : axes) label += fmt::format(" {}", axis);
    return label;
}
TermId meanOver(CanonicalTerms& terms, TermId x, const std::vector<std::size_t>& axes) {
    return terms.mean(labelOfAxes("Mean", axes), x);
}

/// The result with dimensions of 1 for the axes, in the shape that the operation gives.
Form reducedForm(FormCall& call, const std::vector<std::size_t>& axes, TermId kept) {
    if (call.attributes().getInt("keepdims", 1) != 0) return kept;
    auto sizes = FormCall::sizes(call.type(0)), result = FormCall::sizes(call.resultType());
    if (!sizes || !result) return std::nullopt;
    for (const std::size_t axis : axes) (*sizes)[axis] = "1";
    return call.terms.reshaped(kept, *sizes, *result);
}
std::optional<std::vector<std::size_t>> reducedAxes(const FormCall& call) {
    const bool isNone = call.attributes().getInt("noop_with_empty_axes", 0) != 0;
    return isNone ? std::nullopt : call.axes(1);
}
Form meanForm(FormCall& call) {
    const auto axes = reducedAxes(call);
    return axes ? reducedForm(call, *axes, meanOver(call.terms, call.in(0), *axes)) : std::nullopt;
}
TermId total(CanonicalTerms& terms, TermId x, const std::vector<std::size_t>& axes) {
    return terms.linear(labelOfAxes("ReduceSum", axes), {x});
}
Form totalForm(FormCall& call) {
    const auto axes = reducedAxes(call);
    return axes ? reducedForm(call, *axes, total(call.terms, call.in(0), *axes)) : std::nullopt;
}
Form sumOfSquaresForm(FormCall& call) {
    const auto axes = reducedAxes(call);
    if (!axes) return std::nullopt;
    return reducedForm(call, *axes, total(call.terms, call.terms.power(call.in(0), 2), *axes));
}
Form lengthForm(FormCall& call) {
    const auto axes = reducedAxes(call);
    if (!axes) return std::nullopt;
    return reducedForm(call, *axes, call.terms.root(total(call.terms, call.terms.power(call.in(0), 2), *axes)));
}
Form greatestForm(FormCall& call) {
    const auto axes = reducedAxes(call);
    return axes ? reducedForm(call, *axes, call.terms.apply(labelOfAxes("ReduceMax", *axes), {call.in(0)}))
                : std::nullopt;
}
Form leastForm(FormCall& call) {
    const auto axes = reducedAxes(call);
    return axes ? reducedForm(call, *axes, call.terms.apply(labelOfAxes("ReduceMin", *axes), {call.in(0)}))
                : std::nullopt;
}
std::optional<std::vector<std::size_t>> spatialAxes(const FormCall& call) {
    const auto rank = call.rank(0);
    if (!rank || *rank < 3) return std::nullopt;
    std::vector<std::size_t> axes;
    for (std::size_t i = 2; i < *rank; ++i) axes.push_back(i);
    return axes;
}
Form globalMeanForm(FormCall& call) {
    const auto axes = spatialAxes(call);
    return axes ? Form(meanOver(call.terms, call.in(0), *axes)) : std::nullopt;
}
Form globalMaximumForm(FormCall& call) {
    const auto axes = spatialAxes(call);
    return axes ? Form(call.terms.apply(labelOfAxes("ReduceMax", *axes), {call.in(0)})) : std::nullopt;
}

/// Before opset 13 over all dimensions from the axis on, else over that one.
Form softmaxAs(FormCall& call, const std::string& function) {
    const auto axis = call.axis("axis", call.version() < 13 ? 1 : -1);
    if (!axis) return std::nullopt;
    std::vector<std::size_t> axes{*axis};
    for (std::size_t i = *axis + 1; call.version() < 13 && i < *call.rank(0); ++i)
        if (call.dim(0, i) != std::optional<std::int64_t>(1)) axes.push_back(i);
    if (axes.size() > 1 && call.dim(0, *axis) == std::optional<std::int64_t>(1)) axes.erase(axes.begin());
    return call.terms.alongAxes(function, call.in(0), std::move(axes));
}
Form softmaxForm(FormCall& call) { return softmaxAs(call, "Softmax"); }
Form logSoftmaxForm(FormCall& call) { return softmaxAs(call, "LogSoftmax"); }

/// (x − mean) / √(mean of the squares of that + ε)
TermId normalised(CanonicalTerms& terms, TermId x, const std::vector<std::size_t>& axes, double epsilon) {
    const TermId centred = terms.sum(x, terms.scaled(meanOver(terms, x, axes), -1));
    const TermId variance = meanOver(terms, terms.power(centred, 2), axes);
    return terms.product(centred, terms.reciprocal(terms.root(terms.sum(variance, terms.number(epsilon)))));
}
Form layerNormForm(FormCall& call) {
    const auto axis = call.axis("axis", -1);
    if (!axis || call.output() != 0 || !call.has(1)) return std::nullopt;
    std::vector<std::size_t> axes;
    for (std::size_t i = *axis; i < *call.rank(0); ++i) axes.push_back(i);
    TermId result = normalised(call.terms, call.in(0), axes, call.attributes().getFloat("epsilon", 1e-5));
    result = call.terms.product(result, call.operand(1, 0));
    return call.has(2) ? call.terms.sum(result, call.operand(2, 0)) : result;
}

/// Of the windows that there are, wherever padding ends: it is never the maximum.
Form maxPoolForm(FormCall& call) {
    const auto& attributes = call.attributes();
    const auto result = call.resultType().staticShape();
    const auto kernel = attributes.getInts("kernel_shape");
    const bool isPadded = attributes.getString("auto_pad", "NOTSET") != "NOTSET";
    if (isPadded || !result || result->rank() != kernel.size() + 2 || call.expr().outputs.size() > 1)
        return std::nullopt;
    std::string label = "MaxPool";
    const auto add = [&](const char* name, std::int64_t fallback) {
        const auto given = attributes.getInts(name);
        for (std::size_t i = 0; i < kernel.size(); ++i)
            label += fmt::format(" {}", i < given.size() ? given[i] : fallback);
    };
    add("kernel_shape", 1);
    add("strides", 1);
    add("dilations", 1);
    add("pads", 0);
    for (std::size_t i = 2; i < result->rank(); ++i) label += fmt::format(" {}", (*result)[i]);
    return call.terms.apply(label, {call.in(0)});
}
/// Its count is an attribute, or an input since opset 10.
Form largestForm(FormCall& call) {
    const auto& attributes = call.attributes();
    const auto axis = call.axis("axis", -1);
    std::optional<std::int64_t> count = attributes.getInt("k", -1);
    if (call.has(1)) {
        const auto given = call.integers(1);
        count = given && given->size() == 1 ? std::optional(given->front()) : std::nullopt;
    }
    if (!axis || !count || *count < 0) return std::nullopt;
    return call.terms.apply(fmt::format("TopK {} {} {} {} {}", *count, *axis, attributes.getInt("largest", 1),
                                        attributes.getInt("sorted", 1), call.output()),
                            {call.in(0)});
}

/// A value of one number for each channel, beside an image of that rank.
TermId byChannel(FormCall& call, std::size_t position, std::size_t rank) {
    if (const auto number = call.filled(position)) return call.terms.number(*number);
    CanonicalTerms::Sizes sizes(rank - 1, "1");
    const auto own = FormCall::sizes(call.type(position));
    if (!own || own->size() != 1) return call.in(position);
    sizes.front() = own->front();
    return call.terms.reshaped(call.in(position), *own, sizes);
}
Form instanceNormForm(FormCall& call) {
    const auto axes = spatialAxes(call);
    if (!axes) return std::nullopt;
    const TermId result = normalised(call.terms, call.in(0), *axes, call.attributes().getFloat("epsilon", 1e-5));
    return call.terms.sum(call.terms.product(result, byChannel(call, 1, axes->size() + 2)),
                          byChannel(call, 2, axes->size() + 2));
}
/// Of opset 21: a scale and a shift for each channel.
Form groupNormForm(FormCall& call) {
    const auto shape = call.type(0).staticShape();
    const std::int64_t groups = call.attributes().getInt("num_groups", 0);
    if (!shape || shape->rank() < 3 || groups <= 0 || call.version() < 21 || (*shape)[1] % groups != 0)
        return std::nullopt;
    const std::int64_t rest = shape->numel() / std::max<std::int64_t>((*shape)[0] * groups, 1);
    const CanonicalTerms::Sizes whole = *FormCall::sizes(call.type(0)),
                                apart{whole[0], std::to_string(groups), std::to_string(rest)};
    const TermId inside = normalised(call.terms, call.terms.reshaped(call.in(0), whole, apart), {2},
                                     call.attributes().getFloat("epsilon", 1e-5));
    return call.terms.sum(
        call.terms.product(call.terms.reshaped(inside, apart, whole), byChannel(call, 1, shape->rank())),
        byChannel(call, 2, shape->rank()));
}
/// Momentum says nothing of a run, and results that nobody reads neither.
Form batchNormForm(FormCall& call) {
    const bool isTrained = call.attributes().getInt("training_mode", 0) != 0 || call.expr().outputs.size() > 1;
    if (isTrained || call.attributes().getInt("spatial", 1) == 0 || call.version() < 7) return std::nullopt;
    const double epsilon = call.attributes().getFloat("epsilon", 1e-5);
    return call.terms.apply("BatchNorm",
                            {call.in(0), call.in(1), call.in(2), call.in(3), call.in(4), call.terms.number(epsilon)});
}

// Products.

Form matMulForm(FormCall& call) { return call.terms.linear("MatMul", {call.in(0), call.in(1)}); }
Form gemmForm(FormCall& call) {
    const auto& attributes = call.attributes();
    const auto matrix = [&](std::size_t position, const char* turned) {
        return attributes.getInt(turned, 0) != 0 ? call.transposedMatrix(position) : call.in(position);
    };
    const TermId product = call.terms.scaled(call.terms.linear("MatMul", {matrix(0, "transA"), matrix(1, "transB")}),
                                             attributes.getFloat("alpha", 1));
    if (!call.has(2)) return product;
    return call.terms.sum(product, call.terms.scaled(call.in(2), attributes.getFloat("beta", 1)));
}

/// How an operator is written in others. Those that compute with elements are rows for floating point numbers only.
struct FormRow {
    std::string_view name, domain;
    Form (*form)(FormCall&);
    bool isOfFloats = true;
};
constexpr std::array kForms{
    FormRow{"Identity", "", sameForm, false},
    FormRow{"Add", "", sumForm},
    FormRow{"Sub", "", differenceForm},
    FormRow{"Mul", "", productForm},
    FormRow{"Div", "", quotientForm},
    FormRow{"Neg", "", negativeForm},
    FormRow{"Reciprocal", "", reciprocalForm},
    FormRow{"Sqrt", "", rootForm},
    FormRow{"Pow", "", powerForm},
    FormRow{"Relu", "", reluForm},
    FormRow{"Clip", "", clipForm},
    FormRow{"Max", "", maximumForm},
    FormRow{"Min", "", minimumForm},
    FormRow{"HardSigmoid", "", hardSigmoidForm},
    FormRow{"HardSwish", "", hardSwishForm},
    FormRow{"Mish", "", mishForm},
    FormRow{"Sigmoid", "", sigmoidForm},
    FormRow{"Tanh", "", tanhForm},
    FormRow{"Softplus", "", softplusForm},
    FormRow{"Erf", "", erfForm},
    FormRow{"Gelu", "", geluForm},
    FormRow{"Gelu", "com.microsoft", biasGeluForm},
    FormRow{"BiasGelu", "com.microsoft", biasGeluForm},
    FormRow{"FastGelu", "com.microsoft", fastGeluForm},
    FormRow{"QuickGelu", "com.microsoft", quickGeluForm},
    FormRow{"LeakyRelu", "", leakyForm},
    FormRow{"PRelu", "", preluForm},
    FormRow{"ReduceMean", "", meanForm},
    FormRow{"ReduceSum", "", totalForm},
    FormRow{"ReduceSumSquare", "", sumOfSquaresForm},
    FormRow{"ReduceL2", "", lengthForm},
    FormRow{"ReduceMax", "", greatestForm},
    FormRow{"ReduceMin", "", leastForm},
    FormRow{"GlobalAveragePool", "", globalMeanForm},
    FormRow{"GlobalMaxPool", "", globalMaximumForm},
    FormRow{"Softmax", "", softmaxForm},
    FormRow{"LogSoftmax", "", logSoftmaxForm},
    FormRow{"LayerNormalization", "", layerNormForm},
    FormRow{"InstanceNormalization", "", instanceNormForm},
    FormRow{"GroupNormalization", "", groupNormForm},
    FormRow{"BatchNormalization", "", batchNormForm},
    FormRow{"MaxPool", "", maxPoolForm},
    FormRow{"TopK", "", largestForm, false},
    FormRow{"MatMul", "", matMulForm},
    FormRow{"Gemm", "", gemmForm},
    FormRow{"Reshape", "", reshapeForm, false},
    FormRow{"Flatten", "", reshapeForm, false},
    FormRow{"Squeeze", "", reshapeForm, false},
    FormRow{"Unsqueeze", "", reshapeForm, false},
    FormRow{"Transpose", "", transposeForm, false},
    FormRow{"Slice", "", sliceForm, false},
    FormRow{"Gather", "", gatherForm, false},
    FormRow{"Split", "", splitForm, false},
    FormRow{"DepthToSpace", "", depthToSpaceForm, false},
    FormRow{"Expand", "", expandForm, false},
    FormRow{"Pad", "", padForm, false},
    FormRow{"Resize", "", resizeForm},
    FormRow{"Upsample", "", resizeForm},
};

}  // namespace

std::optional<TermId> canonicalForm(FormCall& call) {
    const graph::OpKey& op = call.expr().op;
    const auto row = std::ranges::find_if(
        kForms, [&](const FormRow& each) { return each.name == op.name && each.domain == op.domain; });
    if (row == kForms.end() || !call.has(0)) return std::nullopt;
    return !row->isOfFloats || call.isFloating() ? row->form(call) : std::nullopt;
}

}  // namespace sonde::session::diff
