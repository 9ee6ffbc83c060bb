// LU decomposition with partial pivoting, and what is made of it.

#include <algorithm>
#include <numeric>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

namespace {

void requireLuInput(Eager& e, std::string_view api) {
    const Tensor a = e.tensor({"A", "self"});
    if (a.rank() < 2) {
        e.fail(std::string(api) + ": Expected tensor with 2 or more dimensions. Got size: " + sizesText(a.shape()) +
               " instead");
    }
    requireFloating(e, a, api);
    // PyTorch 1.13 refuses it on the CPU, in these words.
    if (a.numel() > 0 && !e.flag("pivot"))
        e.fail("linalg.lu_factor: LU without pivoting is not implemented on the CPU");
}

/// LU [..., m, n], pivots [..., min(m,n)] from 1, info [...].
EagerResult factor(Eager& e) {
    requireLuInput(e, "torch.lu_factor");
    const Tensor a = e.tensor({"A", "self"});
    const Shape batch = batchOf(a.shape());
    Batch matrices = Batch::of(e, a);
    const std::int64_t shorter = std::min(matrices.rows(), matrices.cols());
    Tensor pivots = zeros(e, DType::Int32, batch, {shorter}), info = zeros(e, DType::Int32, batch);
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices, [&](std::int64_t i) {
            *itemsOf<std::int32_t>(info, i, 1) = factorLu(matrices.at<T>(i), itemsOf<std::int32_t>(pivots, i, shorter));
        });
    });
    return std::vector<Value>{Value(matrices.tensor(e)), Value(pivots), Value(info)};
}

EagerResult factorChecked(Eager& e, std::string_view api) {
    EagerResult result = factor(e);
    checkInfo(e, result.values[2].tensor(), api);
    return result;
}

/// P [..., m, m] of pivots: A = P·L·U.
Tensor permutations(Eager& e, const Tensor& pivots, DType dtype, const Shape& batch, std::int64_t m) {
    const std::int64_t count = pivots.rank() == 0 ? 0 : pivots.dim(pivots.rank() - 1);
    Batch result = Batch::zeros(e, dtype, batch, m, m);
    std::vector<std::int64_t> order(static_cast<std::size_t>(m));
    dispatch(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = 0; i < result.count(); ++i) {
            std::iota(order.begin(), order.end(), 0);
            for (std::int64_t k = 0; k < count; ++k) {
                const std::int32_t pivot = pivots.data<std::int32_t>()[i * count + k];
                std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(pivot - 1)]);
            }
            const Matrix<T> p = result.at<T>(i);
            for (std::int64_t k = 0; k < m; ++k) p(order[static_cast<std::size_t>(k)], k) = T(1);
        }
    });
    return result.tensor(e);
}

/// L [..., m, min(m,n)] with ones on its diagonal and U [..., min(m,n), n].
std::vector<Value> triangles(Eager& e, const Tensor& lu) {
    const std::size_t rank = lu.rank();
    const std::int64_t shorter = std::min(lu.dim(rank - 2), lu.dim(rank - 1));
    Tensor lower = e("tril", e.get(lu.sliced(rank - 1, 0, shorter).contiguous()), -1);
    const Tensor upper = e("triu", e.get(lu.sliced(rank - 2, 0, shorter).contiguous()));
    lower = e.get(lower.clone());
    dispatch(lu.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const std::int64_t size = lu.dim(rank - 2) * shorter;
        for (std::int64_t i = 0; i < batchOf(lu.shape()).numel(); ++i) {
            for (std::int64_t k = 0; k < shorter; ++k) lower.mutableData<T>()[i * size + k * shorter + k] = T(1);
        }
    });
    return {Value(lower), Value(upper)};
}

/// P, L and U of (LU_data, LU_pivots, unpack_data, unpack_pivots); what is not asked for has no elements.
EagerResult unpack(Eager& e) {
    const Tensor lu = e.tensor("LU_data"), pivots = e.tensor("LU_pivots");
    if (lu.rank() < 2) {
        e.fail("torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: " + sizesText(lu.shape()) +
               " instead");
    }
    requireFloating(e, lu, "torch.lu_unpack");
    if (pivots.dtype() != DType::Int32) {
        e.fail("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.");
    }
    const Shape batch = batchOf(lu.shape());
    const std::int64_t m = lu.dim(lu.rank() - 2), shorter = std::min(m, lu.dim(lu.rank() - 1));
    std::vector<Value> results{Value(nothing(e, lu.dtype())), Value(nothing(e, lu.dtype())),
                               Value(nothing(e, lu.dtype()))};
    if (e.flag("unpack_pivots")) {
        if (pivots.shape() != joined(batch, {shorter})) {
            e.fail("torch.lu_unpack: expected pivots of shape " + sizesText(joined(batch, {shorter})) + ", but got " +
                   sizesText(pivots.shape()));
        }
        requirePivots(
            e, pivots, m,
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did you properly pass the result "
            "of lu_factor?");
        results[0] = Value(permutations(e, pivots, lu.dtype(), batch, m));
    }
    if (e.flag("unpack_data")) std::ranges::copy(triangles(e, lu), results.begin() + 1);
    return results;
}

/// P, L, U with A = P·L·U.
EagerResult luParts(Eager& e) {
    requireLuInput(e, "linalg.lu");
    const bool pivot = e.flag("pivot");
    std::vector<Value> lu = e.all("aten", "linalg_lu_factor_ex", {e.value("A"), e.value("pivot")}, {}, 2);
    return e.all("aten", "lu_unpack", {lu[0], lu[1], Value::ofBool(true), Value::ofBool(pivot)}, {}, 3);
}

/// X of A·X = B, Aᴴ·X = B, X·A = B or X·Aᴴ = B from the LU of A.
EagerResult solveFactored(Eager& e, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
    constexpr std::string_view kApi = "linalg.lu_solve";
    requireFloating(e, lu, kApi);
    requireSameDType(e, lu, b, kApi, "LU");
    requireSolvable(e, lu, b, left, kApi);
    if (pivots.dtype() != DType::Int32) e.fail("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
    if (pivots.shape() != batchOf(lu.shape(), 1)) {
        e.fail("linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape " +
               sizesText(pivots.shape()) + " instead");
    }
    const std::int64_t n = lu.dim(lu.rank() - 1);
    requirePivots(
        e, pivots, n,
        "Pivots given to lu_solve must all be greater or equal to 1 and at most LU.size(-2). Did you properly pass the "
        "result of lu_factor?");
    const Shape batch = commonBatch(e, b, lu);
    Batch matrices = Batch::of(e, lu, batch);
    const Tensor swaps = e.get(e.get(pivots.expanded(joined(batch, {n}))).contiguous());
    // X·A = B is Aᴴ·Xᴴ = Bᴴ.
    Batch x = Batch::of(e, b, batch, left ? Transform::None : Transform::Adjoint);
    dispatch(lu.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices, [&](std::int64_t i) {
            solveLu<T>(matrices.at<T>(i), swaps.data<std::int32_t>() + i * n, x.at<T>(i), adjoint == left);
        });
    });
    return x.tensor(e, left ? Transform::None : Transform::Adjoint);
}

base::Result<void> inferFactor(InferContext& context) {
    const auto a = matrixType(context, {"A", "self"});
    setType(context, 0, context.in({"A", "self"}).dtype, a ? std::optional(a->with({a->rows, a->cols})) : std::nullopt);
    setType(context, 1, DType::Int32, a ? std::optional(a->with({a->shorter()})) : std::nullopt);
    setType(context, 2, DType::Int32, a ? std::optional(a->batch) : std::nullopt);
    return {};
}

/// P, L, U; with the flags of lu_unpack, or that of linalg_lu for P.
base::Result<void> inferTriangles(InferContext& context, std::optional<bool> data, std::optional<bool> pivots) {
    const auto a = matrixType(context, {"A", "LU_data"});
    const DType dtype = context.in({"A", "LU_data"}).dtype;
    const auto give = [&](std::size_t output, std::optional<bool> wanted, const Dim& rows, const Dim& cols) {
        if (wanted && !*wanted) setType(context, output, dtype, Dims{Dim::of(0)});
        else setType(context, output, dtype, wanted && a ? std::optional(a->with({rows, cols})) : std::nullopt);
    };
    const Dim rows = a ? a->rows : Dim{}, cols = a ? a->cols : Dim{}, shorter = a ? a->shorter() : Dim{};
    give(0, pivots, rows, rows);
    give(1, data, rows, shorter);
    give(2, data, shorter, cols);
    return {};
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_lu(Registry& registry) {
    using namespace linalg;
    registry.add(eagerRow(
        "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, "
        "Tensor info)",
        "LU decomposition, packed, with the index of the first zero pivot", kLayer,
        [](Eager& e) { return e.flag("check_errors") ? factorChecked(e, "torch.linalg.lu_factor_ex") : factor(e); },
        inferFactor));
    registry.add(eagerRow(
        "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", "LU decomposition, packed",
        kLayer, [](Eager& e) { return factorChecked(e, "torch.linalg.lu_factor"); }, inferFactor));
    registry.add(
        eagerRow("_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, "
                 "Tensor info)",
                 "LU decomposition, packed, with the index of the first zero pivot", kLayer, factor, inferFactor));
    registry.add(eagerRow(
        "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", "A = P·L·U", kLayer, luParts,
        [](InferContext& context) { return inferTriangles(context, true, knownFlag(context, "pivot")); }));
    registry.add(eagerRow(
        "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, "
        "Tensor L, Tensor U)",
        "P, L and U of a packed LU decomposition", kLayer, unpack, [](InferContext& context) {
            return inferTriangles(context, knownFlag(context, "unpack_data"), knownFlag(context, "unpack_pivots"));
        }));
    registry.add(eagerRow(
        "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
        "x of A·x = B from A's LU decomposition", kLayer,
        [](Eager& e) {
            return solveFactored(e, e.tensor("LU"), e.tensor("pivots"), e.tensor("B"), e.flag("left"),
                                 e.flag("adjoint"));
        },
        [](InferContext& context) { return inferSolution(context, "LU", "B"); }));
    registry.add(eagerRow(
        "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", "x of A·x = B from A's LU decomposition",
        kLayer,
        [](Eager& e) {
            return solveFactored(e, e.tensor("LU_data"), e.tensor("LU_pivots"), e.tensor("self"), true, false);
        },
        [](InferContext& context) { return inferSolution(context, "LU_data", "self"); }));
    explain("aten", "linalg_lu", dependence::triangularFactor);
}

}  // namespace sonde::ops
