// Determinants, from the LU decomposition.

#include <cmath>
#include <complex>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

namespace {

constexpr auto kReduction = Category::Reduction;

/// P·A = L·U of each matrix: LU, pivots.
std::vector<Value> factors(Eager& e, std::string_view api) {
    const Tensor a = e.tensor({"A", "self"});
    requireSquareFloating(e, a, api);
    return e.all("aten", "linalg_lu_factor_ex", {Value(a)}, {}, 2);
}

/// Calls visit(i, diagonal of U, n, sign of P) for each matrix.
template <typename T, typename Visit>
void visitFactors(const Tensor& lu, const Tensor& pivots, Visit&& visit) {
    const std::int64_t n = lu.dim(lu.rank() - 1), count = batchOf(lu.shape()).numel();
    std::vector<T> diagonal(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < count; ++i) {
        bool isOdd = false;
        for (std::int64_t k = 0; k < n; ++k) {
            diagonal[static_cast<std::size_t>(k)] = lu.data<T>()[(i * n + k) * n + k];
            isOdd = isOdd != (pivots.data<std::int32_t>()[i * n + k] != k + 1);
        }
        visit(i, std::span<const T>(diagonal), T(isOdd ? -1 : 1));
    }
}

/// det A = det P · Π u_kk; with LU and pivots behind it.
EagerResult determinant(Eager& e) {
    std::vector<Value> lu = factors(e, "linalg.det");
    const Tensor& matrices = lu[0].tensor();
    Tensor result = zeros(e, matrices.dtype(), batchOf(matrices.shape()));
    dispatch(matrices.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        visitFactors<T>(matrices, lu[1].tensor(), [&](std::int64_t i, std::span<const T> diagonal, T product) {
            for (const T& u : diagonal) product *= u;
            result.mutableData<T>()[i] = product;
        });
    });
    return std::vector<Value>{Value(result), lu[0], lu[1]};
}

/// −1, 0, 1, or z / |z|; 0 for a real NaN, as torch.sgn has it.
template <typename T>
T direction(T z) {
    if constexpr (std::is_same_v<T, Real<T>>) return T((z > 0) - (z < 0));
    else return z == T(0) ? T(0) : z / std::abs(z);
}

/// Sign and log|det A| = Σ log|u_kk|, which neither overflows nor underflows; with LU and pivots behind them.
EagerResult signAndLogarithm(Eager& e, std::string_view api) {
    std::vector<Value> lu = factors(e, api);
    const Tensor& matrices = lu[0].tensor();
    const Shape batch = batchOf(matrices.shape());
    Tensor sign = zeros(e, matrices.dtype(), batch), logarithm = zeros(e, realOf(matrices.dtype()), batch);
    dispatch(matrices.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        visitFactors<T>(matrices, lu[1].tensor(), [&](std::int64_t i, std::span<const T> diagonal, T product) {
            Real<T> sum = 0;
            for (const T& u : diagonal) {
                product *= direction(u);
                sum += std::log(std::abs(u));
            }
            sign.mutableData<T>()[i] = product;
            logarithm.mutableData<Real<T>>()[i] = sum;
        });
    });
    return std::vector<Value>{Value(sign), Value(logarithm), lu[0], lu[1]};
}

/// log det A: NaN of a negative real determinant, log|det A| + i·arg(det A) of a complex one.
EagerResult logarithmOf(Eager& e) {
    const EagerResult parts = signAndLogarithm(e, "logdet");
    const Tensor &sign = parts.values[0].tensor(), &logarithm = parts.values[1].tensor();
    Tensor result = zeros(e, sign.dtype(), sign.shape());
    dispatch(sign.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = 0; i < result.numel(); ++i) {
            const T unit = sign.data<T>()[i];
            const Real<T> size = logarithm.data<Real<T>>()[i];
            if constexpr (std::is_same_v<T, Real<T>>) result.mutableData<T>()[i] = unit == T(-1) ? T(NAN) : size;
            else result.mutableData<T>()[i] = T(size, std::arg(unit));
        }
    });
    return result;
}

/// ONNX Det: half precision in float32.
EagerResult onnxDet(Eager& e) {
    const Tensor x = e.tensor("X");
    const bool isNarrow = x.dtype() != DType::Float32 && x.dtype() != DType::Float64;
    const Tensor result = e("linalg_det", isNarrow ? e.as(x, DType::Float32) : x);
    return isNarrow ? e.as(result, x.dtype()) : result;
}

/// Numbers for each matrix (`real[i]`: of the real type), then LU and pivots.
base::Result<void> inferFactors(InferContext& context, std::initializer_list<bool> real) {
    const auto a = matrixType(context, {"A", "self"});
    const DType dtype = context.in({"A", "self"}).dtype;
    std::size_t output = 0;
    for (bool isReal : real) {
        setType(context, output++, isReal ? realOf(dtype) : dtype, a ? std::optional(a->batch) : std::nullopt);
    }
    setType(context, output++, dtype, a ? std::optional(a->with({a->rows, a->cols})) : std::nullopt);
    setType(context, output, DType::Int32, a ? std::optional(a->with({a->rows})) : std::nullopt);
    return {};
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_det(Registry& registry) {
    using namespace linalg;
    const auto inferDet = [](InferContext& context) { return inferFactors(context, {false}); };
    const auto inferLogarithm = [](InferContext& context) { return inferFactors(context, {false, true}); };
    for (std::string_view schema : {"linalg_det(Tensor A) -> Tensor", "det(Tensor self) -> Tensor"}) {
        registry.add(eagerRow(schema, "determinants", kReduction, determinant, inferPerMatrix));
    }
    registry.add(eagerRow("_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
                          "determinants and their LU", kReduction, determinant, inferDet));
    for (std::string_view schema :
         {"linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
          "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
          "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)"}) {
        registry.add(eagerRow(
            schema, "signs of determinants and logarithms of their size", kReduction,
            [](Eager& e) { return signAndLogarithm(e, "linalg.slogdet"); }, inferLogarithm));
    }
    registry.add(eagerRow("logdet(Tensor self) -> Tensor", "logarithms of determinants", kReduction, logarithmOf,
                          inferPerMatrix));
    registry.add(Row("Det", 11, "determinants of square matrices", kReduction)
                     .in("X", kFloats)
                     .out("Y")
                     .runs(onnxDet, inferPerMatrix));
    explain("", "Det", dependence::determinant);
    explain("aten", "det linalg_det _linalg_det", dependence::determinant);
    explain("aten", "linalg_slogdet slogdet _linalg_slogdet", dependence::determinant, "sign");
    explain("aten", "logdet", dependence::determinant, "log");
}

}  // namespace sonde::ops
