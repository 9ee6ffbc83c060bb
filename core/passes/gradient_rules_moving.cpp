// Derivatives of operators that put elements elsewhere, or are linear in them: padding, resizing, sums of products; and
// of running products.

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using tensor::Attributes;
using tensor::Tensor;
using Dims = std::vector<std::int64_t>;

/// As operators that pick elements; what padding gives counts as element 0, in front of all others.
void padRule(GradientBuilder& b, const Expr& e) {
    const NodeId x = inputOf(e, 0);
    if (b.version() < 16) return b.fail("the derivative of " + e.op.name + " needs ScatterElements of version 16");
    Attributes attributes = e.attributes;
    if (attributes.find("value")) attributes.set("value", 0.0);
    std::vector<NodeId> inputs{countedElements(b, x, 1)};
    for (std::size_t i = 1; i < e.arguments.size(); ++i) inputs.push_back(inputOf(e, i));
    if (inputs.size() > 2) inputs[2] = b.constant(Tensor::scalar<std::int64_t>(0));
    const NodeId flat = b.integers({-1}), from = b.op("Reshape", {b.like(e, inputs, attributes), flat});
    const NodeId first = b.unsqueezed(b.number(0, x), 0);
    const NodeId zeros = b.op("Concat", {first, b.op("Reshape", {b.filled(x, 0), flat})}, {{"axis", std::int64_t{0}}});
    const NodeId sum = b.op("ScatterElements", {zeros, from, b.op("Reshape", {gradientOf(b, e), flat})},
                            {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}});
    b.give(x, b.reshapedTo(b.op("Slice", {sum, b.integers({1}), b.integers({std::numeric_limits<std::int64_t>::max()}),
                                          b.integers({0})}),
                           x));
}

void triluRule(GradientBuilder& b, const Expr& e) {
    std::vector<NodeId> inputs{gradientOf(b, e)};
    if (inputOf(e, 1).valid()) inputs.push_back(inputOf(e, 1));
    b.give(inputOf(e, 0), b.like(e, inputs, e.attributes));
}

/// The same sum from the other end.
void cumSumRule(GradientBuilder& b, const Expr& e) {
    Attributes attributes = e.attributes;
    attributes.set("reverse", std::int64_t{e.attributes.getInt("reverse", 0) == 0 ? 1 : 0});
    b.give(inputOf(e, 0), b.like(e, {gradientOf(b, e), inputOf(e, 1)}, std::move(attributes)));
}

/// By what it is made of: one factor after the other. So zeros are right too.
void cumProdRule(GradientBuilder& b, const Expr& e) {
    constexpr std::int64_t kMaxFactors = 16'384;
    const NodeId x = inputOf(e, 0);
    auto dims = b.dimSizesOf(x);
    const std::vector<double> given = constantNumbers(b, inputOf(e, 1));
    if (!dims || given.size() != 1 || b.version() < 13)
        return b.fail("the derivative of CumProd needs known dimensions and a known axis");
    const auto rank = static_cast<std::int64_t>(dims->size());
    const std::int64_t axis = static_cast<std::int64_t>(given.front()) + (given.front() < 0 ? rank : 0);
    if (axis < 0 || axis >= rank) return b.fail("the axis of CumProd is out of range");
    std::int64_t& size = (*dims)[static_cast<std::size_t>(axis)];
    const std::int64_t length = size;
    if (length > kMaxFactors)
        return b.fail("the derivative of CumProd of more than " + std::to_string(kMaxFactors) +
                      " elements is not supported");
    if (length == 0) return;
    size = 1;
    const bool isExclusive = e.attributes.getInt("exclusive", 0) != 0,
               isReverse = e.attributes.getInt("reverse", 0) != 0;
    b.through(e, [&]() -> std::vector<NodeId> {
        const auto count = static_cast<std::size_t>(length);
        const std::vector<NodeId> factors = b.ops("Split", {x, b.integers(Dims(count, 1))}, {{"axis", axis}}, count);
        std::vector<NodeId> products(count);
        NodeId product = isExclusive ? b.filled(factors.front(), 1) : NodeId();
        for (std::size_t step = 0; step < count; ++step) {
            const std::size_t at = isReverse ? count - 1 - step : step;
            const NodeId factor = b.sized(factors[at], *dims), before = b.sized(product, *dims);
            product = before.valid() ? b.mul(before, factor) : factor;
            products[at] = b.sized(isExclusive ? before : product, *dims);
        }
        return {b.op("Concat", products, {{"axis", axis}})};
    });
}

/// To the elements that were taken.
void topKRule(GradientBuilder& b, const Expr& e) {
    if (e.outputs.size() < 2) return b.fail("TopK without its indices");
    if (b.version() < 16) return b.fail("the derivative of TopK needs ScatterElements of version 16");
    const NodeId x = inputOf(e, 0);
    b.give(x, b.op("ScatterElements", {b.filled(x, 0), e.outputs[1], gradientOf(b, e)},
                   {{"axis", e.attributes.getInt("axis", -1)}, {"reduction", std::string("add")}}));
}

// ---- resizing: separable and linear, y = x·E along each axis, so dx = g·Eᵀ; E is what becomes of the unit vectors

/// One for each axis; where only sizes are given, that of the result's.
struct Factors {
    std::vector<double> scales;
    bool areSizes = false;
};
std::optional<Factors> factorsOf(GradientBuilder& b, const Expr& e, const Dims& y) {
    const bool isOld = e.op.name == "Upsample" || e.op.version < 11;
    Factors factors;
    std::vector<double> given;
    if (e.attributes.has("scales")) given = e.attributes.getFloats("scales");
    else given = constantNumbers(b, inputOf(e, isOld ? 1 : 2));
    const Dims axes = e.attributes.getInts("axes");
    if (given.empty() && !isOld && inputOf(e, 3).valid() &&
        e.attributes.getString("keep_aspect_ratio_policy", "stretch") == "stretch") {
        factors.areSizes = true;
        factors.scales.assign(y.begin(), y.end());
        return factors;
    }
    factors.scales.assign(y.size(), 1);
    if (given.size() != (axes.empty() ? y.size() : axes.size())) return std::nullopt;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::int64_t axis =
            axes.empty() ? static_cast<std::int64_t>(i) : axes[i] + (axes[i] < 0 ? std::int64_t(y.size()) : 0);
        if (axis < 0 || axis >= static_cast<std::int64_t>(y.size())) return std::nullopt;
        factors.scales[static_cast<std::size_t>(axis)] = given[i];
    }
    return factors;
}

/// The part of an axis that is resized.
struct Crop {
    double start = 0, end = 1;
    bool isAll() const { return start == 0 && end == 1; }
};
constexpr std::string_view kCropping = "tf_crop_and_resize";

bool crops(const Expr& e) { return e.attributes.getString("coordinate_transformation_mode", "") == kCropping; }

/// One for each axis; nothing if they are not constant.
std::optional<std::vector<Crop>> cropsOf(GradientBuilder& b, const Expr& e, std::size_t rank) {
    std::vector<Crop> made(rank);
    if (!crops(e)) return made;
    Dims axes = e.attributes.getInts("axes");
    if (axes.empty()) {
        axes.resize(rank);
        std::iota(axes.begin(), axes.end(), 0);
    }
    const std::vector<double> given = constantNumbers(b, inputOf(e, 1));
    if (given.size() != 2 * axes.size()) return std::nullopt;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t axis = axes[i] + (axes[i] < 0 ? static_cast<std::int64_t>(rank) : 0);
        if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
        made[static_cast<std::size_t>(axis)] = {given[i], given[axes.size() + i]};
    }
    return made;
}

/// What becomes of the unit vectors of an axis of `size` elements.
NodeId resizedUnits(GradientBuilder& b, const Expr& e, std::int64_t size, double factor, bool isSize,
                    const Crop& crop) {
    const auto dtype = b.graph().node(inputOf(e, 0)).type.dtype;
    const NodeId units = b.constant(unitMatrix(size, dtype));
    Attributes attributes = e.attributes;
    for (const char* name : {"axes", "keep_aspect_ratio_policy"}) attributes.erase(name);
    NodeId region;
    if (crops(e)) {
        attributes.set("extrapolation_value", 0.0);  // beyond the edge is no element
        region =
            b.constant(Tensor::of<float>({4}, {0, static_cast<float>(crop.start), 1, static_cast<float>(crop.end)}));
    }
    const auto factorOf = static_cast<float>(factor);
    if (attributes.has("scales")) {
        attributes.set("scales", std::vector<double>{1, factor});
        return b.like(e, {units}, attributes);
    }
    if (isSize)
        return b.like(e, {units, region, {}, b.integers({size, static_cast<std::int64_t>(factor)})}, attributes);
    const NodeId scales = b.constant(Tensor::of<float>({2}, {1.0F, factorOf}));
    const bool isOld = e.op.name == "Upsample" || e.op.version < 11;
    return isOld ? b.like(e, {units, scales}, attributes) : b.like(e, {units, region, scales}, attributes);
}

void resizeRule(GradientBuilder& b, const Expr& e) {
    const auto x = b.dimSizesOf(inputOf(e, 0)), y = b.dimSizesOf(e.outputs.front());
    if (!x || !y || x->size() != y->size()) return b.fail("the dimensions of " + e.op.name + " are unknown");
    const auto factors = factorsOf(b, e, *y);
    const auto cropped = cropsOf(b, e, x->size());
    if (!cropped) return b.fail("the derivative of " + e.op.name + " needs a constant roi");
    if (!factors) return b.fail("the derivative of " + e.op.name + " with these scales is not supported");
    NodeId g = gradientOf(b, e);
    for (std::size_t axis = 0; axis < x->size(); ++axis) {
        const Crop& crop = (*cropped)[axis];
        if ((*x)[axis] == (*y)[axis] && (factors->areSizes || factors->scales[axis] == 1) && crop.isAll()) continue;
        const NodeId units = resizedUnits(b, e, (*x)[axis], factors->scales[axis], factors->areSizes, crop);
        Dims order(x->size());
        std::iota(order.begin(), order.end(), 0);
        std::swap(order[axis], order.back());
        const NodeId back = b.op("Transpose", {units}, {{"perm", Dims{1, 0}}});
        const NodeId product = b.op("MatMul", {b.op("Transpose", {g}, {{"perm", order}}), back});
        g = b.op("Transpose", {product}, {{"perm", order}});
    }
    b.give(inputOf(e, 0), g);
}

// ---- sums of products

struct Equation {
    std::vector<std::string> inputs;
    std::string output;
};
/// With letters for the axes of "...", which are aligned at the last one. Nothing if a rank is not known, or an operand
/// has fewer or shorter of these axes than another, which is repeated along them.
std::optional<std::string> spelledOut(GradientBuilder& b, const Expr& e, std::string text) {
    const std::size_t arrow = text.find("->");
    std::string spare;
    for (char letter = 'z'; letter >= 'A'; --letter)
        if (std::isalpha(static_cast<unsigned char>(letter)) && text.find(letter) == std::string::npos) spare += letter;
    std::optional<tensor::Shape> axes;
    std::string result;
    for (std::size_t start = 0, operand = 0; start <= std::min(arrow, text.size()); ++operand) {
        const std::size_t comma = std::min({text.find(',', start), arrow, text.size()});
        std::string part = text.substr(start, comma - start);
        if (const std::size_t dots = part.find("..."); dots != std::string::npos) {
            const auto dims = operand < e.arguments.size() ? b.dimSizesOf(inputOf(e, operand)) : std::nullopt;
            if (!dims || dims->size() + 3 < part.size()) return std::nullopt;
            const std::size_t count = dims->size() + 3 - part.size();
            if (count > spare.size()) return std::nullopt;
            const tensor::Shape own(Dims(dims->begin() + static_cast<std::ptrdiff_t>(dots),
                                         dims->begin() + static_cast<std::ptrdiff_t>(dots + count)));
            if (axes && !(*axes == own)) return std::nullopt;
            axes = own;
            part.replace(dots, 3, spare.substr(0, count));
        }
        result += (operand ? "," : "") + part;
        start = comma + 1;
        if (comma == arrow || comma == text.size()) break;
    }
    if (!axes) return std::nullopt;
    const std::string letters = spare.substr(0, axes->rank());
    std::string output;
    if (arrow != std::string::npos) {
        output = text.substr(arrow + 2);
        if (const std::size_t dots = output.find("..."); dots != std::string::npos) output.replace(dots, 3, letters);
    } else {
        std::string sorted = text;
        std::ranges::sort(sorted);
        output = letters;
        for (const char letter : sorted)
            if (std::isalpha(static_cast<unsigned char>(letter)) && std::ranges::count(sorted, letter) == 1)
                output += letter;
    }
    return result + "->" + output;
}

/// Without blanks; nothing if it means nothing.
std::optional<Equation> readEquation(GradientBuilder& b, const Expr& e, std::string text) {
    std::erase(text, ' ');
    if (text.find('.') != std::string::npos) {
        const auto spelled = spelledOut(b, e, text);
        if (!spelled) return std::nullopt;
        text = *spelled;
    }
    const std::size_t arrow = text.find("->");
    Equation equation;
    std::string inputs = text.substr(0, arrow);
    for (std::size_t start = 0; start <= inputs.size();) {
        const std::size_t comma = std::min(inputs.find(',', start), inputs.size());
        equation.inputs.push_back(inputs.substr(start, comma - start));
        start = comma + 1;
    }
    std::erase(inputs, ',');
    if (arrow != std::string::npos) equation.output = text.substr(arrow + 2);
    std::string sorted = inputs;
    std::ranges::sort(sorted);
    for (const char letter : sorted)
        if (arrow == std::string::npos && std::ranges::count(sorted, letter) == 1) equation.output += letter;
    return equation;
}

/// Ones where the indices of one letter are equal, else zeros: of an operand with a letter more than once, whose other
/// places have letters of their own in `own`. Adds factors and their letters.
void separateLetters(GradientBuilder& b, const Expr& e, std::size_t operand, std::string& own, std::string& text,
                     std::vector<NodeId>& inputs, const std::string& used) {
    const auto dims = b.dimSizesOf(inputOf(e, operand));
    std::string free;
    for (char letter = 'a'; letter <= 'z'; ++letter)
        for (const char one : {letter, static_cast<char>(letter - 'a' + 'A')})
            if (used.find(one) == std::string::npos) free += one;
    for (std::size_t d = 1; d < own.size(); ++d) {
        if (own.find(own[d]) == d) continue;
        if (!dims || free.empty()) return b.fail("the dimensions of an operand of Einsum are unknown");
        text += std::string(",") + own[d] + free.back();
        inputs.push_back(b.constant(unitMatrix((*dims)[d], b.graph().node(inputOf(e, operand)).type.dtype)));
        own[d] = free.back();
        free.pop_back();
    }
}

/// The sum of products of g with the other inputs; letters that only this input has are filled by a factor of ones.
void einsumRule(GradientBuilder& b, const Expr& e) {
    const auto equation = readEquation(b, e, e.attributes.getString("equation", ""));
    if (!equation || equation->inputs.size() != e.arguments.size())
        return b.fail("the derivative of Einsum with '" + e.attributes.getString("equation", "") +
                      "' is not supported");
    for (std::size_t i = 0; i < e.arguments.size(); ++i) {
        std::string text = equation->output;
        std::vector<NodeId> inputs{gradientOf(b, e)};
        for (std::size_t k = 0; k < e.arguments.size(); ++k) {
            if (k == i) continue;
            text += ',' + equation->inputs[k];
            inputs.push_back(inputOf(e, k));
        }
        std::string own = equation->inputs[i], all = equation->output;
        for (const std::string& operand : equation->inputs) all += operand;
        separateLetters(b, e, i, own, text, inputs, all);
        if (std::ranges::any_of(own, [&](char letter) { return text.find(letter) == std::string::npos; })) {
            text += ',' + own;
            inputs.push_back(b.filled(inputOf(e, i), 1));
        }
        b.give(inputOf(e, i), b.op("Einsum", inputs, {{"equation", text + "->" + own}}));
    }
}

}  // namespace

Tensor unitMatrix(std::int64_t size, tensor::DType dtype) {
    std::vector<double> values(static_cast<std::size_t>(size * size), 0);
    for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(i * size + i)] = 1;
    return Tensor::of<double>({size, size}, values)
        .cast(dtype == tensor::DType::Undefined ? tensor::DType::Float32 : dtype)
        .value();
}

std::vector<double> constantNumbers(GradientBuilder& b, NodeId node) {
    std::vector<double> numbers;
    if (!node.valid()) return numbers;
    const auto& constant = b.graph().node(node).constant;
    if (!constant || !constant->isTensor()) return numbers;
    for (std::int64_t i = 0; i < constant->tensor().numel(); ++i) numbers.push_back(constant->tensor().toDouble(i));
    return numbers;
}

void addMovingGradients(GradientRules& rules) {
    rules.insert({{"CenterCropPad", padRule},
                  {"CumProd", cumProdRule},
                  {"CumSum", cumSumRule},
                  {"Einsum", einsumRule},
                  {"Pad", padRule},
                  {"Resize", resizeRule},
                  {"TopK", topKRule},
                  {"Trilu", triluRule},
                  {"Upsample", resizeRule}});
}

}  // namespace sonde::passes
