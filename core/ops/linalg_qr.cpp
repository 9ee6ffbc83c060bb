// QR decomposition by Householder reflectors, and products of these.

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

namespace {

/// Reflectors and R packed, and the factors of the reflectors.
EagerResult reflectors(Eager& e) {
    const Tensor a = e.tensor("self");
    if (a.rank() < 2) e.fail("torch.geqrf: input must have at least 2 dimensions.");
    requireFloating(e, a, "torch.geqrf");
    Batch matrices = Batch::of(e, a);
    const std::int64_t count = std::min(matrices.rows(), matrices.cols());
    Tensor tau = zeros(e, a.dtype(), batchOf(a.shape()), {count});
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices, [&](std::int64_t i) { factorQr(matrices.at<T>(i), itemsOf<T>(tau, i, count)); });
    });
    return std::vector<Value>{Value(matrices.tensor(e)), Value(tau)};
}

enum class Mode : std::uint8_t { Reduced, Complete, ROnly };

Mode modeOf(Eager& e, const std::string& text) {
    if (text == "reduced") return Mode::Reduced;
    if (text == "complete") return Mode::Complete;
    if (text == "r") return Mode::ROnly;
    e.fail("qr received unrecognized mode '" + text + "' but expected one of 'reduced' (default), 'r', or 'complete'");
}

/// The first `cols` columns of Q = Π (I − tau·v·vᴴ).
Tensor orthogonal(Eager& e, const Tensor& vectors, const Tensor& tau, std::int64_t cols) {
    const std::int64_t count = tau.dim(tau.rank() - 1), m = vectors.dim(vectors.rank() - 2);
    Batch v = Batch::of(e, vectors), q = Batch::zeros(e, vectors.dtype(), batchOf(vectors.shape()), m, cols, true);
    dispatch(vectors.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, q, [&](std::int64_t i) {
            applyReflectors<T>(v.at<T>(i), tau.data<T>() + i * count, count, q.at<T>(i), false);
        });
    });
    return q.tensor(e);
}

/// Q [m,k] and R [k,n] with k = min(m,n), or m for complete ones; Q without elements for R alone.
EagerResult qrParts(Eager& e, Mode mode) {
    const Tensor a = e.tensor({"A", "self"});
    requireMatrices(e, a, "linalg.qr");
    requireFloating(e, a, "linalg.qr");
    const std::int64_t m = a.dim(a.rank() - 2), n = a.dim(a.rank() - 1);
    const std::vector<Value> packed = e.all("aten", "geqrf", {Value(a)}, {}, 2);
    const Tensor& vectors = packed[0].tensor();
    const std::int64_t rows = mode == Mode::Complete ? m : std::min(m, n);
    const Tensor r = e("triu", e.get(vectors.sliced(a.rank() - 2, 0, rows).contiguous()));
    const Tensor q = mode == Mode::ROnly ? nothing(e, a.dtype()) : orthogonal(e, vectors, packed[1].tensor(), rows);
    return std::vector<Value>{Value(q), Value(r)};
}

/// The first n columns of Q, for reflectors [m,n] and k factors.
EagerResult householderProduct(Eager& e) {
    const std::string api = "torch.linalg.householder_product: ";
    const Tensor vectors = e.tensor({"input", "self"}), tau = e.tensor({"tau", "input2"});
    if (vectors.rank() < 2) e.fail(api + "input must have at least 2 dimensions.");
    const std::int64_t m = vectors.dim(vectors.rank() - 2), n = vectors.dim(vectors.rank() - 1);
    if (m < n) e.fail(api + "input.shape[-2] must be greater than or equal to input.shape[-1]");
    if (tau.rank() + 1 != vectors.rank()) {
        e.fail(api + "Expected tau to have one dimension less than input, but got tau.ndim equal to " +
               std::to_string(tau.rank()) + " and input.ndim is equal to " + std::to_string(vectors.rank()));
    }
    if (tau.dim(tau.rank() - 1) > n) e.fail(api + "input.shape[-1] must be greater than or equal to tau.shape[-1]");
    if (batchOf(tau.shape(), 1) != batchOf(vectors.shape())) {
        e.fail(api + "Expected batch dimensions of tau to be equal to input.shape[:-2], but got " +
               sizesText(batchOf(tau.shape(), 1)));
    }
    if (tau.dtype() != vectors.dtype()) {
        e.fail(api + "tau dtype " + scalarTypeName(tau.dtype()) + " does not match input dtype " +
               scalarTypeName(vectors.dtype()));
    }
    requireFloating(e, vectors, "torch.linalg.householder_product");
    return orthogonal(e, vectors, tau, n);
}

/// What torch.ormqr asks of (input, tau, other, left).
void requireProduct(Eager& e, const Tensor& vectors, const Tensor& tau, const Tensor& other, bool left) {
    const std::string api = "torch.ormqr: ";
    if (vectors.rank() < 2) e.fail(api + "input must have at least 2 dimensions.");
    if (other.rank() < 2) e.fail(api + "other must have at least 2 dimensions.");
    const auto ranks = [&](const std::string& name, const Tensor& x) {
        return " but got " + name + ".ndim equal to " + std::to_string(x.rank()) + " and input.ndim is equal to " +
               std::to_string(vectors.rank());
    };
    const std::size_t side = other.rank() - (left ? 2 : 1);
    const std::string index = left ? "-2" : "-1";
    if (tau.rank() == 0 || other.dim(side) < tau.dim(tau.rank() - 1)) {
        e.fail(api + "other.shape[" + index + "] must be greater than or equal to tau.shape[-1]");
    }
    if (tau.dim(tau.rank() - 1) > vectors.dim(vectors.rank() - 1)) {
        e.fail(api + "tau.shape[-1] must be less than or equal to input.shape[-1]");
    }
    if (other.dim(side) != vectors.dim(vectors.rank() - 2))
        e.fail(api + "other.shape[" + index + "] must be equal to input.shape[-2]");
    if (tau.rank() + 1 != vectors.rank())
        e.fail(api + "Expected tau to have one dimension less than input," + ranks("tau", tau));
    if (other.rank() != vectors.rank()) {
        e.fail(api + "Expected other to have the same number of dimensions as input," + ranks("other", other));
    }
    if (batchOf(tau.shape(), 1) != batchOf(vectors.shape())) {
        e.fail(api + "Expected batch dimensions of tau to be equal to input.shape[:-2], but got " +
               sizesText(batchOf(tau.shape(), 1)));
    }
    if (batchOf(other.shape()) != batchOf(vectors.shape())) {
        e.fail(api + "Expected batch dimensions of other to be equal to input.shape[:-2], but got " +
               sizesText(batchOf(other.shape())));
    }
    requireFloating(e, vectors, "torch.ormqr");
    requireSameDType(e, vectors, other, "torch.ormqr", "input", "other");
    requireSameDType(e, vectors, tau, "torch.ormqr", "input", "tau");
}

/// Q·C, Qᴴ·C, C·Q or C·Qᴴ.
EagerResult multiplyByQ(Eager& e) {
    const Tensor vectors = e.tensor("self"), tau = e.tensor("input2"), other = e.tensor("input3");
    const bool left = e.flag("left"), adjoint = e.flag("transpose");
    requireProduct(e, vectors, tau, other, left);
    const std::int64_t count = tau.dim(tau.rank() - 1);
    // C·Q is (Qᴴ·Cᴴ)ᴴ.
    const Transform turned = left ? Transform::None : Transform::Adjoint;
    Batch v = Batch::of(e, vectors), c = Batch::of(e, other, turned);
    dispatch(other.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, c, [&](std::int64_t i) {
            applyReflectors<T>(v.at<T>(i), tau.data<T>() + i * count, count, c.at<T>(i), adjoint == left);
        });
    });
    return c.tensor(e, turned);
}

/// Q and R of a known mode.
base::Result<void> inferQr(InferContext& context, std::optional<Mode> mode) {
    const auto a = matrixType(context, {"self", "A"});
    const DType dtype = context.in({"self", "A"}).dtype;
    if (!a || !mode) {
        setType(context, 0, dtype, mode == Mode::ROnly ? std::optional(Dims{Dim::of(0)}) : std::nullopt);
        setType(context, 1, dtype, std::nullopt);
        return {};
    }
    const Dim middle = *mode == Mode::Complete ? a->rows : a->shorter();
    setType(context, 0, dtype, *mode == Mode::ROnly ? Dims{Dim::of(0)} : a->with({a->rows, middle}));
    setType(context, 1, dtype, a->with({middle, a->cols}));
    return {};
}

base::Result<void> inferModeText(InferContext& context) {
    const Value& mode = context.constant("mode");
    if (mode.kind() != ValueKind::String) return inferQr(context, std::nullopt);
    const std::string& text = mode.toString();
    return inferQr(context, text == "r" ? Mode::ROnly : text == "complete" ? Mode::Complete : Mode::Reduced);
}

base::Result<void> inferSome(InferContext& context) {
    const auto some = knownFlag(context, "some");
    return inferQr(context, some ? std::optional(*some ? Mode::Reduced : Mode::Complete) : std::nullopt);
}

base::Result<void> inferReflectors(InferContext& context) {
    context.set(context.in("self"));
    const auto a = matrixType(context, "self");
    setType(context, 1, context.in("self").dtype, a ? std::optional(a->with({a->shorter()})) : std::nullopt);
    return {};
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_qr(Registry& registry) {
    using namespace linalg;
    registry.add(eagerRow("geqrf(Tensor self) -> (Tensor a, Tensor tau)", "QR decomposition, packed", kLayer,
                          reflectors, inferReflectors));
    registry.add(eagerRow(
        "linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)", "A = Q·R", kLayer,
        [](Eager& e) { return qrParts(e, modeOf(e, e.text("mode"))); }, inferModeText));
    registry.add(eagerRow(
        "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", "A = Q·R", kLayer,
        [](Eager& e) { return qrParts(e, e.flag("some") ? Mode::Reduced : Mode::Complete); }, inferSome));
    for (std::string_view schema : {"linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
                                    "orgqr(Tensor self, Tensor input2) -> Tensor"}) {
        registry.add(eagerRow(schema, "first columns of a product of Householder reflectors", kLayer,
                              householderProduct, inferSame));
    }
    registry.add(
        eagerRow("ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
                 "a matrix times a product of Householder reflectors", kLayer, multiplyByQ,
                 [](InferContext& context) -> base::Result<void> {
                     context.set(context.in("input3"));
                     return {};
                 }));
    explain("aten", "linalg_qr qr", dependence::orthogonalFactor);
}

}  // namespace sonde::ops
