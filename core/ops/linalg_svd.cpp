// Singular values, and what they tell of a matrix: its rank and its pseudo-inverse.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

namespace {

struct Singular {
    Batch u, v;  ///< A = U·diag(s)·Vᴴ
    Tensor s;
};

/// Vectors as `full` says, or values alone; a side of 0 gives identities.
Singular singularParts(Eager& e, const Tensor& a, bool vectors, bool full) {
    requireMatrices(e, a, "linalg.svd");
    requireFloating(e, a, "linalg.svd");
    const Shape batch = batchOf(a.shape());
    Batch matrices = Batch::of(e, a);
    const std::int64_t m = matrices.rows(), n = matrices.cols(), k = std::min(m, n);
    Singular result{Batch::zeros(e, a.dtype(), batch, vectors ? m : 0, full ? m : k, true),
                    Batch::zeros(e, a.dtype(), batch, vectors ? n : 0, full ? n : k, true),
                    zeros(e, realOf(a.dtype()), batch, {k})};
    if (k == 0) return result;
    Tensor info = zeros(e, DType::Int32, batch);
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices, [&](std::int64_t i) {
            const Matrix<T> u = vectors ? result.u.at<T>(i) : Matrix<T>{},
                            v = vectors ? result.v.at<T>(i) : Matrix<T>{};
            *itemsOf<std::int32_t>(info, i, 1) =
                !decomposeSingular<T>(matrices.at<T>(i), itemsOf<Real<T>>(result.s, i, k), u, v);
        });
    });
    checkInfo(e, info, "linalg.svd");
    return result;
}

/// U, S, Vᴴ; U and Vᴴ without elements if only values are asked for.
EagerResult svd(Eager& e, bool vectors, bool full) {
    if (e.has("driver") && e.tensor("A").numel() > 0) {
        e.fail("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
    }
    const Singular parts = singularParts(e, e.tensor("A"), vectors, full);
    if (!vectors)
        return std::vector<Value>{Value(nothing(e, e.tensor("A").dtype())), Value(parts.s),
                                  Value(nothing(e, e.tensor("A").dtype()))};
    return std::vector<Value>{Value(parts.u.tensor(e)), Value(parts.s), Value(parts.v.tensor(e, Transform::Adjoint))};
}

/// The older form (A, some, compute_uv): U, S and V itself; zeros of full size for vectors that are not asked for.
EagerResult svdOlder(Eager& e) {
    const Tensor a = e.tensor("self");
    const bool some = e.flag("some"), vectors = e.flag("compute_uv");
    if (a.rank() < 2)
        e.fail("linalg.svd: input should have at least 2 dimensions, but has " + std::to_string(a.rank()) +
               " dimensions instead");
    const Singular parts = singularParts(e, a, vectors, !some);
    if (vectors) return std::vector<Value>{Value(parts.u.tensor(e)), Value(parts.s), Value(parts.v.tensor(e))};
    const std::int64_t m = a.dim(a.rank() - 2), n = a.dim(a.rank() - 1);
    const Shape batch = batchOf(a.shape());
    return std::vector<Value>{Value(zeros(e, a.dtype(), batch, {m, m})), Value(parts.s),
                              Value(zeros(e, a.dtype(), batch, {n, n}))};
}

/// What counts as zero: below atol, or rtol times the largest singular value; float64, for each matrix or for all.
struct Tolerance {
    Tensor absolute, relative;
};

/// A number, a real tensor, or `otherwise`.
Tensor toleranceOf(Eager& e, Name input, double otherwise, std::string_view what) {
    if (!e.has(input)) return Tensor::scalar(otherwise);
    const Tensor given = e.tensor(input);
    if (tensor::isComplex(given.dtype())) {
        e.fail(std::string(what) + " tensor of complex type is not supported. Got " + scalarTypeName(given.dtype()));
    }
    return e.as(given, DType::Float64);
}

/// (…, atol, rtol): without rtol it is eps·max(m,n), or 0 where atol is above 0.
Tolerance bothTolerances(Eager& e, const std::string& api) {
    const Tensor absolute = toleranceOf(e, "atol", 0, api + ": atol");
    Tensor relative = toleranceOf(e, "rtol", defaultTolerance(e.tensor({"self", "input"})), api + ": rtol");
    if (!e.has("rtol") && e.has("atol")) {
        Tensor chosen = e.get(absolute.clone());
        for (double& value : chosen.mutableSpan<double>()) value = value > 0 ? 0 : relative.data<double>()[0];
        relative = chosen;
    }
    return {absolute, relative};
}

/// max(atol, rtol · largest) for each matrix, from sizes [..., k] of singular values; [...] with the tolerances'
/// dimensions.
Tensor cutoffs(Eager& e, const Tensor& sizes, const Tolerance& tolerance) {
    const Tensor largest = e.as(e("amax", sizes, std::vector<std::int64_t>{-1}), DType::Float64);
    return e("maximum", tolerance.absolute, e("mul.Tensor", tolerance.relative, largest));
}

EagerResult matrixRank(Eager& e, const Tolerance& tolerance, bool hermitian) {
    const Tensor a = e.tensor({"self", "input"});
    requireMatrices(e, a, "torch.linalg.matrix_rank", "input");
    if (a.numel() == 0) return zeros(e, DType::Int64, batchOf(a.shape()));
    const Tensor sizes = hermitian ? e("abs", e("linalg_eigvalsh", a)) : e("linalg_svdvals", a);
    const Tensor cutoff = cutoffs(e, sizes, tolerance);
    return e("sum.dim_IntList", e("gt.Tensor", e.as(sizes, DType::Float64), cutoff.unsqueezed(cutoff.rank())),
             std::vector<std::int64_t>{-1});
}

/// V·diag(1/s)·Uᴴ without what is below the cutoff; of a Hermitian matrix U = V and s its eigenvalues.
EagerResult pseudoInverse(Eager& e, const Tolerance& tolerance, bool hermitian) {
    const Tensor a = e.tensor("self");
    requireMatrices(e, a, "linalg.pinv");
    requireFloating(e, a, "linalg.pinv");
    const std::int64_t m = a.dim(a.rank() - 2), n = a.dim(a.rank() - 1);
    if (a.numel() == 0) return zeros(e, a.dtype(), batchOf(a.shape()), {n, m});
    const std::vector<Value> parts = hermitian ? e.all("aten", "linalg_eigh", {Value(a)}, {}, 2)
                                               : e.all("aten", "linalg_svd", {Value(a), Value::ofBool(false)}, {}, 3);
    const Tensor s = parts[hermitian ? 0 : 1].tensor();
    const Tensor right = parts[hermitian ? 1 : 2].tensor(), left = parts[hermitian ? 1 : 0].tensor();
    const Tensor cutoff = cutoffs(e, e("abs", s), tolerance);
    const Shape batch = e.get(broadcast(batchOf(a.shape()), cutoff.shape()));
    const std::int64_t k = s.dim(s.rank() - 1);
    const Tensor values = e.get(e.get(s.expanded(joined(batch, {k}))).contiguous());
    const Tensor limits = e.get(e.get(cutoff.expanded(batch)).contiguous());
    Batch v = Batch::of(e, right, batch, hermitian ? Transform::None : Transform::Adjoint),
          u = Batch::of(e, left, batch);
    Batch result = Batch::zeros(e, a.dtype(), batch, n, m);
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, result, [&](std::int64_t i) {
            const Matrix<T> scaled = v.at<T>(i);
            for (std::int64_t j = 0; j < k; ++j) {
                const Real<T> value = values.data<Real<T>>()[i * k + j];
                const bool counts = static_cast<double>(std::abs(value)) > limits.data<double>()[i];
                for (std::int64_t row = 0; row < n; ++row) scaled(row, j) *= counts ? 1 / value : 0;
            }
            multiply<T>(scaled, u.at<T>(i), result.at<T>(i), Transform::Adjoint);
        });
    });
    return result.tensor(e);
}

// Types.

/// U, S, then Vᴴ, or V of the older form.
base::Result<void> inferSvd(InferContext& context, std::optional<bool> vectors, std::optional<bool> full, bool older) {
    const auto a = matrixType(context, {"A", "self"});
    const DType dtype = context.in({"A", "self"}).dtype;
    setType(context, 1, realOf(dtype), a ? std::optional(a->with({a->shorter()})) : std::nullopt);
    if (vectors && !*vectors && !older) {
        for (std::size_t output : {0, 2}) setType(context, output, dtype, Dims{Dim::of(0)});
        return {};
    }
    if (vectors && !*vectors) full = true;
    const bool known = a && vectors && full;
    const Dim left = known && *full ? a->rows
                     : known        ? a->shorter()
                                    : Dim{},
              right = known && *full ? a->cols
                      : known        ? a->shorter()
                                     : Dim{};
    setType(context, 0, dtype, known ? std::optional(a->with({a->rows, left})) : std::nullopt);
    setType(context, 2, dtype,
            known ? std::optional(older ? a->with({a->cols, right}) : a->with({right, a->cols})) : std::nullopt);
    return {};
}

/// The batch of A broadcast with the tolerances that are tensors.
std::optional<Dims> batchWith(const InferContext& context, const MatrixType& a,
                              std::initializer_list<Name> tolerances) {
    Dims batch = a.batch;
    for (const Name input : tolerances) {
        const TypeInfo& type = context.in(input);
        if (type.kind && *type.kind != ValueKind::Tensor) continue;
        auto common = type.shape ? broadcastDims(batch, *type.shape) : base::Result<Dims>(opError("unknown"));
        if (!common) return std::nullopt;
        batch = std::move(*common);
    }
    return batch;
}

base::Result<void> inferRank(InferContext& context, std::initializer_list<Name> tolerances) {
    const auto a = matrixType(context, {"self", "input"});
    setType(context, 0, DType::Int64, a ? batchWith(context, *a, tolerances) : std::nullopt);
    return {};
}

base::Result<void> inferPseudoInverse(InferContext& context, std::initializer_list<Name> tolerances) {
    const auto a = matrixType(context, "self");
    std::optional<Dims> dims = a ? batchWith(context, *a, tolerances) : std::nullopt;
    if (dims) dims->insert(dims->end(), {a->cols, a->rows});
    setType(context, 0, context.in("self").dtype, std::move(dims));
    return {};
}

void defineValues(Registry& registry) {
    registry.add(eagerRow(
        "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
        "A = U·diag(S)·Vᴴ", kLayer, [](Eager& e) { return svd(e, true, e.flag("full_matrices")); },
        [](InferContext& context) { return inferSvd(context, true, knownFlag(context, "full_matrices"), false); }));
    registry.add(eagerRow(
        "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, "
        "Tensor S, Tensor Vh)",
        "A = U·diag(S)·Vᴴ", kLayer, [](Eager& e) { return svd(e, e.flag("compute_uv"), e.flag("full_matrices")); },
        [](InferContext& context) {
            return inferSvd(context, knownFlag(context, "compute_uv"), knownFlag(context, "full_matrices"), false);
        }));
    registry.add(eagerRow("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
                          "A = U·diag(S)·Vᴴ", kLayer, svdOlder, [](InferContext& context) {
                              const auto some = knownFlag(context, "some");
                              return inferSvd(context, knownFlag(context, "compute_uv"),
                                              some ? std::optional(!*some) : std::nullopt, true);
                          }));
    registry.add(eagerRow(
        "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", "singular values", kLayer,
        [](Eager& e) -> EagerResult { return svd(e, false, false).values[1]; },
        [](InferContext& context) -> base::Result<void> {
            const auto a = matrixType(context, "A");
            setType(context, 0, realOf(context.in("A").dtype),
                    a ? std::optional(a->with({a->shorter()})) : std::nullopt);
            return {};
        }));
}

void defineRanks(Registry& registry) {
    constexpr std::string_view kSummary = "count of singular values that are not zero";
    for (std::string_view schema :
         {"linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
          "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor"}) {
        registry.add(eagerRow(
            schema, kSummary, kLayer,
            [](Eager& e) {
                const Tolerance tolerance{toleranceOf(e, "tol", 0, "torch.linalg.matrix_rank: atol"),
                                          Tensor::scalar(0.0)};
                return matrixRank(e, tolerance, e.flag("hermitian"));
            },
            [](InferContext& context) { return inferRank(context, {"tol"}); }));
    }
    for (std::string_view schema : {"linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? "
                                    "rtol=None, bool hermitian=False) -> Tensor",
                                    "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? "
                                    "rtol=None, bool hermitian=False) -> Tensor"}) {
        registry.add(eagerRow(
            schema, kSummary, kLayer,
            [](Eager& e) {
                requireMatrices(e, e.tensor({"self", "input"}), "torch.linalg.matrix_rank", "input");
                return matrixRank(e, bothTolerances(e, "torch.linalg.matrix_rank"), e.flag("hermitian"));
            },
            [](InferContext& context) {
                return inferRank(context, {"atol", "rtol"});
            }));
    }
}

void definePseudoInverses(Registry& registry) {
    constexpr std::string_view kSummary = "pseudo-inverses by singular values";
    for (std::string_view schema :
         {"linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
          "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
          "pinverse(Tensor self, float rcond=1e-15) -> Tensor"}) {
        registry.add(eagerRow(
            schema, kSummary, kLayer,
            [](Eager& e) {
                const Tolerance tolerance{Tensor::scalar(0.0), toleranceOf(e, "rcond", 0, "torch.linalg.pinv: rcond")};
                return pseudoInverse(e, tolerance, e.flag("hermitian"));
            },
            [](InferContext& context) { return inferPseudoInverse(context, {"rcond"}); }));
    }
    for (std::string_view schema : {"linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
                                    "bool hermitian=False) -> Tensor",
                                    "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? "
                                    "rtol=None, bool hermitian=False) -> Tensor"}) {
        registry.add(eagerRow(
            schema, kSummary, kLayer,
            [](Eager& e) {
                requireMatrices(e, e.tensor("self"), "linalg.pinv");
                return pseudoInverse(e, bothTolerances(e, "torch.linalg.pinv"), e.flag("hermitian"));
            },
            [](InferContext& context) {
                return inferPseudoInverse(context, {"atol", "rtol"});
            }));
    }
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_svd(Registry& registry) {
    using namespace linalg;
    defineValues(registry);
    defineRanks(registry);
    definePseudoInverses(registry);
    explain("aten", "linalg_svd linalg_svdvals _linalg_svd", dependence::singularFactor);
    explain("aten", "svd", dependence::singularFactor, "columns");
    explain("aten", "linalg_pinv pinverse", dependence::pseudoInverse);
}

}  // namespace sonde::ops
