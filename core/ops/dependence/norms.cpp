// Norms of elements along axes, of differences, and what is divided by them.

#include <algorithm>
#include <cmath>

#include "core/ops/dependence/products.h"
#include "core/ops/dependence/reductions.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

using Index = std::vector<std::int64_t>;

/// The norm of what `of` stands for in the formula.
std::string normText(double p, const std::string& of) {
    if (p == 0) return "sum(" + of + " != 0)";
    if (p == 1) return "sum(abs(" + of + "))";
    if (p == 2) return "sqrt(sum((" + of + ") ** 2))";
    if (std::isinf(p)) return (p > 0 ? "max(abs(" : "min(abs(") + of + "))";
    return "sum(abs(" + of + ") ** p) ** (1 / p)";
}

/// Elements count by the slope of the norm: a norm is the sum of its arguments by their slopes.
void weighBySlopes(Dependence& dependence, std::uint32_t part, double p) {
    std::vector<double> values;
    for (const DependenceTerm& term : dependence.terms)
        if (term.part == part) values.push_back(std::fabs(term.value));
    if (values.empty() || p == 0) return;
    const bool isExtreme = std::isinf(p);
    const auto chosen =
        isExtreme ? (p > 0 ? std::ranges::max_element(values) : std::ranges::min_element(values)) : values.begin();
    double norm = 0;
    for (const double value : values) norm += isExtreme ? 0 : std::pow(value, p);
    norm = isExtreme ? 1 : std::pow(norm, 1 / p);
    auto value = values.begin();
    for (DependenceTerm& term : dependence.terms) {
        if (term.part != part) continue;
        const double slope = isExtreme ? (value == chosen ? 1 : 0) : norm > 0 ? std::pow(*value / norm, p - 1) : 0;
        term.weight = term.value < 0 ? -slope : slope;
        ++value;
    }
}

/// Which norm: a number, a name, or what is left out.
base::Result<double> powerOf(const ElementCall& call) {
    for (const std::string_view name : {"ord", "p", "pow"}) {
        const Value* given = argumentOf(call, name);
        if (!given) continue;
        if (given->kind() != tensor::ValueKind::String) return numberOf(*given);
        if (given->toString() != "fro") return opError("the " + given->toString() + " norm has no formula");
    }
    return 2.0;
}

}  // namespace

base::Result<Dependence> normed(const ElementCall& call) {
    const Tensor& x = call.context.in(kOperand);
    if (tensor::isComplex(x.dtype())) return opError("elements of " + x.typeText() + " are no numbers");
    const bool isOfMatrix = call.text == "matrix";  // where a number is a norm of the matrix, not of its elements
    const Value* const named = argumentOf(call, "ord");
    std::vector<std::size_t> axes;
    if (call.text == "except") {
        SONDE_ASSIGN(const std::int64_t dim, intOf(call.context.value("dim")));
        for (std::size_t d = 0; d < x.rank(); ++d)
            if (dim == -1 || d != static_cast<std::size_t>(dim)) axes.push_back(d);
    } else {
        SONDE_ASSIGN(axes, reducedAxes(call, x.rank()));
    }
    if (isOfMatrix && named && named->isNumber() && axes.size() == 2)
        return opError("norms of matrices by singular values or sums have no formula");
    SONDE_ASSIGN(const double p, powerOf(call));
    SONDE_ASSIGN(const Region region, reducedRegion(call, x.shape(), axes));
    Dependence dependence;
    dependence.formula = normText(p, "x");
    dependence.number("p", p);
    const std::uint32_t part = dependence.listPart("x");
    SONDE_TRY(addRegion(dependence, part, call, kOperand, region));
    weighBySlopes(dependence, part, p);
    return dependence;
}

base::Result<Dependence> differenceNorm(const ElementCall& call) {
    const Tensor &a = call.context.in(kLeft), &b = call.context.in(kRight);
    SONDE_ASSIGN(const Shape shape, broadcast(a.shape(), b.shape()));
    SONDE_ASSIGN(const double p, powerOf(call));
    double epsilon = 0;
    Region region = Region::all(shape);
    if (const Value* given = argumentOf(call, "eps")) {  // of rows
        SONDE_ASSIGN(epsilon, numberOf(*given));
        if (shape.rank() == 0) return opError("the vectors have no axis");
        for (std::size_t d = 0; d + 1 < shape.rank(); ++d) region.begin[d] = call.at[d], region.end[d] = call.at[d] + 1;
    }
    SONDE_TRY(checkTerms(2 * region.count()));
    Dependence dependence;
    dependence.formula = normText(p, epsilon == 0 ? "x - y" : "x - y + epsilon");
    dependence.number("p", p);
    dependence.number("epsilon", epsilon);
    const std::uint32_t x = dependence.listPart("x"), y = dependence.listPart("y");
    forEach(region, shape, [&](const Index& at, std::int64_t) {
        addElement(dependence, x, call, kLeft, broadcastElement(at, a.shape()));
        addElement(dependence, y, call, kRight, broadcastElement(at, b.shape()));
    });
    weighDifferences(dependence, call.result.toDouble(call.element), p);
    return dependence;
}

base::Result<Dependence> cosine(const ElementCall& call) {
    const Tensor &a = call.context.in(kLeft), &b = call.context.in(kRight);
    SONDE_ASSIGN(const Shape shape, broadcast(a.shape(), b.shape()));
    SONDE_ASSIGN(const std::int64_t given, intOf(call.context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(given, shape.rank()));
    if (call.at.size() + 1 != shape.rank()) return opError("the result does not match the vectors");
    SONDE_TRY(checkTerms(2 * shape[axis]));
    Index at = call.at;
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), 0);
    Dependence dependence;
    dependence.formula = "sum(x * y) / (maximum(sqrt(sum(x * x)), epsilon) * maximum(sqrt(sum(y * y)), epsilon))";
    const std::uint32_t x = dependence.listPart("x"), y = dependence.listPart("y");
    for (; at[axis] < shape[axis]; ++at[axis]) {
        addElement(dependence, x, call, kLeft, broadcastElement(at, a.shape()));
        addElement(dependence, y, call, kRight, broadcastElement(at, b.shape()));
        const auto pair = static_cast<std::uint32_t>(at[axis] + 1);
        DependenceTerm &left = dependence.terms[dependence.terms.size() - 2], &right = dependence.terms.back();
        left.pair = right.pair = pair;
        left.weight = right.value / 2, right.weight = left.value / 2;
    }
    dependence.number("epsilon", call.context.value("eps").number());
    return dependence;
}

base::Result<Dependence> heldBelowNorm(const ElementCall& call) {
    const Shape& shape = call.context.in(kOperand).shape();
    SONDE_ASSIGN(const std::int64_t dim, intOf(call.context.value("dim")));
    SONDE_ASSIGN(const std::size_t kept, axisOf(dim, shape.rank()));
    SONDE_ASSIGN(const double p, powerOf(call));
    Region slice = Region::all(shape);
    slice.begin[kept] = call.at[kept], slice.end[kept] = call.at[kept] + 1;
    Dependence dependence;
    const std::string norm = normText(p, "row");
    dependence.formula = "where(" + norm + " > maxnorm, x * maxnorm / (" + norm + " + 1e-07), x)";
    addElement(dependence, dependence.part("x"), call, kOperand, call.element);
    const std::uint32_t row = dependence.listPart("row");
    SONDE_TRY(addRegion(dependence, row, call, kOperand, slice));
    weighBySlopes(dependence, row, p);
    dependence.number("p", p);
    dependence.number("maxnorm", call.context.value(call.op.position("maxnorm")).number());
    return dependence;
}

base::Result<Dependence> weightNormed(const ElementCall& call) {
    const Tensor &v = call.context.in(kLeft), &g = call.context.in(kRight);
    SONDE_ASSIGN(const std::int64_t dim, intOf(call.context.value("dim")));
    Region slice = Region::all(v.shape());
    if (dim >= 0 && static_cast<std::size_t>(dim) < v.rank())
        slice.begin[static_cast<std::size_t>(dim)] = call.at[static_cast<std::size_t>(dim)],
        slice.end[static_cast<std::size_t>(dim)] = call.at[static_cast<std::size_t>(dim)] + 1;
    const std::int64_t length = broadcastElement(call.at, g.shape());
    if (length < 0) return opError("the lengths do not match the directions");
    Dependence dependence;
    dependence.formula = "g * x / " + normText(2, "row");
    addElement(dependence, dependence.part("x"), call, kLeft, call.element);
    addElement(dependence, dependence.part("g"), call, kRight, length);
    const std::uint32_t row = dependence.listPart("row");
    SONDE_TRY(addRegion(dependence, row, call, kLeft, slice));
    weighBySlopes(dependence, row, 2);
    return dependence;
}

}  // namespace sonde::ops::dependence
