// ATen's sums of products of vectors and matrices.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/einsum.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using Ints = std::vector<std::int64_t>;

/// beta·c + alpha·product; c is left out entirely if beta is 0.
EagerResult scaledSum(Eager& e, const Tensor& product) {
    const double beta = e.number("beta"), alpha = e.number("alpha");
    const Tensor scaled = alpha == 1 ? product : e("mul.Scalar", product, e.value("alpha"));
    if (beta == 0)
        return e.get(e.get(scaled.expanded(e.get(broadcast(e.tensor("self").shape(), scaled.shape())))).contiguous());
    return e("add.Tensor", beta == 1 ? e.tensor("self") : e("mul.Scalar", e.tensor("self"), e.value("beta")), scaled);
}

Tensor outer(Eager& e, const Tensor& a, const Tensor& b) {
    if (a.rank() != 1 || b.rank() != 1) e.fail("vectors are wanted, not " + a.typeText() + " and " + b.typeText());
    return e("mul.Tensor", a.unsqueezed(1), b.unsqueezed(0));
}

/// Sums over the pairs of dimensions; the others stay, those of a first.
EagerResult tensordot(Eager& e) {
    Tensor a = e.tensor("self"), b = e.tensor("other");
    const Ints da = e.integers("dims_self"), db = e.integers("dims_other");
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
    const std::string equation = e.text("equation");
    std::vector<Tensor> list = e.tensors("tensors");
    if (list.empty()) e.fail("an equation needs tensors");
    DType dtype = list.front().dtype();
    for (const Tensor& x : list) dtype = promotedTypes(dtype, x.dtype());
    for (Tensor& x : list) x = e.as(x, dtype);
    return einsum(e, equation, list);
}

/// x1ᵀ·W_k·x2 + b_k for each k: weight [K, I, J].
EagerResult bilinear(Eager& e) {
    const Tensor product =
        einsum(e, "...i,kij,...j->...k", {e.tensor("input1"), e.tensor("weight"), e.tensor("input2")});
    return e.has("bias") ? e("add.Tensor", product, e.tensor("bias")) : product;
}

EagerResult kron(Eager& e) {
    Tensor a = e.tensor("self"), b = e.tensor("other");
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

/// Σ over the batch of a_b·b_b.
Tensor batchedSum(Eager& e, const Tensor& a, const Tensor& b) { return e("sum.dim_IntList", e("bmm", a, b), Ints{0}); }

}  // namespace

void define_aten_linear(Registry& registry) {
    registry.add(
        eagerRow("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                 "beta·c + alpha·Σ a_b·b_b", kLayer,
                 [](Eager& e) { return scaledSum(e, batchedSum(e, e.tensor("batch1"), e.tensor("batch2"))); }));
    registry.add(eagerRow("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                          "beta·c + alpha·A·v", kLayer,
                          [](Eager& e) { return scaledSum(e, e("mv", e.tensor("mat"), e.tensor("vec"))); }));
    registry.add(eagerRow("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                          "beta·c + alpha·v·wᵀ", kLayer,
                          [](Eager& e) { return scaledSum(e, outer(e, e.tensor("vec1"), e.tensor("vec2"))); }));
    registry.add(eagerRow("outer(Tensor self, Tensor vec2) -> Tensor", "v·wᵀ", kLayer,
                          [](Eager& e) -> EagerResult { return outer(e, e.tensor("self"), e.tensor("vec2")); }));
    registry.add(eagerRow("inner(Tensor self, Tensor other) -> Tensor", "sums over the last dimensions", kLayer,
                          [](Eager& e) -> EagerResult {
                              if (e.tensor("self").rank() == 0 || e.tensor("other").rank() == 0)
                                  return e("mul.Tensor", e.tensor("self"), e.tensor("other"));
                              return e("tensordot", e.tensor("self"), e.tensor("other"), Ints{-1}, Ints{-1});
                          }));
    registry.add(eagerRow("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
                          "sums over pairs of dimensions", kLayer, tensordot));
    registry.add(eagerRow("einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
                          "sums of products as an equation says", kLayer, einsumOf));
    registry.add(eagerRow("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
                          "x1ᵀ·W·x2 + bias", kLayer, bilinear));
    registry.add(eagerRow("kron(Tensor self, Tensor other) -> Tensor", "Kronecker product", kLayer, kron));
    explain("aten", "addmv", dependence::generalProduct);
    explain("aten", "einsum", dependence::einsteinSum);
    explain("aten", "bilinear", dependence::bilinearForm);
    explain("aten", "outer ger addr", dependence::contracted);
    explain("aten", "inner", dependence::contracted, "inner");
    explain("aten", "addbmm", dependence::contracted, "batches");
    explain("aten", "tensordot", dependence::contracted, "dims");
    explain("aten", "kron", dependence::kroneckerProduct);
    explain("aten", "equal", dependence::ofAllPairs, "x == y");
    explain("aten", "allclose", dependence::ofAllPairs, "(x == y) | (abs(x - y) <= atol + rtol * abs(y))");
}

}  // namespace sonde::ops
