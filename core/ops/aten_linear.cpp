// ATen's products of vectors and matrices, and small linear algebra.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ops/support/einsum.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

constexpr auto kLayer = Category::Layer;
using Ints = std::vector<std::int64_t>;

/// beta·c + alpha·product; c is left out entirely if beta is 0.
EagerResult scaledSum(Eager& e, const Tensor& product, std::size_t betaAt) {
    const double beta = e.number(betaAt), alpha = e.number(betaAt + 1);
    const Tensor scaled = alpha == 1 ? product : e("mul.Scalar", product, e.value(betaAt + 1));
    if (beta == 0) return e.get(e.get(scaled.expanded(e.get(broadcast(e.at(0).shape(), scaled.shape())))).contiguous());
    return e("add.Tensor", beta == 1 ? e.at(0) : e("mul.Scalar", e.at(0), e.value(betaAt)), scaled);
}

Tensor outer(Eager& e, const Tensor& a, const Tensor& b) {
    if (a.rank() != 1 || b.rank() != 1) e.fail("vectors are wanted, not " + a.typeText() + " and " + b.typeText());
    return e("mul.Tensor", a.unsqueezed(1), b.unsqueezed(0));
}

/// Sums over the pairs of dimensions; the others stay, those of a first.
EagerResult tensordot(Eager& e) {
    Tensor a = e.at(0), b = e.at(1);
    const Ints da = e.integers(2), db = e.integers(3);
    if (da.size() != db.size()) e.fail("as many dimensions of one as of the other are summed");
    const auto arrange = [&](const Tensor& x, const Ints& dims, bool summedFirst, Shape& rest) {
        std::vector<std::size_t> summed, kept;
        for (std::int64_t dim : dims) {
            const std::size_t axis = e.axisOf(dim, x.rank());
            if (std::ranges::find(summed, axis) != summed.end()) e.fail("a dimension is summed twice");
            summed.push_back(axis);
        }
        std::int64_t n = 1, inner = 1;
        for (std::size_t i = 0; i < x.rank(); ++i) {
            if (std::ranges::find(summed, i) != summed.end()) {
                inner *= x.dim(i);
                continue;
            }
            kept.push_back(i);
            rest.push_back(x.dim(i));
            n *= x.dim(i);
        }
        std::vector<std::size_t> order = summedFirst ? summed : kept;
        const std::vector<std::size_t>& behind = summedFirst ? kept : summed;
        order.insert(order.end(), behind.begin(), behind.end());
        return e.reshape(x.permuted(order), summedFirst ? Shape{inner, n} : Shape{n, inner});
    };
    Shape shape;
    const Tensor left = arrange(a, da, false, shape), right = arrange(b, db, true, shape);
    return e.reshape(e("mm", left, right), shape);
}

EagerResult einsumOf(Eager& e) {
    const std::string equation = e.text(0);
    std::vector<Tensor> list = e.tensors(1);
    if (list.empty()) e.fail("an equation needs tensors");
    DType dtype = list.front().dtype();
    for (const Tensor& x : list) dtype = promotedTypes(dtype, x.dtype());
    for (Tensor& x : list) x = e.as(x, dtype);
    return einsum(e, equation, list);
}

/// x1ᵀ·W_k·x2 + b_k for each k: weight [K, I, J].
EagerResult bilinear(Eager& e) {
    const Tensor product = einsum(e, "...i,kij,...j->...k", {e.at(0), e.at(2), e.at(1)});
    return e.has(3) ? e("add.Tensor", product, e.at(3)) : product;
}

/// a × b along a dimension of 3.
EagerResult cross(Eager& e, std::optional<std::int64_t> dim) {
    const Shape shape = e.get(broadcast(e.at(0).shape(), e.at(1).shape()));
    const Tensor a = e.get(e.at(0).expanded(shape)), b = e.get(e.at(1).expanded(shape));
    std::size_t axis = shape.rank();
    if (dim) axis = e.axisOf(*dim, shape.rank());
    for (std::size_t i = 0; !dim && i < shape.rank() && axis == shape.rank(); ++i) axis = shape[i] == 3 ? i : axis;
    if (axis == shape.rank() || shape[axis] != 3) e.fail("a cross product needs a dimension of 3");
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t j = (i + 1) % 3, k = (i + 2) % 3;
        parts.push_back(e("sub.Tensor", e("mul.Tensor", a.selected(axis, j), b.selected(axis, k)), e("mul.Tensor", a.selected(axis, k), b.selected(axis, j))));
    }
    return e("stack", parts, axis);
}

/// Gauss-Jordan elimination with the largest pivot: [A | B] -> [I | A⁻¹B]. A row of zeros is an error.
Tensor solved(Eager& e, const Tensor& a, const Tensor& b) {
    if (a.rank() < 2 || a.dim(a.rank() - 1) != a.dim(a.rank() - 2)) e.fail("a square matrix is wanted, not " + a.typeText());
    if (!tensor::isFloating(a.dtype())) e.fail("floating point is wanted, not " + a.typeText());
    const std::int64_t n = a.dim(a.rank() - 1), m = b.dim(b.rank() - 1), count = n == 0 ? 0 : a.numel() / (n * n);
    if (b.rank() != a.rank() || b.dim(b.rank() - 2) != n || b.numel() != count * n * m) e.fail(a.typeText() + " and " + b.typeText() + " do not go together");
    Tensor left = e.get(e.get(wide(a)).clone()), right = e.get(e.get(wide(b)).clone());
    for (std::int64_t c = 0; c < count; ++c) {
        double* A = left.mutableData<double>() + c * n * n;
        double* B = right.mutableData<double>() + c * n * m;
        for (std::int64_t k = 0; k < n; ++k) {
            std::int64_t pivot = k;
            for (std::int64_t i = k + 1; i < n; ++i) pivot = std::fabs(A[i * n + k]) > std::fabs(A[pivot * n + k]) ? i : pivot;
            if (A[pivot * n + k] == 0) e.fail("the matrix has no inverse");
            if (pivot != k) {
                std::swap_ranges(A + k * n, A + (k + 1) * n, A + pivot * n);
                std::swap_ranges(B + k * m, B + (k + 1) * m, B + pivot * m);
            }
            const double scale = 1 / A[k * n + k];
            for (std::int64_t j = 0; j < n; ++j) A[k * n + j] *= scale;
            for (std::int64_t j = 0; j < m; ++j) B[k * m + j] *= scale;
            for (std::int64_t i = 0; i < n; ++i) {
                const double factor = A[i * n + k];
                if (i == k || factor == 0) continue;
                for (std::int64_t j = 0; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
                for (std::int64_t j = 0; j < m; ++j) B[i * m + j] -= factor * B[k * m + j];
            }
        }
    }
    return e.as(right, a.dtype());
}

EagerResult inverse(Eager& e) {
    const Tensor a = e.at(0);
    if (a.rank() < 2) e.fail("a square matrix is wanted, not " + a.typeText());
    const Tensor eye = e("eye", a.dim(a.rank() - 1), torchFromDType(a.dtype()));
    return solved(e, a, e.get(e.get(eye.expanded(a.shape())).contiguous()));
}

EagerResult solve(Eager& e) {
    const Tensor a = e.at(0);
    const bool vectors = e.at(1).rank() + 1 == a.rank();
    const Tensor b = vectors ? e.at(1).unsqueezed(e.at(1).rank()) : e.at(1);
    const Tensor x = solved(e, a, e.get(b.contiguous()));
    return vectors ? e("squeeze.dim", x, -1) : x;
}

EagerResult kron(Eager& e) {
    Tensor a = e.at(0), b = e.at(1);
    while (a.rank() < b.rank()) a = a.unsqueezed(0);
    while (b.rank() < a.rank()) b = b.unsqueezed(0);
    Shape shape;
    const std::size_t rank = a.rank();
    for (std::size_t i = 0; i < rank; ++i) shape.push_back(a.dim(i) * b.dim(i));
    for (std::size_t i = 0; i < rank; ++i) {
        a = a.unsqueezed(2 * i + 1);
        b = b.unsqueezed(2 * i);
    }
    return e.reshape(e("mul.Tensor", a, b), shape);
}

EagerResult productOfAll(Eager& e) {
    const std::vector<Tensor> list = e.tensors(0);
    if (list.empty()) e.fail("a product of nothing");
    Tensor product = list.front();
    for (std::size_t i = 1; i < list.size(); ++i) product = e("matmul", product, list[i]);
    return product;
}

/// Σ over the batch of a_b·b_b.
Tensor batchedSum(Eager& e, const Tensor& a, const Tensor& b) { return e("sum.dim_IntList", e("bmm", a, b), Ints{0}); }

EagerResult matrixPower(Eager& e) {
    std::int64_t n = e.integer(1);
    Tensor x = e.at(0);
    if (x.rank() < 2) e.fail("a square matrix is wanted, not " + x.typeText());
    if (n < 0) x = e("linalg_inv", x);
    n = std::abs(n);
    const Tensor eye = e("eye", x.dim(x.rank() - 1), torchFromDType(x.dtype()));
    Tensor result = e.get(e.get(eye.expanded(x.shape())).contiguous());
    for (; n > 0; n /= 2) {
        if (n % 2 == 1) result = e("matmul", result, x);
        if (n > 1) x = e("matmul", x, x);
    }
    return result;
}

}  // namespace

void define_aten_linear(Registry& registry) {
    registry.add(eagerRow("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", "beta·c + alpha·Σ a_b·b_b", kLayer, [](Eager& e) { return scaledSum(e, batchedSum(e, e.at(1), e.at(2)), 3); }));
    registry.add(eagerRow("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", "beta·c + alpha·A·v", kLayer, [](Eager& e) { return scaledSum(e, e("mv", e.at(1), e.at(2)), 3); }));
    registry.add(eagerRow("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", "beta·c + alpha·v·wᵀ", kLayer, [](Eager& e) { return scaledSum(e, outer(e, e.at(1), e.at(2)), 3); }));
    registry.add(eagerRow("outer(Tensor self, Tensor vec2) -> Tensor", "v·wᵀ", kLayer, [](Eager& e) -> EagerResult { return outer(e, e.at(0), e.at(1)); }));
    registry.add(eagerRow("inner(Tensor self, Tensor other) -> Tensor", "sums over the last dimensions", kLayer, [](Eager& e) -> EagerResult {
        if (e.at(0).rank() == 0 || e.at(1).rank() == 0) return e("mul.Tensor", e.at(0), e.at(1));
        return e("tensordot", e.at(0), e.at(1), Ints{-1}, Ints{-1});
    }));
    registry.add(eagerRow("vdot(Tensor self, Tensor other) -> Tensor", "Σ a·b", kLayer, [](Eager& e) -> EagerResult { return e("dot", e.at(0), e.at(1)); }));
    registry.add(eagerRow("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "Σ a·b along a dimension", kLayer, [](Eager& e) -> EagerResult {
        return e("sum.dim_IntList", e("mul.Tensor", e.at(0), e.at(1)), Ints{e.integer(2)});
    }));
    registry.add(eagerRow("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", "sums over pairs of dimensions", kLayer, tensordot));
    registry.add(eagerRow("einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", "sums of products as an equation says", kLayer, einsumOf));
    registry.add(eagerRow("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", "x1ᵀ·W·x2 + bias", kLayer, bilinear));
    registry.add(eagerRow("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", "cross product", kLayer, [](Eager& e) { return cross(e, e.has(2) ? std::optional(e.integer(2)) : std::nullopt); }));
    registry.add(eagerRow("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", "cross product", kLayer, [](Eager& e) { return cross(e, e.integer(2)); }));
    registry.add(eagerRow("kron(Tensor self, Tensor other) -> Tensor", "Kronecker product", kLayer, kron));
    registry.add(eagerRow("chain_matmul(Tensor[] matrices) -> Tensor", "product of matrices", kLayer, productOfAll));
    registry.add(eagerRow("linalg_multi_dot(Tensor[] tensors) -> Tensor", "product of matrices", kLayer, productOfAll));
    registry.add(eagerRow("linalg_inv(Tensor A) -> Tensor", "inverse matrices", kLayer, inverse, inferSame));
    registry.add(eagerRow("inverse(Tensor self) -> Tensor", "inverse matrices", kLayer, inverse, inferSame));
    registry.add(eagerRow("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", "x with A·x = B", kLayer, [](Eager& e) {
        if (!e.flag(2)) e.fail("only A·x = B is solved, not x·A = B");
        return solve(e);
    }));
    for (std::string_view schema : {"linalg_det(Tensor A) -> Tensor", "det(Tensor self) -> Tensor"}) {
        registry.add(eagerRow(schema, "determinants", kLayer, [](Eager& e) -> EagerResult { return e.onnx("Det", {e.value(0)}); }));
    }
    for (std::string_view schema : {"linalg_matrix_power(Tensor self, int n) -> Tensor", "matrix_power(Tensor self, int n) -> Tensor"}) {
        registry.add(eagerRow(schema, "powers of matrices", kLayer, matrixPower, inferSame));
    }
}

}  // namespace sonde::ops
