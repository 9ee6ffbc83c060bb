// Products of matrices: sum(w * x), where x are elements of the left factor and w of the right one.

#include "core/ops/dependence/products.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/einsum.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

/// A factor: where it is in the call, and the row-major index of its elements.
struct Factor {
    std::size_t input;
    std::int64_t first = 0;  ///< element for k = 0
    std::int64_t step = 1;   ///< from one k to the next
};

/// Σ over k of left · right.
base::Result<void> addProducts(Dependence& dependence, const ElementCall& call, const Factor& left, const Factor& right,
                               std::int64_t count) {
    SONDE_TRY(checkTerms(count));
    const Tensor &x = call.context.in(left.input), &w = call.context.in(right.input);
    if (count > 0 && (left.first < 0 || right.first < 0 || left.first + (count - 1) * left.step >= x.numel() ||
                      right.first + (count - 1) * right.step >= w.numel()))
        return opError(x.typeText() + " and " + w.typeText() + " do not match");
    const std::uint32_t part = dependence.listPart("x", "w");
    for (std::int64_t k = 0; k < count; ++k) {
        addElement(dependence, part, call, left.input, left.first + k * left.step);
        DependenceTerm& term = dependence.terms.back();
        term.weightInput = static_cast<std::uint32_t>(right.input);
        term.weightElement = right.first + k * right.step;
        term.weight = w.toDouble(term.weightElement);
    }
    return {};
}

/// The element at [batch…, row, column] of a factor, of which a vector has one of the last two only.
std::int64_t elementOf(const Shape& shape, const std::vector<std::int64_t>& batch, std::int64_t row,
                       std::int64_t column) {
    if (shape.rank() == 1) return row + column;
    const Shape matrices(std::span(shape.dims()).first(shape.rank() - 2));
    const std::int64_t at = broadcastElement(batch, matrices);
    return at < 0 ? -1 : (at * shape[shape.rank() - 2] + row) * shape[shape.rank() - 1] + column;
}

std::size_t positionOf(const ElementCall& call, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        const std::size_t at = call.op.position(Name(name));
        if (at < call.context.inputCount() && call.context.has(at)) return at;
    }
    return kNoOperand;
}

base::Result<double> factorOf(const ElementCall& call, std::string_view name) {
    if (call.context.has(Name(name))) return numberOf(call.context.value(Name(name)));
    return call.context.attributes().getFloat(name, 1);
}

}  // namespace

base::Result<void> addMatrixProduct(Dependence& dependence, const ElementCall& call, std::size_t left,
                                    std::size_t right, bool turnsLeft, bool turnsRight) {
    const Shape &a = call.context.in(left).shape(), &b = call.context.in(right).shape();
    if (a.rank() < 1 || b.rank() < 1) return opError("a product of scalars");
    turnsLeft = turnsLeft && a.rank() > 1;  // a vector has no axes to exchange
    turnsRight = turnsRight && b.rank() > 1;
    std::vector<std::int64_t> batch = call.at;
    std::int64_t row = 0, column = 0;
    const std::size_t own = (a.rank() > 1 ? 1 : 0) + (b.rank() > 1 ? 1 : 0);
    if (batch.size() < own) return opError("the result does not match the factors");
    if (b.rank() > 1) column = batch.back(), batch.pop_back();
    if (a.rank() > 1) row = batch.back(), batch.pop_back();
    const std::int64_t count = turnsLeft ? a[a.rank() - 2] : a[a.rank() - 1];
    const auto at = [&](std::int64_t k) {
        return std::pair(turnsLeft ? elementOf(a, batch, k, row) : elementOf(a, batch, row, k),
                         turnsRight ? elementOf(b, batch, column, k) : elementOf(b, batch, k, column));
    };
    const auto first = at(0), second = at(1);
    return addProducts(dependence, call, {left, first.first, second.first - first.first},
                       {right, first.second, second.second - first.second}, count);
}

base::Result<void> addPairs(Dependence& dependence, const ElementCall& call, std::size_t left, std::size_t right,
                            const std::vector<ElementPair>& pairs) {
    const Tensor &x = call.context.in(left), &w = call.context.in(right);
    const std::uint32_t part = dependence.listPart("x", "w");
    for (const ElementPair& pair : pairs) {
        if (pair.left < 0 || pair.left >= x.numel() || pair.right < 0 || pair.right >= w.numel())
            return opError(x.typeText() + " and " + w.typeText() + " do not match");
        addElement(dependence, part, call, left, pair.left);
        DependenceTerm& term = dependence.terms.back();
        term.weightInput = static_cast<std::uint32_t>(right);
        term.weightElement = pair.right;
        term.weight = w.toDouble(pair.right);
    }
    return {};
}

base::Result<void> addScaledSum(Dependence& dependence, const ElementCall& call, std::size_t bias) {
    SONDE_ASSIGN(const double alpha, factorOf(call, "alpha"));
    SONDE_ASSIGN(const double beta, factorOf(call, "beta"));
    if (alpha != 1) dependence.formula = "alpha * " + dependence.formula;
    dependence.number("alpha", alpha);
    dependence.number("beta", beta);
    if (bias == kNoOperand || beta == 0) return {};
    const std::int64_t element = broadcastElement(call.at, call.context.in(bias).shape());
    if (element < 0) return opError("what is added does not match the result");
    addElement(dependence, dependence.part("bias"), call, bias, element);
    dependence.formula += beta == 1 ? " + bias" : " + beta * bias";
    return {};
}

base::Result<Dependence> matrixProduct(const ElementCall& call) {
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    SONDE_TRY(addMatrixProduct(dependence, call, kLeft, kRight));
    return dependence;
}

base::Result<Dependence> generalProduct(const ElementCall& call) {
    const std::size_t left = positionOf(call, {"A", "mat1", "batch1", "mat"}),
                      right = positionOf(call, {"B", "mat2", "batch2", "vec"}), bias = positionOf(call, {"C", "self"});
    if (left == kNoOperand || right == kNoOperand) return opError("a factor is missing");
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    SONDE_TRY(addMatrixProduct(dependence, call, left, right, call.context.attributes().getInt("transA", 0) != 0,
                               call.context.attributes().getInt("transB", 0) != 0));
    SONDE_TRY(addScaledSum(dependence, call, bias));
    return dependence;
}

base::Result<Dependence> linearLayer(const ElementCall& call) {
    const std::size_t weight = call.context.position("weight"), bias = call.context.position("bias");
    const Shape &x = call.context.in("input").shape(), &w = call.context.in("weight").shape();
    if (x.rank() < 1 || w.rank() < 1) return opError("a product of scalars");
    const std::int64_t count = x[x.rank() - 1];
    const bool isVector = w.rank() == 1;
    const std::int64_t row = isVector ? 0 : call.at.back();
    const std::int64_t line = isVector ? call.element : call.element / std::max<std::int64_t>(w[0], 1);
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    SONDE_TRY(addProducts(dependence, call, {kOperand, line * count, 1}, {weight, row * count, 1}, count));
    if (!call.context.has("bias")) return dependence;
    if (row >= call.context.in("bias").numel()) return opError("the bias does not match the weights");
    addElement(dependence, dependence.part("bias"), call, bias, row);
    dependence.formula += " + bias";
    return dependence;
}

base::Result<Dependence> bilinearForm(const ElementCall& call) {
    const std::size_t left = positionOf(call, {"input1"}), right = positionOf(call, {"input2"}),
                      weight = call.context.position("weight"), bias = call.context.position("bias");
    if (left == kNoOperand || right == kNoOperand) return opError("a factor is missing");
    const Tensor& w = call.context.in(weight);
    if (w.rank() != 3 || call.at.empty()) return opError("the weights do not match the result");
    const std::int64_t rows = w.dim(1), columns = w.dim(2), form = call.at.back(),
                       line = call.element / std::max<std::int64_t>(w.dim(0), 1);
    if ((line + 1) * rows > call.context.in(left).numel() || (line + 1) * columns > call.context.in(right).numel())
        return opError("the weights do not match the inputs");
    SONDE_TRY(checkTerms(rows * columns));
    Dependence dependence;
    dependence.formula = "sum(w * x * y)";
    const std::uint32_t x = dependence.listPart("x", "w"), y = dependence.listPart("y");
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            addElement(dependence, x, call, left, line * rows + i);
            DependenceTerm& term = dependence.terms.back();
            term.weightInput = static_cast<std::uint32_t>(weight);
            term.weightElement = (form * rows + i) * columns + j;
            term.weight = w.toDouble(term.weightElement);
            addElement(dependence, y, call, right, line * columns + j);
        }
    if (!call.context.has("bias")) return dependence;
    if (form >= call.context.in(bias).numel()) return opError("the bias does not match the weights");
    addElement(dependence, dependence.part("bias"), call, bias, form);
    dependence.formula += " + bias";
    return dependence;
}

void weighDifferences(Dependence& dependence, double norm, double p) {
    std::vector<DependenceTerm>& terms = dependence.terms;
    bool isChosen = false;
    for (std::size_t i = 0; i + 1 < terms.size(); i += 2) {
        DependenceTerm &x = terms[i], &y = terms[i + 1];
        x.pair = y.pair = static_cast<std::uint32_t>(i / 2 + 1);
        const double apart = x.value - y.value, size = std::fabs(apart);
        if (p == 0) continue;
        double slope = norm > 0 ? std::pow(size / norm, p - 1) : 0;
        if (std::isinf(p)) slope = !isChosen && size >= norm ? 1 : 0, isChosen = isChosen || slope > 0;
        x.weight = apart < 0 ? -slope : apart > 0 ? slope : 0;
        y.weight = -x.weight;
    }
}

base::Result<Dependence> distance(const ElementCall& call) {
    const Shape &a = call.context.in(kLeft).shape(), &b = call.context.in(kRight).shape();
    if (a.rank() < 2 || b.rank() < 2 || call.at.size() < 2) return opError("distances are of rows of matrices");
    double p = 2;
    if (const Value* const given = argumentOf(call, "p")) {
        SONDE_ASSIGN(p, numberOf(*given));
    }
    const std::int64_t size = a[a.rank() - 1];
    if (size == 0) return constantElement(0);
    const std::vector<std::int64_t> batch(call.at.begin(), call.at.end() - 2);
    const std::int64_t left = elementOf(a, batch, call.at[call.at.size() - 2], 0),
                       right = elementOf(b, batch, call.at.back(), 0);
    if (left < 0 || right < 0 || left + size > call.context.in(kLeft).numel() ||
        right + size > call.context.in(kRight).numel())
        return opError("the rows do not match the result");
    SONDE_TRY(checkTerms(2 * size));
    Dependence dependence;
    dependence.formula = p == 0          ? "sum(x != y)"
                         : p == 1        ? "sum(abs(x - y))"
                         : p == 2        ? "sqrt(sum((x - y) * (x - y)))"
                         : std::isinf(p) ? "max(abs(x - y))"
                                         : "sum(abs(x - y) ** p) ** (1 / p)";
    dependence.number("p", p);
    const std::uint32_t x = dependence.listPart("x"), y = dependence.listPart("y");
    for (std::int64_t k = 0; k < size; ++k) {
        addElement(dependence, x, call, kLeft, left + k);
        addElement(dependence, y, call, kRight, right + k);
    }
    const bool isSquare = call.context.attributes().getString("metric", "") == "sqeuclidean";
    if (isSquare) dependence.formula = "sum((x - y) * (x - y))";
    weighDifferences(dependence, isSquare ? 1 : call.result.toDouble(call.element), p);
    return dependence;
}

namespace {

/// The operands of an einsum: of ONNX the inputs, of ATen a list behind the equation.
struct EinsumCall {
    std::string text;
    std::vector<Tensor> operands;
    std::vector<Shape> shapes;
    std::optional<std::size_t> listInput;

    explicit EinsumCall(const ElementCall& call) : text(call.context.attributes().getString("equation", "")) {
        if (const Value* written = argumentOf(call, "equation")) {
            text = written->toString();
            listInput = call.context.position("tensors");
            for (const Value& item : call.context.value("tensors").items())
                if (item.isTensor()) operands.push_back(item.tensor());
        } else {
            for (std::size_t i = 0; i < call.context.inputCount(); ++i) operands.push_back(call.context.in(i));
        }
        for (const Tensor& operand : operands) shapes.push_back(operand.shape());
    }

    std::uint32_t inputOf(std::size_t operand) const { return static_cast<std::uint32_t>(listInput.value_or(operand)); }
    std::uint32_t memberOf(std::size_t operand) const { return listInput ? static_cast<std::uint32_t>(operand) : 0; }
};

/// One product of an einsum: of two operands the one weighs the other; of more each has a term, weighed by the others.
void addProduct(Dependence& dependence, const EinsumCall& einsum, const std::vector<std::int64_t>& elements,
                std::uint32_t pair) {
    const std::size_t count = elements.size();
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(einsum.operands[i].toDouble(elements[i]));
    for (std::size_t i = 0; i < (count > 2 ? count : 1); ++i) {
        DependenceTerm term;
        term.part = static_cast<std::uint32_t>(i);
        term.input = einsum.inputOf(i);
        term.member = einsum.memberOf(i);
        term.element = elements[i];
        term.value = values[i];
        for (std::size_t other = 0; other < count; ++other)
            if (other != i) term.weight *= values[other];
        if (count == 2) {
            term.weightInput = einsum.inputOf(1);
            term.weightMember = einsum.memberOf(1);
            term.weightElement = elements[1];
        }
        if (count > 2) term.pair = pair;
        dependence.terms.push_back(term);
    }
}

/// "sum(w * x)"; of more than two operands "sum(x0 * x1 * x2)".
void addEinsumFormula(Dependence& dependence, std::size_t operands) {
    if (operands <= 2) {
        dependence.formula = "sum(w * x)";
        dependence.listPart("x", "w");
        return;
    }
    for (std::size_t i = 0; i < operands; ++i) {
        const std::string name = "x" + std::to_string(i);
        dependence.listPart(name);
        dependence.formula += (i == 0 ? "sum(" : " * ") + name;
    }
    dependence.formula += ')';
}

}  // namespace

base::Result<Dependence> einsteinSum(const ElementCall& call) {
    const EinsumCall einsum(call);
    const std::vector<Shape>& shapes = einsum.shapes;
    SONDE_ASSIGN(const EinsumEquation equation, parseEinsum(einsum.text, shapes));
    std::map<char, std::int64_t> sizes, at;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        for (std::size_t d = 0; d < shapes[i].rank(); ++d)
            sizes[equation.inputs[i][d]] = std::max(sizes[equation.inputs[i][d]], shapes[i][d]);
    for (std::size_t d = 0; d < equation.output.size() && d < call.at.size(); ++d) at[equation.output[d]] = call.at[d];
    std::string summed;
    Shape summedShape;
    for (const auto& [label, size] : sizes) {
        if (at.contains(label)) continue;
        summed += label;
        summedShape.push_back(size);
    }
    const Region region = Region::all(summedShape);
    SONDE_TRY(checkTerms(region.count() * (shapes.size() > 2 ? static_cast<std::int64_t>(shapes.size()) : 1)));
    Dependence dependence;
    addEinsumFormula(dependence, shapes.size());
    std::uint32_t product = 0;
    forEach(region, summedShape, [&](const std::vector<std::int64_t>& index, std::int64_t) {
        for (std::size_t i = 0; i < summed.size(); ++i) at[summed[i]] = index[i];
        std::vector<std::int64_t> elements(shapes.size());
        for (std::size_t i = 0; i < shapes.size(); ++i)
            for (std::size_t d = 0; d < shapes[i].rank(); ++d)
                elements[i] = elements[i] * shapes[i][d] + (shapes[i][d] == 1 ? 0 : at[equation.inputs[i][d]]);
        addProduct(dependence, einsum, elements, ++product);
    });
    return dependence;
}

}  // namespace sonde::ops::dependence
