// Symmetric and Hermitian matrices: Cholesky's decomposition of positive-definite ones, L·D·Lᵀ of others.

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

namespace {

/// L with A = L·Lᴴ, or U = Lᴴ, and info; of A's lower or upper triangle alone.
EagerResult cholesky(Eager& e, bool upper, std::string_view api) {
    const Tensor a = e.tensor("self");
    requireSquareFloating(e, a, api);
    const Transform transform = upper ? Transform::Adjoint : Transform::None;
    Batch matrices = Batch::of(e, a, transform);
    Tensor info = zeros(e, DType::Int32, batchOf(a.shape()));
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices,
                      [&](std::int64_t i) { *itemsOf<std::int32_t>(info, i, 1) = factorCholesky(matrices.at<T>(i)); });
    });
    return std::vector<Value>{Value(matrices.tensor(e, transform)), Value(info)};
}

EagerResult choleskyChecked(Eager& e, bool upper, std::string_view api) {
    EagerResult result = cholesky(e, upper, api);
    checkInfo(e, result.values[1].tensor(), api);
    return result;
}

EagerResult choleskyEx(Eager& e) {
    const bool upper = e.flag("upper");
    return e.flag("check_errors") ? choleskyChecked(e, upper, "linalg.cholesky_ex")
                                  : cholesky(e, upper, "linalg.cholesky");
}

/// X with A·X = B from A's factor.
Tensor solvedByFactor(Eager& e, const Tensor& factor, const Tensor& b, bool upper) {
    const Shape batch = commonBatch(e, b, factor);
    Batch factors = Batch::of(e, factor, batch, upper ? Transform::Adjoint : Transform::None),
          x = Batch::of(e, b, batch);
    dispatch(factor.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, factors, [&](std::int64_t i) { solveCholesky<T>(factors.at<T>(i), x.at<T>(i)); });
    });
    return x.tensor(e);
}

/// (B, factor, upper)
EagerResult choleskySolve(Eager& e) {
    const Tensor b = e.tensor("self"), factor = e.tensor({"A", "input2"});
    for (const auto& [x, name] : {std::pair(b, "b"), std::pair(factor, "u")}) {
        if (x.rank() >= 2) continue;
        e.fail(std::string(name) + " should have at least 2 dimensions, but has " + std::to_string(x.rank()) +
               " dimensions instead");
    }
    requireSquareFloating(e, factor, "cholesky_solve");
    requireSameDType(e, b, factor, "cholesky_solve", "b", "A");
    requireSameSize(e, factor, b, "cholesky_solve");
    return solvedByFactor(e, factor, b, e.flag("upper"));
}

/// A⁻¹ from A's factor.
EagerResult choleskyInverse(Eager& e) {
    const Tensor factor = e.tensor("self");
    requireSquareFloating(e, factor, "cholesky_inverse");
    const std::int64_t n = factor.dim(factor.rank() - 1);
    const Tensor one = Batch::zeros(e, factor.dtype(), batchOf(factor.shape()), n, n, true).tensor(e);
    return solvedByFactor(e, factor, one, e.flag("upper"));
}

/// LD, pivots and info (A, hermitian).
EagerResult ldlFactor(Eager& e) {
    const Tensor a = e.tensor("self");
    requireSquareFloating(e, a, "torch.linalg.ldl_factor_ex");
    const bool hermitian = e.flag("hermitian");
    const std::int64_t n = a.dim(a.rank() - 1);
    Batch matrices = Batch::of(e, a);
    Tensor pivots = zeros(e, DType::Int32, batchOf(a.shape()), {n}), info = zeros(e, DType::Int32, batchOf(a.shape()));
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices, [&](std::int64_t i) {
            *itemsOf<std::int32_t>(info, i, 1) =
                factorLdl(matrices.at<T>(i), itemsOf<std::int32_t>(pivots, i, n), hermitian);
        });
    });
    return std::vector<Value>{Value(e("tril", matrices.tensor(e))), Value(pivots), Value(info)};
}

EagerResult ldlChecked(Eager& e, std::string_view api) {
    EagerResult result = ldlFactor(e);
    checkInfo(e, result.values[2].tensor(), api);
    return result;
}

/// Blocks of 1 have a pivot from their row on, blocks of 2 the same negative one twice.
bool isLdlPivoting(std::span<const std::int32_t> pivots) {
    const auto n = static_cast<std::int32_t>(pivots.size());
    for (std::int32_t k = 0; k < n; ++k) {
        const std::int32_t pivot = pivots[static_cast<std::size_t>(k)];
        if (pivot == 0 || pivot > n || pivot < -n) return false;
        if (pivot > 0) continue;
        if (++k == n || pivots[static_cast<std::size_t>(k)] != pivot) return false;
    }
    return true;
}

/// X with A·X = B (LD, pivots, B, hermitian).
EagerResult ldlSolve(Eager& e) {
    constexpr std::string_view kApi = "torch.linalg.ldl_solve";
    const Tensor ld = e.tensor("LD"), b = e.tensor("B");
    const bool hermitian = e.flag("hermitian");
    requireSquareFloating(e, ld, kApi);
    requireMatrices(e, b, kApi, "B");
    requireSameDType(e, b, ld, kApi, "b", "A");
    requireSameSize(e, ld, b, kApi);
    if (!tensor::isInteger(e.tensor("pivots").dtype())) {
        e.fail(std::string(kApi) + ": Expected pivots to be integers. Got " +
               scalarTypeName(e.tensor("pivots").dtype()));
    }
    const Shape expected = batchOf(ld.shape(), 1);
    if (e.tensor("pivots").shape() != expected) {
        e.fail(std::string(kApi) +
               ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape " +
               sizesText(e.tensor("pivots").shape()) + " instead");
    }
    const std::int64_t n = ld.dim(ld.rank() - 1);
    const Shape batch = commonBatch(e, b, ld);
    const Tensor pivots =
        e.get(e.get(e.as(e.tensor("pivots"), DType::Int32).expanded(joined(batch, {n}))).contiguous());
    Batch factors = Batch::of(e, ld, batch), x = Batch::of(e, b, batch);
    const auto pivotsOf = [&](std::int64_t i) {
        return pivots.span<std::int32_t>().subspan(static_cast<std::size_t>(i * n), static_cast<std::size_t>(n));
    };
    for (std::int64_t i = 0; i < factors.count(); ++i) {
        if (!isLdlPivoting(pivotsOf(i))) e.fail(std::string(kApi) + ": pivots are not those of ldl_factor");
    }
    dispatch(ld.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, factors, [&](std::int64_t i) {
            solveLdl<T>(factors.at<T>(i), pivotsOf(i).data(), x.at<T>(i), hermitian);
        });
    });
    return x.tensor(e);
}

/// A's own type, and int32 for each matrix.
base::Result<void> inferWithInfo(InferContext& context) {
    context.set(context.in("self"));
    const auto a = matrixType(context, "self");
    setType(context, 1, DType::Int32, a ? std::optional(a->batch) : std::nullopt);
    return {};
}

base::Result<void> inferLdl(InferContext& context) {
    context.set(context.in("self"));
    const auto a = matrixType(context, "self");
    setType(context, 1, DType::Int32, a ? std::optional(a->with({a->rows})) : std::nullopt);
    setType(context, 2, DType::Int32, a ? std::optional(a->batch) : std::nullopt);
    return {};
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_cholesky(Registry& registry) {
    using namespace linalg;
    registry.add(eagerRow(
        "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", "Cholesky decomposition", kLayer,
        [](Eager& e) { return choleskyChecked(e, e.flag("upper"), "linalg.cholesky"); }, inferSame));
    registry.add(eagerRow(
        "cholesky(Tensor self, bool upper=False) -> Tensor", "Cholesky decomposition", kLayer,
        [](Eager& e) { return choleskyChecked(e, e.flag("upper"), "cholesky"); }, inferSame));
    registry.add(eagerRow(
        "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
        "Cholesky decomposition, and which are not positive-definite", kLayer, choleskyEx, inferWithInfo));
    const auto inferX = [](InferContext& context) { return inferSolution(context, {"input2", "A"}, "self"); };
    registry.add(eagerRow("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
                          "x of A·x = B from A's Cholesky decomposition", kLayer, choleskySolve, inferX));
    registry.add(eagerRow("_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor",
                          "x of A·x = B from A's Cholesky decomposition", kLayer, choleskySolve, inferX));
    registry.add(eagerRow("cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
                          "A⁻¹ from A's Cholesky decomposition", kLayer, choleskyInverse, inferSame));
    registry.add(eagerRow(
        "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
        "L·D·Lᵀ of a symmetric matrix, packed", kLayer,
        [](Eager& e) { return ldlChecked(e, "torch.linalg.ldl_factor"); }, inferLdl));
    registry.add(eagerRow(
        "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor "
        "pivots, Tensor info)",
        "L·D·Lᵀ of a symmetric matrix, packed, with the index of the first zero pivot", kLayer,
        [](Eager& e) { return e.flag("check_errors") ? ldlChecked(e, "torch.linalg.ldl_factor_ex") : ldlFactor(e); },
        inferLdl));
    registry.add(eagerRow("linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
                          "x of A·x = B from A's L·D·Lᵀ", kLayer, ldlSolve,
                          [](InferContext& context) { return inferSolution(context, "LD", "B"); }));
    explain("aten", "linalg_cholesky cholesky linalg_cholesky_ex", dependence::choleskyFactor);
    explain("aten", "cholesky_solve _cholesky_solve_helper", dependence::solvedByCholesky);
}

}  // namespace sonde::ops
