// Products and convolutions of quantised tensors: exact sums of (w - zero point) * (x - zero point), which some
// operators quantise again.

#include <algorithm>
#include <optional>

#include "core/ops/dependence/products.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/dependence/windows.h"
#include "core/ops/support/quantization.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

constexpr std::string_view kCentredSum = "sum((w - w_zero_point) * (x - x_zero_point))";

/// A number of an input: one for all, or that at a position; `fallback` where the input is left out. Position -1: it
/// may only be one.
base::Result<void> addNumberAt(Dependence& dependence, const ElementCall& call, std::string_view part,
                               std::string_view input, std::int64_t position, double fallback = 0) {
    const std::size_t at = call.op.position(Name(input));
    if (at >= call.context.inputCount() || !call.context.has(at)) {
        dependence.number(part, fallback);
        return {};
    }
    const Tensor& tensor = call.context.in(at);
    const std::int64_t element = tensor.numel() == 1 ? 0 : position;
    if (element < 0) return opError("there is no formula for a " + std::string(input) + " of each summand");
    if (element >= tensor.numel()) return opError(std::string(input) + " does not match the result");
    addElement(dependence, dependence.part(part), call, at, element);
    return {};
}

/// What `ratio` gives, rounded, shifted and held in the range of the result. Scale and zero point are "y_scale" and
/// "y_zero_point" in the formula.
base::Result<Dependence> quantizedAgain(Dependence dependence, const ElementCall& call, const std::string& ratio,
                                        std::string_view scale, std::string_view zeroPoint) {
    SONDE_TRY(addNumberAt(dependence, call, "y_scale", scale, -1));
    SONDE_TRY(addNumberAt(dependence, call, "y_zero_point", zeroPoint, -1));
    const std::optional<QuantizedRange> range = quantizedRange(call.result.dtype());
    if (!range) return opError("there is no formula for " + call.result.typeText());
    dependence.number("low", range->low);
    dependence.number("high", range->high);
    dependence.formula = "clip(round(" + ratio + ") + y_zero_point, low, high)";
    return dependence;
}

/// A number that is computed in float32 and quantised in it.
std::string inFloat32(const std::string& real) { return "float32(float32(" + real + ") / y_scale)"; }

/// The names of two factors in the call; without scales, nothing is quantised again.
struct CentredFactors {
    std::string_view x, w, xZero, wZero, xScale = {}, wScale = {};
};

/// Where in zero points and scales the element's own are.
struct OwnNumbers {
    std::int64_t xZero, wZero, xScale, wScale;
};

base::Result<Dependence> withZeroPoints(Dependence dependence, const ElementCall& call, const CentredFactors& factors,
                                        const OwnNumbers& own, const std::string& sum) {
    dependence.formula = sum;
    SONDE_TRY(addNumberAt(dependence, call, "x_zero_point", factors.xZero, own.xZero));
    SONDE_TRY(addNumberAt(dependence, call, "w_zero_point", factors.wZero, own.wZero));
    if (factors.xScale.empty()) return dependence;
    SONDE_TRY(addNumberAt(dependence, call, "x_scale", factors.xScale, own.xScale));
    SONDE_TRY(addNumberAt(dependence, call, "w_scale", factors.wScale, own.wScale));
    return quantizedAgain(std::move(dependence), call,
                          "float32(float32(" + sum + ") * float32(float32(x_scale * w_scale) / y_scale))", "y_scale",
                          "y_zero_point");
}

base::Result<Dependence> centredProduct(const ElementCall& call, const CentredFactors& factors) {
    const std::size_t left = call.op.position(Name(factors.x)), right = call.op.position(Name(factors.w));
    const std::size_t rank = call.at.size();
    Dependence dependence;
    SONDE_TRY(addMatrixProduct(dependence, call, left, right));
    const bool isRow = call.context.in(left).rank() > 1, isColumn = call.context.in(right).rank() > 1;
    const std::int64_t row = isRow && rank > (isColumn ? 1 : 0) ? call.at[rank - (isColumn ? 2 : 1)] : -1,
                       column = isColumn && rank > 0 ? call.at.back() : -1;
    return withZeroPoints(std::move(dependence), call, factors, {row, column, row, column}, std::string(kCentredSum));
}

base::Result<Dependence> centredConvolution(const ElementCall& call, const CentredFactors& factors) {
    Convolution convolution;
    convolution.x = call.op.position(Name(factors.x)), convolution.w = call.op.position(Name(factors.w));
    convolution.bias = call.op.position(Name("B"));
    convolution.hasBias = convolution.bias < call.context.inputCount() && call.context.has(convolution.bias);
    convolution.groups = call.context.attributes().getInt("group", 1);
    const Shape &x = call.context.in(convolution.x).shape(), &w = call.context.in(convolution.w).shape();
    if (x.rank() < 3 || w.rank() != x.rank()) return opError("the weights do not match the input");
    convolution.hasLastChannels = call.context.attributes().getInt("channels_last", 0) != 0;
    const std::size_t first = convolution.hasLastChannels ? 1 : 2;
    SONDE_ASSIGN(convolution.window, windowFromAttributes(call.context.attributes(), std::span(w.dims()).subspan(2),
                                                          std::span(x.dims()).subspan(first, x.rank() - 2)));
    SONDE_ASSIGN(Dependence dependence, convolved(call, convolution));
    const std::int64_t channel = convolution.hasLastChannels ? call.at.back() : call.at[1];
    const std::string sum = std::string(kCentredSum) + (convolution.hasBias ? " + bias" : "");
    return withZeroPoints(std::move(dependence), call, factors, {-1, channel, call.at[0], channel}, sum);
}

}  // namespace

base::Result<Dependence> integerProduct(const ElementCall& call) {
    return centredProduct(call, {"A", "B", "a_zero_point", "b_zero_point"});
}

base::Result<Dependence> quantizedProduct(const ElementCall& call) {
    return centredProduct(call, {"a", "b", "a_zero_point", "b_zero_point", "a_scale", "b_scale"});
}

base::Result<Dependence> quantizedGeneralProduct(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    if (call.at.size() != 2) return opError("the result is no matrix");
    Dependence dependence;
    SONDE_TRY(addMatrixProduct(dependence, call, call.context.position("A"), call.context.position("B"),
                               attributes.getInt("transA", 0) != 0, attributes.getInt("transB", 0) != 0));
    SONDE_TRY(addNumberAt(dependence, call, "x_zero_point", "a_zero_point", call.at[0]));
    SONDE_TRY(addNumberAt(dependence, call, "w_zero_point", "b_zero_point", call.at[1]));
    SONDE_TRY(addNumberAt(dependence, call, "x_scale", "a_scale", -1));
    SONDE_TRY(addNumberAt(dependence, call, "w_scale", "b_scale", call.at[1]));
    dependence.number("alpha", static_cast<double>(static_cast<float>(attributes.getFloat("alpha", 1))));
    std::string sum(kCentredSum);
    if (const std::size_t c = call.op.position("C"); c < call.context.inputCount() && call.context.has(c)) {
        const std::int64_t element = broadcastElement(call.at, call.context.in(c).shape());
        if (element < 0) return opError("C does not match the result");
        addElement(dependence, dependence.part("c"), call, c, element);
        sum += " + c";
    }
    const std::string factor = "float32(float32(x_scale * alpha) * w_scale)", integers = "float32(" + sum + ")";
    dependence.formula = integers + " * " + factor;
    if (!argumentOf(call, "y_scale")) return dependence;
    return quantizedAgain(std::move(dependence), call, "float32(" + integers + " * float32(" + factor + " / y_scale))",
                          "y_scale", "y_zero_point");
}

base::Result<Dependence> integerConvolved(const ElementCall& call) {
    return centredConvolution(call, {"x", "w", "x_zero_point", "w_zero_point"});
}

base::Result<Dependence> quantizedConvolved(const ElementCall& call) {
    return centredConvolution(call, {"x", "w", "x_zero_point", "w_zero_point", "x_scale", "w_scale"});
}

std::string realValue(const std::string& x) { return "float32((" + x + " - " + x + "_zero_point) * " + x + "_scale)"; }

namespace {

/// "X" of X_scale; some operators have small letters there.
std::string scalePrefix(const ElementCall& call, char letter) {
    const std::string capital(1, letter);
    const bool isCapital = call.op.position(Name(capital + "_scale")) < call.op.inputs.size();
    return isCapital ? capital : std::string(1, static_cast<char>(letter - 'A' + 'a'));
}

/// The element of an input named `input` that goes with the result's, as `part`, with its scale and zero point.
base::Result<void> addQuantized(Dependence& dependence, const ElementCall& call, const std::string& input,
                                const std::string& part) {
    const std::size_t at = call.context.position(Name(input));
    const std::int64_t element = broadcastElement(call.at, call.context.in(at).shape());
    if (element < 0) return opError(input + " does not match the result");
    addElement(dependence, dependence.part(part), call, at, element);
    const std::string prefix = scalePrefix(call, input[0]);
    SONDE_TRY(addNumberAt(dependence, call, part + "_scale", prefix + "_scale", -1));
    return addNumberAt(dependence, call, part + "_zero_point", prefix + "_zero_point", -1);
}

}  // namespace

base::Result<Dependence> quantizedElementWise(const ElementCall& call) {
    Dependence dependence;
    std::string real;
    for (const char letter : call.text) {
        if (letter < 'A' || letter > 'Z') {
            real += letter;
            continue;
        }
        const std::string part = letter == 'Y' ? "u" : std::string(1, static_cast<char>(letter - 'A' + 'a'));
        real += realValue(part);
        const bool isKnown =
            std::ranges::any_of(dependence.parts, [&](const DependencePart& known) { return known.name == part; });
        if (!isKnown) SONDE_TRY(addQuantized(dependence, call, std::string(1, letter), part));
    }
    if (const std::size_t at = call.op.position("condition"); at < call.context.inputCount()) {
        const std::int64_t element = broadcastElement(call.at, call.context.in(at).shape());
        if (element < 0) return opError("the condition does not match the result");
        addElement(dependence, dependence.part("condition"), call, at, element);
    }
    dependence.number("alpha", static_cast<double>(static_cast<float>(call.context.attributes().getFloat("alpha", 1))));
    const std::string result = scalePrefix(call, call.op.outputs.front().name[0]);
    return quantizedAgain(std::move(dependence), call, inFloat32(real), result + "_scale", result + "_zero_point");
}

base::Result<Dependence> quantizedPair(const ElementCall& call) {
    Dependence dependence;
    SONDE_TRY(addQuantized(dependence, call, "A", "a"));
    SONDE_TRY(addQuantized(dependence, call, "B", "b"));
    SONDE_ASSIGN(dependence, quantizedAgain(std::move(dependence), call, {}, "C_scale", "C_zero_point"));
    std::string real;
    if (call.text == "A + B") {
        // `first` is added last.
        const auto sumOf = [](const std::string& first, const std::string& second) {
            const std::string p = "float32(" + first + "_scale / y_scale)",
                              q = "float32(" + second + "_scale / y_scale)";
            const std::string zeros =
                "float32(" + p + " * " + first + "_zero_point + float32(" + q + " * " + second + "_zero_point))";
            return first + " * " + p + " + float32(" + second + " * " + q + " + float32(y_zero_point - " + zeros + "))";
        };
        real = isRepeatedInRows(call.context.in("A").shape(), call.result.shape()) ? sumOf("b", "a") : sumOf("a", "b");
    } else {
        real =
            "float32((a - a_zero_point) * (b - b_zero_point) * float32(float32(a_scale * b_scale) / y_scale)) + "
            "y_zero_point";
    }
    dependence.formula = "clip(round(float32(" + real + ")), low, high)";
    return dependence;
}

base::Result<Dependence> quantizedChannelMean(const ElementCall& call) {
    const Shape& shape = call.context.in(kOperand).shape();
    if (shape.rank() < 3 || call.at.size() != shape.rank()) return opError("the input is no image");
    const bool isLast = call.context.attributes().getInt("channels_last", 0) != 0;
    Region image = Region::only(call.at);
    for (std::size_t d = isLast ? 1 : 2; d < shape.rank() - (isLast ? 1 : 0); ++d) image.widen(d, shape);
    Dependence dependence;
    const std::uint32_t part = dependence.listPart("x");
    SONDE_TRY(addRegion(dependence, part, call, kOperand, image));
    for (DependenceTerm& term : dependence.terms) term.weight = 1 / static_cast<double>(image.count());
    SONDE_TRY(addNumberAt(dependence, call, "x_scale", "X_scale", -1));
    SONDE_TRY(addNumberAt(dependence, call, "x_zero_point", "X_zero_point", -1));
    return quantizedAgain(std::move(dependence), call, inFloat32("mean(" + realValue("x") + ")"), "Y_scale",
                          "Y_zero_point");
}

base::Result<Dependence> quantizedFrom(Dependence dependence, const ElementCall& call, const std::string& real) {
    SONDE_TRY(addNumberAt(dependence, call, "x_scale", "X_scale", -1));
    SONDE_TRY(addNumberAt(dependence, call, "x_zero_point", "X_zero_point", -1));
    return quantizedAgain(std::move(dependence), call, inFloat32(real), "Y_scale", "Y_zero_point");
}

base::Result<Dependence> quantizedMean(const ElementCall& call) {
    ElementCall mean = call;
    mean.text = "mean(x)";
    SONDE_ASSIGN(Dependence dependence, reduced(mean));
    return quantizedFrom(std::move(dependence), call, "mean(" + realValue("x") + ")");
}

base::Result<Dependence> quantizedSoftmax(const ElementCall& call) {
    const Tensor& x = call.context.in(kOperand);
    const Attributes& attributes = call.context.attributes();
    const bool isFlattened = attributes.getInt("opset", 13) < 13;
    SONDE_ASSIGN(const std::size_t axis, axisOf(attributes.getInt("axis", isFlattened ? 1 : -1), x.rank()));
    Region region = Region::only(call.at);
    for (std::size_t d = axis; d < (isFlattened ? x.rank() : axis + 1); ++d) region.widen(d, x.shape());
    Dependence dependence;
    addElement(dependence, dependence.part("x"), call, kOperand, call.element);
    SONDE_TRY(addRegion(dependence, dependence.listPart("row"), call, kOperand, region));
    return quantizedFrom(std::move(dependence), call,
                         "exp((x - max(row)) * x_scale) / sum(exp((row - max(row)) * x_scale))");
}

base::Result<Dependence> centredFactors(const ElementCall& call) {
    Dependence dependence;
    dependence.formula = "(a - a_zero_point) * (b - b_zero_point)";
    for (const auto& [input, part] : {std::pair("A", "a"), std::pair("B", "b")}) {
        const std::size_t at = call.context.position(Name(input));
        const std::int64_t element = broadcastElement(call.at, call.context.in(at).shape());
        if (element < 0) return opError("the factors do not match");
        addElement(dependence, dependence.part(part), call, at, element);
        SONDE_TRY(
            addNumberAt(dependence, call, std::string(part) + "_zero_point", std::string(input) + "_zero_point", -1));
    }
    return dependence;
}

base::Result<Dependence> quantizedJoined(const ElementCall& call) {
    SONDE_ASSIGN(const std::size_t axis, axisOf(call.context.attributes().getInt("axis", 0), call.at.size()));
    std::vector<std::int64_t> index = call.at;
    for (std::size_t part = 2; part + 2 < call.context.inputCount(); part += 3) {
        const Shape& shape = call.context.in(part).shape();
        if (shape.rank() != index.size()) return opError("a part does not match the result");
        if (index[axis] >= shape[axis]) {
            index[axis] -= shape[axis];
            continue;
        }
        Dependence dependence;
        addElement(dependence, dependence.part("x"), call, part, elementAt(index, shape));
        addElement(dependence, dependence.part("x_scale"), call, part + 1, 0);
        if (call.context.has(part + 2)) addElement(dependence, dependence.part("x_zero_point"), call, part + 2, 0);
        else dependence.number("x_zero_point", 0);
        return quantizedAgain(std::move(dependence), call, inFloat32(realValue("x")), "Y_scale", "Y_zero_point");
    }
    return opError("the parts do not match the result");
}

base::Result<Dependence> scaledProduct(const ElementCall& call, const std::optional<DynamicRange>& range) {
    const std::size_t left = call.op.position(Name("A")), right = call.op.position(Name("B"));
    Dependence dependence;
    SONDE_TRY(addMatrixProduct(dependence, call, left, right));
    const bool isRow = call.context.in(left).rank() > 1, isColumn = call.context.in(right).rank() > 1;
    const std::size_t rank = call.at.size(), behind = isColumn ? 2 : 1;
    const std::int64_t row = isRow && rank >= behind ? call.at[rank - behind] : -1,
                       column = isColumn && rank > 0 ? call.at.back() : -1;
    SONDE_TRY(addNumberAt(dependence, call, "w_zero_point", "b_zero_point", column));
    SONDE_TRY(addNumberAt(dependence, call, "w_scale", "b_scale", column));
    std::string x = "x";
    if (range) {
        dependence.number("x_scale", range->scale);
        dependence.number("x_zero_point", range->zeroPoint);
        if (range->scale > 0) x = "clip(round(float32(x / x_scale)) + x_zero_point, 0, 255)";
        else x = "x_zero_point";  // all elements are 0
    } else {
        SONDE_TRY(addNumberAt(dependence, call, "x_scale", "a_scale", row));
        SONDE_TRY(addNumberAt(dependence, call, "x_zero_point", "a_zero_point", row));
    }
    dependence.formula = "sum((w - w_zero_point) * (" + x + " - x_zero_point)) * (x_scale * w_scale)";
    const std::size_t bias = call.op.position(Name("bias"));
    if (bias >= call.context.inputCount() || !call.context.has(bias)) return dependence;
    const std::int64_t element = broadcastElement(call.at, call.context.in(bias).shape());
    if (element < 0) return opError("the bias does not match the result");
    addElement(dependence, dependence.part("bias"), call, bias, element);
    dependence.formula += " + bias";
    return dependence;
}

}  // namespace sonde::ops::dependence
