// Products of vectors and matrices whose operands lie in other ways than those of a matrix product, determinants, and
// solutions of linear systems.

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/ops/dependence/products.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

using Index = std::vector<std::int64_t>;

std::size_t firstOf(const ElementCall& call, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (argumentOf(call, name)) return call.op.position(Name(name));
    return kNoOperand;
}

/// The axes of an operand that are not summed over, in order.
Index freeAxes(std::size_t rank, const std::vector<std::size_t>& summed) {
    Index free;
    for (std::size_t d = 0; d < rank; ++d)
        if (std::ranges::find(summed, d) == summed.end()) free.push_back(static_cast<std::int64_t>(d));
    return free;
}

/// Two operands, and the axes that are summed over, pair by pair; the result has the other axes of the left one, then
/// those of the right one.
struct Contraction {
    std::size_t left = 0, right = 1;
    std::vector<std::size_t> leftAxes, rightAxes;
};

base::Result<void> addContraction(Dependence& dependence, const ElementCall& call, const Contraction& of) {
    const Shape &a = call.context.in(of.left).shape(), &b = call.context.in(of.right).shape();
    const Index leftFree = freeAxes(a.rank(), of.leftAxes), rightFree = freeAxes(b.rank(), of.rightAxes);
    if (leftFree.size() + rightFree.size() != call.at.size() || of.leftAxes.size() != of.rightAxes.size())
        return opError("the result does not match the axes");
    Index left(a.rank(), 0), right(b.rank(), 0);
    for (std::size_t i = 0; i < leftFree.size(); ++i) left[static_cast<std::size_t>(leftFree[i])] = call.at[i];
    for (std::size_t i = 0; i < rightFree.size(); ++i)
        right[static_cast<std::size_t>(rightFree[i])] = call.at[leftFree.size() + i];
    Shape summed;
    for (std::size_t i = 0; i < of.leftAxes.size(); ++i)
        summed.push_back(std::max(a[of.leftAxes[i]], b[of.rightAxes[i]]));
    SONDE_TRY(checkTerms(summed.numel()));
    std::vector<ElementPair> pairs;
    forEach(Region::all(summed), summed, [&](const Index& at, std::int64_t) {
        for (std::size_t i = 0; i < at.size(); ++i) {
            left[of.leftAxes[i]] = a[of.leftAxes[i]] == 1 ? 0 : at[i];
            right[of.rightAxes[i]] = b[of.rightAxes[i]] == 1 ? 0 : at[i];
        }
        pairs.push_back({elementAt(left, a), elementAt(right, b)});
    });
    return addPairs(dependence, call, of.left, of.right, pairs);
}

}  // namespace

base::Result<Dependence> contracted(const ElementCall& call) {
    Contraction of;
    of.left = firstOf(call, {"vec1", "batch1", "self"}), of.right = firstOf(call, {"vec2", "batch2", "other"});
    if (of.left == kNoOperand || of.right == kNoOperand) return opError("a factor is missing");
    const std::size_t a = call.context.in(of.left).rank(), b = call.context.in(of.right).rank();
    if (call.text == "inner") {
        if (a == 0 || b == 0) return elementWiseAs(call, "x * y");
        of.leftAxes = {a - 1}, of.rightAxes = {b - 1};
    } else if (call.text == "batches") {
        of.leftAxes = {0, 2}, of.rightAxes = {0, 1};
    } else if (call.text == "dims") {
        SONDE_ASSIGN(const Index left, intsOf(call.context.value(call.op.position("dims_self"))));
        SONDE_ASSIGN(const Index right, intsOf(call.context.value(call.op.position("dims_other"))));
        SONDE_ASSIGN(of.leftAxes, axesOf(left, a));
        SONDE_ASSIGN(of.rightAxes, axesOf(right, b));
    }
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    SONDE_TRY(addContraction(dependence, call, of));
    if (argumentOf(call, "beta")) SONDE_TRY(addScaledSum(dependence, call, call.op.position("self")));
    return dependence;
}

base::Result<Dependence> dotProduct(const ElementCall& call) {
    const Tensor &a = call.context.in(kLeft), &b = call.context.in(kRight);
    SONDE_ASSIGN(const Shape shape, broadcast(a.shape(), b.shape()));
    std::int64_t given = 0;
    if (const Value* dim = argumentOf(call, "dim")) {
        SONDE_ASSIGN(given, intOf(*dim));
    }
    SONDE_ASSIGN(const std::size_t axis, axisOf(given, shape.rank()));
    SONDE_TRY(checkTerms(shape[axis]));
    if (call.at.size() + 1 != shape.rank()) return opError("the result does not match the factors");
    Index at = call.at;
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), 0);
    std::vector<ElementPair> pairs;
    for (; at[axis] < shape[axis]; ++at[axis])
        pairs.push_back({broadcastElement(at, a.shape()), broadcastElement(at, b.shape())});
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    SONDE_TRY(addPairs(dependence, call, kLeft, kRight, pairs));
    return dependence;
}

base::Result<Dependence> chainedProduct(const ElementCall& call) {
    const tensor::ValueList& given = call.context.value(kOperand).items();
    if (given.size() < 2) return opError("there is no product of one matrix");
    // The first factor's row, weighed by what the others come to.
    SONDE_ASSIGN(Tensor rest, given.back().tensor().contiguous());
    for (std::size_t i = given.size() - 1; i-- > 1;) {
        SONDE_ASSIGN(rest, invokeAten(call.context, "matmul", {given[i], Value(rest)}));
    }
    SONDE_ASSIGN(const Tensor first, given.front().tensor().contiguous());
    const std::int64_t count = first.dim(first.rank() - 1);
    const bool isRow = first.rank() > 1, isColumn = rest.rank() > 1;
    const std::int64_t row = isRow && !call.at.empty() ? call.at.front() : 0, columns = isColumn ? rest.dim(1) : 1,
                       column = isColumn && !call.at.empty() ? call.at.back() : 0;
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    const std::uint32_t part = dependence.listPart("x", "w"), others = dependence.listPart("factor");
    const auto add = [&](std::uint32_t to, std::size_t member, const Tensor& tensor, std::int64_t element,
                         double weight) {
        DependenceTerm term;
        term.part = to, term.input = kOperand, term.member = static_cast<std::uint32_t>(member);
        term.element = element, term.value = tensor.toDouble(element), term.weight = weight;
        dependence.terms.push_back(term);
    };
    for (std::int64_t k = 0; k < count; ++k) add(part, 0, first, row * count + k, rest.toDouble(k * columns + column));
    for (std::size_t i = 1; i < given.size(); ++i) {  // they act through the weights
        SONDE_ASSIGN(const Tensor own, given[i].tensor().contiguous());
        SONDE_TRY(checkTerms(own.numel() + static_cast<std::int64_t>(dependence.terms.size())));
        for (std::int64_t k = 0; k < own.numel(); ++k) add(others, i, own, k, 0);
    }
    return dependence;
}

base::Result<Dependence> kroneckerProduct(const ElementCall& call) {
    const Shape &a = call.context.in(kLeft).shape(), &b = call.context.in(kRight).shape();
    const std::size_t rank = call.at.size();
    if (a.rank() > rank || b.rank() > rank) return opError("the result does not match the factors");
    Index left, right;
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t each = d + b.rank() >= rank ? b[d + b.rank() - rank] : 1;
        if (d + a.rank() >= rank) left.push_back(call.at[d] / each);
        if (d + b.rank() >= rank) right.push_back(call.at[d] % each);
    }
    Dependence dependence;
    dependence.formula = "x * y";
    addElement(dependence, dependence.part("x"), call, kLeft, elementAt(left, a));
    addElement(dependence, dependence.part("y"), call, kRight, elementAt(right, b));
    return dependence;
}

base::Result<Dependence> crossProduct(const ElementCall& call) {
    const Tensor &a = call.context.in(kLeft), &b = call.context.in(kRight);
    const Shape& shape = call.result.shape();
    std::size_t axis = 0;
    if (const Value* dim = argumentOf(call, "dim")) {
        SONDE_ASSIGN(const std::int64_t given, intOf(*dim));
        SONDE_ASSIGN(axis, axisOf(given, shape.rank()));
    } else {
        while (axis < shape.rank() && shape[axis] != 3) ++axis;
    }
    if (axis >= shape.rank() || shape[axis] != 3) return opError("the vectors do not have three elements");
    Dependence dependence;
    dependence.formula = "x * v - y * u";
    for (const auto& [step, x, y] : {std::tuple(1, "x", "u"), std::tuple(2, "y", "v")}) {
        Index at = call.at;
        at[axis] = (at[axis] + step) % 3;
        addElement(dependence, dependence.part(x), call, kLeft, broadcastElement(at, a.shape()));
        addElement(dependence, dependence.part(y), call, kRight, broadcastElement(at, b.shape()));
    }
    return dependence;
}

base::Result<Dependence> traced(const ElementCall& call) {
    const Shape& shape = call.context.in(kOperand).shape();
    if (shape.rank() != 2) return opError("the input is no matrix");
    Dependence dependence;
    dependence.formula = "sum(x)";
    const std::uint32_t part = dependence.listPart("x");
    for (std::int64_t i = 0; i < std::min(shape[0], shape[1]); ++i)
        addElement(dependence, part, call, kOperand, i * shape[1] + i);
    return dependence;
}

namespace {

constexpr std::int64_t kMaxDeterminant = 64;

/// By elimination with pivots, in float64.
double determinantOf(std::vector<double> m, std::int64_t n) {
    double result = 1;
    for (std::int64_t k = 0; k < n; ++k) {
        std::int64_t pivot = k;
        for (std::int64_t i = k + 1; i < n; ++i)
            if (std::fabs(m[static_cast<std::size_t>(i * n + k)]) >
                std::fabs(m[static_cast<std::size_t>(pivot * n + k)]))
                pivot = i;
        const double top = m[static_cast<std::size_t>(pivot * n + k)];
        if (top == 0) return 0;
        if (pivot != k) {
            std::swap_ranges(m.begin() + k * n, m.begin() + (k + 1) * n, m.begin() + pivot * n);
            result = -result;
        }
        result *= top;
        for (std::int64_t i = k + 1; i < n; ++i) {
            const double factor = m[static_cast<std::size_t>(i * n + k)] / top;
            for (std::int64_t j = k; j < n; ++j)
                m[static_cast<std::size_t>(i * n + j)] -= factor * m[static_cast<std::size_t>(k * n + j)];
        }
    }
    return result;
}

/// The signed determinant of a matrix without a row and a column.
double cofactorOf(const Tensor& x, std::int64_t first, std::int64_t n, std::int64_t row, std::int64_t column) {
    std::vector<double> minor;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            if (i != row && j != column) minor.push_back(x.toDouble(first + i * n + j));
    return ((row + column) % 2 == 0 ? 1 : -1) * determinantOf(std::move(minor), n - 1);
}

/// Row `at` of a square matrix with its cofactors as weights, whose sum of products is the determinant; the other
/// elements act through the cofactors.
base::Result<void> addDeterminant(Dependence& dependence, const ElementCall& call, std::int64_t first, std::int64_t n,
                                  std::int64_t at = 0) {
    if (n > kMaxDeterminant)
        return opError("there is no formula for matrices of more than " + std::to_string(kMaxDeterminant) + " rows");
    const Tensor& x = call.context.in(kOperand);
    const std::uint32_t row = dependence.listPart("x", "w");
    for (std::int64_t j = 0; j < n; ++j) {
        addElement(dependence, row, call, kOperand, first + at * n + j);
        dependence.terms.back().weight = cofactorOf(x, first, n, at, j);
    }
    const std::uint32_t others = dependence.listPart("other");
    for (std::int64_t i = 0; i < n * n; ++i) {
        if (i / n == at) continue;
        addElement(dependence, others, call, kOperand, first + i);
        dependence.terms.back().weight = 0;
    }
    return {};
}

base::Result<std::int64_t> squareSize(const Tensor& x) {
    if (x.rank() < 2 || x.dim(x.rank() - 1) != x.dim(x.rank() - 2) || tensor::isComplex(x.dtype()))
        return opError("there is no formula for " + x.typeText());
    return x.dim(x.rank() - 1);
}

}  // namespace

base::Result<Dependence> determinant(const ElementCall& call) {
    SONDE_ASSIGN(const std::int64_t n, squareSize(call.context.in(kOperand)));
    if (call.output > 1) return opError("what the matrix is taken apart into has no formula");
    if (n == 0) return constantElement(call.result.toDouble(call.element));
    Dependence dependence;
    SONDE_TRY(addDeterminant(dependence, call, call.element * n * n, n));
    dependence.formula = call.text.empty()                         ? "sum(w * x)"
                         : call.text == "sign" && call.output == 0 ? "sign(sum(w * x))"
                         : call.text == "sign"                     ? "log(abs(sum(w * x)))"
                                                                   : "log(sum(w * x))";
    return dependence;
}

base::Result<Dependence> inverted(const ElementCall& call) {
    if (call.output != 0) return opError("what tells whether it worked has no formula");
    const Tensor& x = call.context.in(kOperand);
    SONDE_ASSIGN(const std::int64_t n, squareSize(x));
    const std::int64_t first = call.element / std::max<std::int64_t>(n * n, 1) * n * n,
                       row = call.at[call.at.size() - 2], column = call.at.back();
    Dependence dependence;
    // Of the row with the number of the column all cofactors are weights, so the one of this element is.
    dependence.formula = "w[" + std::to_string(row) + "] / sum(w * x)";
    SONDE_TRY(addDeterminant(dependence, call, first, n, column));
    return dependence;
}

namespace {

/// A matrix without what a triangular one ignores.
base::Result<Tensor> asTriangle(const ElementCall& call, const Tensor& matrix) {
    const Value* const isUpper = argumentOf(call, "upper");
    if (!isUpper) return matrix;
    SONDE_ASSIGN(Tensor made, matrix.clone());
    const bool hasOnes =
        argumentOf(call, "unitriangular") && call.context.value(call.op.position("unitriangular")).number() != 0;
    const std::int64_t n = made.dim(made.rank() - 1);
    for (std::int64_t i = 0; i < made.numel(); ++i) {
        const std::int64_t row = i / n % n, column = i % n;
        double& element = made.mutableData<double>()[i];
        if (row == column && hasOnes) element = 1;
        if (isUpper->number() != 0 ? column < row : column > row) element = 0;
    }
    return made;
}

}  // namespace

base::Result<Dependence> solved(const ElementCall& call) {
    if (call.output != 0) return opError("what tells whether it worked has no formula");
    const Tensor &matrix = call.context.in(kLeft), &b = call.context.in(kRight);
    SONDE_ASSIGN(const std::int64_t n, squareSize(matrix));
    const Value* const left = argumentOf(call, "left");
    const bool isLeft = !left || left->number() != 0;
    const bool isVector = b.rank() == 1 || (b.rank() + 1 == matrix.rank() && call.result.rank() == b.rank() &&
                                            !argumentOf(call, "upper"));
    SONDE_ASSIGN(Tensor wide, matrix.cast(DType::Float64));
    SONDE_ASSIGN(wide, asTriangle(call, wide));
    SONDE_ASSIGN(const Tensor inverse, invokeAten(call.context, "linalg_inv", {Value(wide)}));
    const std::size_t own = isVector ? 1 : 2;
    const Index batch(call.at.begin(), call.at.end() - static_cast<std::ptrdiff_t>(own));
    const auto matrixOf = [&](const Shape& shape, std::size_t last) {
        return broadcastElement(batch, Shape(std::span(shape.dims()).first(shape.rank() - last)));
    };
    const std::int64_t ofMatrix = matrixOf(matrix.shape(), 2), ofRight = matrixOf(b.shape(), own);
    if (ofMatrix < 0 || ofRight < 0) return opError("the sides do not match");
    const std::int64_t columns = isVector ? 1 : b.dim(b.rank() - 1), rows = b.dim(b.rank() - own),
                       row = call.at[call.at.size() - own], column = isVector ? 0 : call.at.back();
    SONDE_TRY(checkTerms(n * (n + 1)));
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    const std::uint32_t part = dependence.listPart("x", "w"), others = dependence.listPart("matrix");
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t element = ofRight * rows * columns + (isLeft ? k * columns + column : row * columns + k);
        addElement(dependence, part, call, kRight, element);
        dependence.terms.back().weight = inverse.toDouble(ofMatrix * n * n + (isLeft ? row * n + k : k * n + column));
    }
    for (std::int64_t i = 0; i < n * n; ++i) {  // they act through the inverse
        addElement(dependence, others, call, kLeft, ofMatrix * n * n + i);
        dependence.terms.back().weight = 0;
    }
    return dependence;
}

}  // namespace sonde::ops::dependence
