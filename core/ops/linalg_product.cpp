// Products of vectors and matrices: powers, exponentials, chains, Vandermonde's matrices.

#include <algorithm>
#include <limits>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

namespace {

EagerResult matrixExponential(Eager& e) {
    const Tensor a = e.tensor("self");
    requireSquareFloating(e, a, "linalg.matrix_exp");
    Batch matrices = Batch::of(e, a);
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices, [&](std::int64_t i) { exponential(matrices.at<T>(i)); });
    });
    return matrices.tensor(e);
}

/// A·B of matrices of one shape's batch; complex ones here, others by matmul.
Tensor product(Eager& e, const Tensor& a, const Tensor& b) {
    if (!tensor::isComplex(a.dtype())) return e("matmul", a, b);
    Batch left = Batch::of(e, a), right = Batch::of(e, b);
    Batch result = Batch::zeros(e, a.dtype(), batchOf(a.shape()), left.rows(), right.cols());
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, result, [&](std::int64_t i) { multiply<T>(left.at<T>(i), right.at<T>(i), result.at<T>(i)); });
    });
    return result.tensor(e);
}

/// Ones on the diagonals of matrices of any dtype.
Tensor identities(Eager& e, const Tensor& like) {
    const std::int64_t n = like.dim(like.rank() - 1);
    const Tensor one = e.as(Batch::zeros(e, DType::Float32, {}, n, n, true).tensor(e), like.dtype());
    return e.get(e.get(one.expanded(like.shape())).contiguous());
}

/// Aⁿ by repeated squaring; of the inverse for negative n.
EagerResult matrixPower(Eager& e) {
    Tensor x = e.tensor("self");
    const std::int64_t n = e.integer("n");
    requireSquare(e, x, "linalg.matrix_power");
    if (n < 0) x = e("linalg_inv", x);
    Tensor result = identities(e, x);
    for (std::uint64_t left = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n); left > 0;
         left /= 2) {
        if (left % 2 == 1) result = product(e, result, x);
        if (left > 1) x = product(e, x, x);
    }
    return result;
}

/// Where to cut a chain of matrices of sizes[i] × sizes[i+1] for the fewest multiplications (Cormen et al.,
/// Introduction to Algorithms, "Matrix-chain multiplication"): cut[i][j] ends the left factor of matrices i to j.
std::vector<std::vector<std::size_t>> bestCuts(const std::vector<double>& sizes) {
    const std::size_t n = sizes.size() - 1;
    std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
    std::vector<std::vector<std::size_t>> cut(n, std::vector<std::size_t>(n, 0));
    for (std::size_t length = 1; length < n; ++length) {
        for (std::size_t i = 0; i + length < n; ++i) {
            const std::size_t j = i + length;
            cost[i][j] = std::numeric_limits<double>::infinity();
            for (std::size_t k = i; k < j; ++k) {
                const double sum = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
                if (sum < cost[i][j]) cost[i][j] = sum, cut[i][j] = k;
            }
        }
    }
    return cut;
}

/// The product of matrices in the order of the fewest multiplications; long lists from left to right.
Tensor chain(Eager& e, const std::vector<Tensor>& matrices) {
    constexpr std::size_t kMaxPlanned = 64;
    if (matrices.size() > kMaxPlanned) {
        Tensor result = matrices.front();
        for (std::size_t i = 1; i < matrices.size(); ++i) result = product(e, result, matrices[i]);
        return result;
    }
    std::vector<double> sizes{static_cast<double>(matrices.front().dim(0))};
    for (const Tensor& matrix : matrices) sizes.push_back(static_cast<double>(matrix.dim(1)));
    const auto cuts = bestCuts(sizes);
    const auto ofRange = [&](const auto& self, std::size_t i, std::size_t j) -> Tensor {
        return i == j ? matrices[i] : product(e, self(self, i, cuts[i][j]), self(self, cuts[i][j] + 1, j));
    };
    return ofRange(ofRange, 0, matrices.size() - 1);
}

/// The first and the last may be vectors; everything between is a matrix.
void requireChain(Eager& e, const std::vector<Tensor>& list) {
    const std::string api = "multi_dot(): ";
    if (list.size() < 2) e.fail(api + "expected at least 2 tensors but got " + std::to_string(list.size()));
    for (std::size_t i = 0; i < list.size(); ++i) {
        const bool isEnd = i == 0 || i + 1 == list.size();
        const std::string rank = std::to_string(list[i].rank()) + "D";
        if (isEnd && list[i].rank() != 1 && list[i].rank() != 2) {
            e.fail(api + "the " + (i == 0 ? "first" : "last") + " tensor must be 1D or 2D but got " + rank);
        }
        if (!isEnd && list[i].rank() != 2) e.fail(api + "tensor " + std::to_string(i) + " must be 2D but got " + rank);
        if (list[i].dtype() != list[0].dtype()) {
            e.fail(api + "all tensors must have be the same dtype but tensor 0 is " +
                   std::string(tensor::name(list[0].dtype())) + " and tensor " + std::to_string(i) + " " +
                   std::string(tensor::name(list[i].dtype())));
        }
    }
}

EagerResult multiDot(Eager& e) {
    std::vector<Tensor> list = e.tensors({"tensors", "matrices"});
    requireChain(e, list);
    Shape shape;
    if (list.front().rank() == 2) shape.push_back(list.front().dim(0));
    else list.front() = list.front().unsqueezed(0);
    if (list.back().rank() == 2) shape.push_back(list.back().dim(1));
    else list.back() = list.back().unsqueezed(1);
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        if (list[i].dim(1) == list[i + 1].dim(0)) continue;
        e.fail("multi_dot(): tensors " + std::to_string(i) + " and " + std::to_string(i + 1) + " with shapes " +
               sizesText(list[i].shape()) + " and " + sizesText(list[i + 1].shape()) + " cannot be multiplied");
    }
    return e.reshape(chain(e, list), shape);
}

/// The older form: matrices alone, and one is a chain too.
EagerResult chainMatmul(Eager& e) {
    const std::vector<Tensor> list = e.tensors("matrices");
    if (list.empty()) e.fail("chain_matmul(): Expected one or more matrices");
    for (const Tensor& matrix : list) {
        if (matrix.rank() != 2)
            e.fail("Tensor dimension is " + std::to_string(matrix.rank()) + ", expected 2 instead.");
    }
    return list.size() == 1 ? EagerResult(list.front()) : multiDot(e);
}

/// Powers 0 to count−1 of each element along a new last dimension, or count−1 to 0. Integers wrap, as in torch.
Tensor powers(Eager& e, const Tensor& x, std::int64_t count, bool increasing) {
    Tensor result = zeros(e, x.dtype(), x.shape(), {count});
    const auto fill = [&](auto tag) {
        using T = typename decltype(tag)::type;
        using Work = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>;
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            T* row = itemsOf<T>(result, i, count);
            Work power(1);
            for (std::int64_t k = 0; k < count; ++k) {
                row[increasing ? k : count - 1 - k] = static_cast<T>(power);
                power *= static_cast<Work>(x.data<T>()[i]);
            }
        }
    };
    if (x.dtype() == DType::Int64) fill(tensor::TypeTag<std::int64_t>{});
    else dispatch(x.dtype(), fill);
    return result;
}

/// linalg.vander (x [..., n], N): [..., n, N], increasing.
EagerResult vander(Eager& e) {
    const Tensor x = e.tensor("x");
    const bool isInteger = tensor::isInteger(x.dtype());
    const bool isNarrow = tensor::isFloating(x.dtype()) && x.dtype() != DType::Float32 && x.dtype() != DType::Float64;
    if (x.dtype() == DType::Bool || isNarrow) {
        e.fail("linalg.vander supports floating point, complex, and integer tensors, but got " +
               scalarTypeName(x.dtype()));
    }
    const std::int64_t count = e.has("N") ? e.integer("N") : x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
    if (count <= 1) e.fail("N must be greater than 1.");
    return powers(e, isInteger ? e.as(x, DType::Int64) : x, count, true);
}

/// torch.vander (x [n], N, increasing): [n, N].
EagerResult vanderOlder(Eager& e) {
    const Tensor x = e.tensor("x");
    if (x.rank() != 1) e.fail("x must be a one-dimensional tensor.");
    const std::int64_t count = e.has("N") ? e.integer("N") : x.dim(0);
    if (count < 0) e.fail("N must be non-negative.");
    const bool isWhole = tensor::isInteger(x.dtype()) || x.dtype() == DType::Bool;
    const bool isNarrow = tensor::isFloating(x.dtype()) && x.dtype() != DType::Float32 && x.dtype() != DType::Float64;
    const Tensor result = powers(e,
                                 e.as(x, isWhole    ? DType::Int64
                                         : isNarrow ? DType::Float32
                                                    : x.dtype()),
                                 count, e.flag("increasing"));
    return isNarrow ? e.as(result, x.dtype()) : result;
}

Tensor conjugated(Eager& e, const Tensor& x) { return tensor::isComplex(x.dtype()) ? e("conj_physical", x) : x; }

/// Σ conj(x)·y along a dimension.
EagerResult vectorDot(Eager& e) {
    const Tensor x = e.tensor("x"), y = e.tensor("y");
    if (!tensor::isFloating(x.dtype())) requireFloating(e, x, "linalg.vecdot");
    requireSameDType(e, x, y, "linalg.vecdot", "x", "y");
    return e("sum.dim_IntList", e("mul.Tensor", conjugated(e, x), y), std::vector<std::int64_t>{e.integer("dim")});
}

EagerResult conjugateDot(Eager& e) {
    if (!tensor::isComplex(e.tensor("self").dtype())) return e("dot", e.tensor("self"), e.tensor("other"));
    if (e.tensor("self").rank() != 1 || e.tensor("self").shape() != e.tensor("other").shape()) {
        e.fail("inconsistent tensor size, expected vectors of one size, but got " + e.tensor("self").typeText() +
               " and " + e.tensor("other").typeText());
    }
    requireSameDType(e, e.tensor("self"), e.tensor("other"), "vdot", "self", "other");
    return e("sum", e("mul.Tensor", conjugated(e, e.tensor("self")), e.tensor("other")));
}

/// a × b along a dimension of 3.
EagerResult cross(Eager& e, std::int64_t dim) {
    if (e.tensor("self").rank() != e.tensor("other").rank())
        e.fail("linalg.cross: inputs must have the same number of dimensions.");
    const std::size_t axis = e.axisOf(dim, e.tensor("self").rank());
    const std::int64_t one = e.tensor("self").dim(axis), other = e.tensor("other").dim(axis);
    if (one != 3 || other != 3) {
        e.fail("linalg.cross: inputs dimension " + std::to_string(dim) + " must have length 3. Got " +
               std::to_string(one) + " and " + std::to_string(other));
    }
    const Shape shape = e.get(broadcast(e.tensor("self").shape(), e.tensor("other").shape()));
    const Tensor a = e.get(e.tensor("self").expanded(shape)), b = e.get(e.tensor("other").expanded(shape));
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t j = (i + 1) % 3, k = (i + 2) % 3;
        const Tensor first = e("mul.Tensor", a.selected(axis, j), b.selected(axis, k));
        parts.push_back(e("sub.Tensor", first, e("mul.Tensor", a.selected(axis, k), b.selected(axis, j))));
    }
    return e("stack", parts, axis);
}

/// The older form: without a dimension the first one of 3.
EagerResult crossOlder(Eager& e) {
    if (e.has("dim")) return cross(e, e.integer("dim"));
    const Shape shape = e.tensor("self").shape();
    const auto found = std::ranges::find(shape, 3);
    if (found == shape.end()) e.fail("no dimension of size 3 in input");
    return cross(e, found - shape.begin());
}

// Types.

base::Result<void> inferCross(InferContext& context) {
    const auto &a = context.in("self").shape, &b = context.in("other").shape;
    std::optional<Dims> dims;
    if (a && b) {
        SONDE_ASSIGN(dims, broadcastDims(*a, *b));
    }
    setType(context, 0,
            context.in("self").dtype == context.in("other").dtype ? context.in("self").dtype : DType::Undefined,
            std::move(dims));
    return {};
}

base::Result<void> inferVander(InferContext& context, bool older) {
    const TypeInfo& x = context.in("x");
    const DType dtype = tensor::isInteger(x.dtype) || (older && x.dtype == DType::Bool) ? DType::Int64 : x.dtype;
    std::optional<Dims> dims = x.shape;
    if (dims) {
        const auto count = context.elements("N");
        const bool isUsual = context.in("N").kind == ValueKind::None;
        dims->push_back(isUsual && !dims->empty()     ? dims->back()
                        : count && count->size() == 1 ? (*count)[0].dim()
                                                      : Dim{});
    }
    setType(context, 0, dtype, std::move(dims));
    return {};
}

/// Rows of the first and columns of the last matrix of a list.
base::Result<void> inferChain(InferContext& context) {
    const auto& list = context.in({"tensors", "matrices"}).elements;
    std::optional<Dims> dims;
    const bool known = list.size() >= 2 && list.front().shape && list.back().shape && !list.front().shape->empty() &&
                       !list.back().shape->empty();
    if (known) {
        dims.emplace();
        if (list.front().shape->size() == 2) dims->push_back(list.front().shape->front());
        if (list.back().shape->size() == 2) dims->push_back(list.back().shape->back());
    }
    setType(context, 0, list.empty() ? DType::Undefined : list.front().dtype, std::move(dims));
    return {};
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_product(Registry& registry) {
    using namespace linalg;
    for (std::string_view schema : {"linalg_matrix_exp(Tensor self) -> Tensor", "matrix_exp(Tensor self) -> Tensor"}) {
        registry.add(eagerRow(schema, "exponentials of matrices", kLayer, matrixExponential, inferSame));
    }
    for (std::string_view schema :
         {"linalg_matrix_power(Tensor self, int n) -> Tensor", "matrix_power(Tensor self, int n) -> Tensor"}) {
        registry.add(eagerRow(schema, "powers of matrices", kLayer, matrixPower, inferSame));
    }
    registry.add(
        eagerRow("linalg_multi_dot(Tensor[] tensors) -> Tensor", "product of matrices", kLayer, multiDot, inferChain));
    registry.add(
        eagerRow("chain_matmul(Tensor[] matrices) -> Tensor", "product of matrices", kLayer, chainMatmul, inferChain));
    registry.add(eagerRow("linalg_vander(Tensor x, *, int? N=None) -> Tensor", "powers of elements, increasing", kLayer,
                          vander, [](InferContext& context) { return inferVander(context, false); }));
    registry.add(eagerRow("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
                          "powers of elements, decreasing", kLayer, vanderOlder,
                          [](InferContext& context) { return inferVander(context, true); }));
    registry.add(eagerRow("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "Σ conj(x)·y along a dimension",
                          kLayer, vectorDot));
    registry.add(eagerRow("vdot(Tensor self, Tensor other) -> Tensor", "Σ conj(x)·y", kLayer, conjugateDot));
    registry.add(eagerRow("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", "cross product", kLayer,
                          crossOlder, inferCross));
    registry.add(eagerRow(
        "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", "cross product", kLayer,
        [](Eager& e) { return cross(e, e.integer("dim")); }, inferCross));
    explain("aten", "vdot linalg_vecdot", dependence::dotProduct);
    explain("aten", "cross linalg_cross", dependence::crossProduct);
    explain("aten", "linalg_multi_dot chain_matmul", dependence::chainedProduct);
    explain("aten", "linalg_matrix_power matrix_power", dependence::matrixPower);
    explain("aten", "linalg_matrix_exp matrix_exp", dependence::matrixExponential);
}

}  // namespace sonde::ops
