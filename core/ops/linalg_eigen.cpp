// Eigenvalues and eigenvectors.

#include <cmath>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

namespace {

/// W, V with A·V = V·diag(W), complex; V without elements if it is not asked for.
EagerResult general(Eager& e, bool vectors, const std::string& api) {
    const Tensor a = e.tensor("self");
    requireSquareFloating(e, a, api);
    const std::int64_t n = a.dim(a.rank() - 1);
    const Shape batch = batchOf(a.shape());
    Batch matrices = Batch::of(e, a), v = Batch::zeros(e, complexOf(a.dtype()), batch, vectors ? n : 0, n);
    Tensor w = zeros(e, complexOf(a.dtype()), batch, {n}), info = zeros(e, DType::Int32, batch);
    const Tensor finite = e("all", e("isfinite", tensor::isComplex(a.dtype()) ? e("abs", a) : a));
    if (finite.toDouble(0) == 0) e.fail("torch." + api + ": input tensor should not contain infs or NaNs.");
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using Complex = std::complex<Real<T>>;
        forEachMatrix(e, matrices, [&](std::int64_t i) {
            const Matrix<Complex> columns = vectors && n > 0 ? v.at<Complex>(i) : Matrix<Complex>{};
            *itemsOf<std::int32_t>(info, i, 1) =
                !decomposeGeneral<T>(matrices.at<T>(i), itemsOf<Complex>(w, i, n), columns);
        });
    });
    checkInfo(e, info, api);
    return std::vector<Value>{Value(w), Value(vectors ? v.tensor(e) : nothing(e, complexOf(a.dtype())))};
}

/// W increasing and V with A = V·diag(W)·Vᴴ, of one triangle of A.
EagerResult symmetric(Eager& e, bool upper, bool vectors, std::string_view api) {
    const Tensor a = e.tensor({"A", "self"});
    requireSquareFloating(e, a, api);
    const std::int64_t n = a.dim(a.rank() - 1);
    Batch matrices = Batch::of(e, a, upper ? Transform::Adjoint : Transform::None);
    Tensor w = zeros(e, realOf(a.dtype()), batchOf(a.shape()), {n}), info = zeros(e, DType::Int32, batchOf(a.shape()));
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices, [&](std::int64_t i) {
            *itemsOf<std::int32_t>(info, i, 1) =
                !decomposeSymmetric(matrices.at<T>(i), itemsOf<Real<T>>(w, i, n), vectors);
        });
    });
    checkInfo(e, info, api);
    return std::vector<Value>{Value(w), Value(vectors ? matrices.tensor(e) : nothing(e, a.dtype()))};
}

/// 'L' or 'U' in either case.
bool isUpper(Eager& e) {
    const std::string text = e.text("UPLO");
    if (text == "U" || text == "u") return true;
    if (text == "L" || text == "l") return false;
    e.fail("Expected UPLO argument to be 'L' or 'U', but got " + text);
}

/// The older form (A, eigenvectors, upper).
EagerResult symmetricOlder(Eager& e) {
    const bool vectors = e.flag("eigenvectors") || e.tensor("self").numel() == 0;  // of empty matrices torch gives them
    return symmetric(e, e.flag("upper"), vectors, "linalg.symeig");
}

/// W and V, of dtypes that follow from A's.
base::Result<void> inferEigen(InferContext& context, std::optional<bool> vectors, DType (*values)(DType),
                              DType (*columns)(DType)) {
    const auto a = matrixType(context, {"self", "A"});
    const DType dtype = context.in({"self", "A"}).dtype;
    setType(context, 0, values(dtype), a ? std::optional(a->with({a->rows})) : std::nullopt);
    if (vectors && !*vectors) setType(context, 1, columns(dtype), Dims{Dim::of(0)});
    else setType(context, 1, columns(dtype), vectors && a ? std::optional(a->with({a->rows, a->cols})) : std::nullopt);
    return {};
}

DType itself(DType dtype) { return dtype; }

base::Result<void> inferGeneral(InferContext& context) { return inferEigen(context, true, complexOf, complexOf); }

base::Result<void> inferSymmetric(InferContext& context, std::optional<bool> vectors) {
    return inferEigen(context, vectors, realOf, itself);
}

/// Of empty matrices, which it cannot tell before the run if sides are not known, symeig always gives vectors.
base::Result<void> inferOlder(InferContext& context) {
    const auto vectors = knownFlag(context, "eigenvectors");
    const auto a = matrixType(context, "self");
    const auto count = a ? knownProduct(a->with({a->rows, a->cols})) : std::nullopt;
    if (vectors && *vectors) return inferSymmetric(context, true);
    return inferSymmetric(context, count ? std::optional(*count == 0) : std::nullopt);
}

void defineSymmetric(Registry& registry) {
    registry.add(eagerRow(
        "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
        "eigenvalues and eigenvectors of symmetric matrices", kLayer,
        [](Eager& e) { return symmetric(e, isUpper(e), true, "linalg.eigh"); },
        [](InferContext& context) { return inferSymmetric(context, true); }));
    registry.add(eagerRow(
        "_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
        "eigenvalues and eigenvectors of symmetric matrices", kLayer,
        [](Eager& e) { return symmetric(e, isUpper(e), e.flag("compute_v"), "linalg.eigh"); },
        [](InferContext& context) { return inferSymmetric(context, knownFlag(context, "compute_v")); }));
    registry.add(eagerRow(
        "linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor", "eigenvalues of symmetric matrices", kLayer,
        [](Eager& e) { return symmetric(e, isUpper(e), false, "linalg.eigh"); },
        [](InferContext& context) { return inferSymmetric(context, false); }));
    registry.add(eagerRow(
        "symeig(Tensor self, bool eigenvectors=False, bool upper=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
        "eigenvalues and eigenvectors of symmetric matrices", kLayer, symmetricOlder, inferOlder));
    registry.add(eagerRow("_symeig_helper(Tensor self, bool eigenvectors, bool upper) -> (Tensor, Tensor)",
                          "eigenvalues and eigenvectors of symmetric matrices", kLayer, symmetricOlder, inferOlder));
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_eigen(Registry& registry) {
    using namespace linalg;
    registry.add(eagerRow(
        "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", "eigenvalues and eigenvectors", kLayer,
        [](Eager& e) { return general(e, true, "linalg.eig"); }, inferGeneral));
    registry.add(eagerRow(
        "linalg_eigvals(Tensor self) -> Tensor", "eigenvalues", kLayer,
        [](Eager& e) { return general(e, false, "linalg.eigvals"); }, inferGeneral));
    defineSymmetric(registry);
    explain("aten", "linalg_eigh linalg_eigvalsh _linalg_eigh", dependence::symmetricEigen);
}

}  // namespace sonde::ops
