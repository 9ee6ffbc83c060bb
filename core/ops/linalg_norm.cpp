// Norms of vectors and matrices, and condition numbers.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/number_text.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"
#include "core/ops/support/promotion.h"

namespace sonde::ops::linalg {

namespace {

using Ints = std::vector<std::int64_t>;

/// "2", "inf", "-1", "0.5": how torch prints an order.
std::string orderText(double order) {
    const bool isWhole = order == std::floor(order) && std::abs(order) < 1e15;
    return isWhole ? std::to_string(static_cast<std::int64_t>(order)) : base::shortestText(order);
}

/// x in the dtype of a call, which must not be narrower than its own.
Tensor inDType(Eager& e, const Tensor& x, const std::string& api) {
    if (!tensor::isFloating(x.dtype()) && !tensor::isComplex(x.dtype())) requireFloating(e, x, api);
    if (!e.has("dtype")) return x;
    const DType dtype = e.dtype("dtype", x.dtype());
    const std::string name = scalarTypeName(dtype);
    const bool isComplex = tensor::isComplex(x.dtype());
    if (isComplex != tensor::isComplex(dtype)) {
        e.fail(api + ": dtype should be " + (isComplex ? "complex for complex" : "real for real") +
               " inputs, but got " + name);
    }
    if (promotedTypes(x.dtype(), dtype) != dtype) {
        e.fail(api + ": the dtype of the input (" + scalarTypeName(x.dtype()) +
               ") should be convertible without narrowing to the specified dtype (" + name + ")");
    }
    return e.as(x, dtype);
}

Ints signedAxes(const std::vector<std::size_t>& axes) { return {axes.begin(), axes.end()}; }

/// Norms with nothing as identity: an empty dimension has no smallest or largest element.
void requireIdentity(Eager& e, const Tensor& x, double order, const std::vector<std::size_t>& axes) {
    if (x.numel() > 0 || (order >= 0 && !std::isinf(order))) return;
    const std::string start = "linalg.vector_norm cannot compute the " + orderText(order) + " norm on ";
    if (axes.size() == x.rank()) e.fail(start + "an empty tensor because the operation does not have an identity");
    for (std::size_t axis : axes) {
        if (x.dim(axis) > 0) continue;
        e.fail(start + "the dimension " + std::to_string(axis) +
               " because this dimension is empty and the operation does not have an identity");
    }
}

/// (Σ |x|^p)^(1/p) over axes; the largest for ∞, the smallest for −∞, the count of others than 0 for 0.
Tensor vectorNorm(Eager& e, Tensor x, double p, const std::vector<std::size_t>& axes, bool keep) {
    if (tensor::isComplex(x.dtype())) x = e("abs", x);
    if (axes.empty()) return p == 0 ? e.as(e("ne.Scalar", x, 0), x.dtype()) : e("abs", x);
    const Ints dims = signedAxes(axes);
    if (p == 2) {
        const Attributes attributes{{"keepdims", std::int64_t{keep}}};
        return e.onnx("ReduceL2",
                      {Value(x), Value(Tensor::of<std::int64_t>({static_cast<std::int64_t>(dims.size())}, dims))},
                      attributes);
    }
    const Tensor size = e("abs", x);
    if (p == 1) return e("sum.dim_IntList", size, dims, keep);
    if (std::isinf(p)) return e(p > 0 ? "amax" : "amin", size, dims, keep);
    if (p == 0) return e.as(e("sum.dim_IntList", e("ne.Scalar", x, 0), dims, keep), x.dtype());
    return e("pow.Tensor_Scalar", e("sum.dim_IntList", e("pow.Tensor_Scalar", size, p), dims, keep), 1 / p);
}

/// linalg.vector_norm of (self, …, dim, keepdim, dtype).
Tensor checkedVectorNorm(Eager& e, double order) {
    const Tensor x = inDType(e, e.tensor("self"), "linalg.vector_norm");
    const std::vector<std::size_t> axes = e.axes("dim", x.rank());
    requireIdentity(e, x, order, axes);
    return vectorNorm(e, x, order, axes, e.flag("keepdim"));
}

/// The older norm (order may be None: 2), 0 of nothing. Overloads lack dim, keepdim or dtype.
EagerResult olderNorm(Eager& e) {
    Tensor x = e.tensor("self");
    x = e.as(x, e.dtype("dtype", x.dtype()));
    if (!tensor::isFloating(x.dtype()) && !tensor::isComplex(x.dtype())) {
        e.fail("norm(): input dtype should be either floating point or complex. Got " + scalarTypeName(x.dtype()) +
               " instead.");
    }
    const std::vector<std::size_t> axes = e.axes("dim", x.rank());
    const bool keep = e.flag("keepdim"), isText = e.has("p") && e.value("p").kind() == ValueKind::String;
    if (isText && e.text("p") == "nuc") return e("nuclear_norm.dim", x, signedAxes(axes), keep);
    if (isText && e.text("p") != "fro") e.fail("norm(): order " + e.text("p") + " is not supported");
    const double order = isText || !e.has("p") ? 2 : e.number("p");
    return vectorNorm(e, x, x.numel() == 0 ? 1 : order, axes, keep);
}

/// The two axes of linalg.matrix_norm.
std::pair<std::size_t, std::size_t> matrixAxes(Eager& e, const Tensor& x, const Ints& dims) {
    requireMatrices(e, x, "linalg.matrix_norm");
    if (dims.size() != 2) {
        std::string text;
        for (std::int64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
        e.fail("linalg.matrix_norm: dim must be a 2-tuple. Got " + text);
    }
    const std::size_t first = e.axisOf(dims[0], x.rank()), second = e.axisOf(dims[1], x.rank());
    if (first == second) {
        e.fail("linalg.matrix_norm: dims must be different. Got (" + std::to_string(dims[0]) + ", " +
               std::to_string(dims[1]) + ")");
    }
    return {first, second};
}

/// Singular values of the matrices of two axes, along a last one.
Tensor singularValues(Eager& e, const Tensor& x, std::size_t rows, std::size_t cols) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i != rows && i != cols) order.push_back(i);
    }
    order.insert(order.end(), {rows, cols});
    return e("linalg_svdvals", e.get(x.permuted(order).contiguous()));
}

Tensor withDims(Tensor reduced, std::size_t first, std::size_t second, bool keep) {
    if (!keep) return reduced;
    return reduced.unsqueezed(std::min(first, second)).unsqueezed(std::max(first, second));
}

/// The order of a matrix norm: a number, "fro" or "nuc".
struct Order {
    double number = 2;
    std::string text;
};
Order orderOf(Eager& e, Name input) {
    if (e.value(input).kind() == ValueKind::String) return {0, e.text(input)};
    return {e.number(input), {}};
}

/// Frobenius; nuclear: Σ s; 2 and −2: largest and smallest s; 1 and −1: of the sums of columns; ±∞: of the sums of
/// rows.
Tensor matrixNorm(Eager& e, const Order& order, const Ints& dims, bool keep) {
    const double size = std::abs(order.number);
    const bool known =
        order.text.empty() ? size == 1 || size == 2 || std::isinf(size) : order.text == "fro" || order.text == "nuc";
    if (!known) {
        e.fail("linalg.matrix_norm: Order " + (order.text.empty() ? orderText(order.number) : order.text) +
               " not supported.");
    }
    const auto [rows, cols] = matrixAxes(e, e.tensor("self"), dims);
    const Tensor x = inDType(e, e.tensor("self"), "linalg.matrix_norm");
    if (order.text == "fro") return vectorNorm(e, x, 2, {rows, cols}, keep);
    const char* extreme = order.number > 0 ? "amax" : "amin";
    if (order.text == "nuc" || size == 2) {
        const Tensor s = singularValues(e, x, rows, cols);
        return withDims(order.text.empty() ? e(extreme, s, Ints{-1}) : e("sum.dim_IntList", s, Ints{-1}), rows, cols,
                        keep);
    }
    const std::size_t summed = size == 1 ? rows : cols, other = size == 1 ? cols : rows;
    const Tensor sums = vectorNorm(e, x, 1, {summed}, true);
    const Tensor result = e(extreme, sums, Ints{static_cast<std::int64_t>(other)}, true);
    if (keep) return result;
    Shape shape;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i != rows && i != cols) shape.push_back(x.dim(i));
    }
    return e.reshape(result, shape);
}

/// linalg.norm (A, ord, dim, keepdim, dtype).
EagerResult norm(Eager& e) {
    const Tensor x = e.tensor("self");
    const bool hasOrder = e.has("ord"), hasDims = e.has("dim");
    const Ints dims = hasDims ? e.integers("dim") : Ints{};
    if (hasDims && dims.size() != 1 && dims.size() != 2) {
        std::string text;
        for (std::int64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
        e.fail("linalg.norm: If dim is specified, it must be of length 1 or 2. Got [" + text + "]");
    }
    if (!hasDims && hasOrder && x.rank() != 1 && x.rank() != 2) {
        e.fail("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got " +
               std::to_string(x.rank()) + "D.");
    }
    const bool isText = hasOrder && e.value("ord").kind() == ValueKind::String;
    const bool ofMatrices = hasOrder && (hasDims ? dims.size() == 2 : x.rank() == 2);
    if (isText || ofMatrices) return matrixNorm(e, orderOf(e, "ord"), hasDims ? dims : Ints{0, 1}, e.flag("keepdim"));
    return checkedVectorNorm(e, hasOrder ? e.number("ord") : 2);
}

EagerResult frobenius(Eager& e) {
    if (e.integers("dim").size() > 2) {
        e.fail("Expected at most 2 dimensions, but got " + std::to_string(e.integers("dim").size()) +
               " dimensions instead.");
    }
    return e("norm.ScalarOpt_dim", e.tensor("self"), nullptr, e.integers("dim"), e.flag("keepdim"));
}

/// Σ s over two axes.
Tensor nuclear(Eager& e, const Ints& dims, bool keep) {
    const auto [rows, cols] = matrixAxes(e, e.tensor("self"), dims);
    return withDims(e("sum.dim_IntList", singularValues(e, e.tensor("self"), rows, cols), Ints{-1}), rows, cols, keep);
}

/// ‖A‖·‖A⁻¹‖, ∞ where A is singular; in 2-norms and nuclear ones from the singular values.
EagerResult condition(Eager& e) {
    const Tensor a = e.tensor("self");
    const Order order = e.has("p") ? orderOf(e, "p") : Order{};
    const std::string name = order.text.empty() ? orderText(order.number) : order.text,
                      api = "linalg.cond(ord=" + name + ")";
    const double size = std::abs(order.number);
    const bool known =
        order.text.empty() ? size == 1 || size == 2 || std::isinf(size) : order.text == "fro" || order.text == "nuc";
    if (!known) e.fail("linalg.cond got an invalid norm type: " + name);
    if (!order.text.empty()) requireSquare(e, a, api);
    if (a.rank() < 2) e.fail("linalg.cond: The input tensor must have at least 2 dimensions.");
    requireFloating(e, a, "linalg.cond");
    if (a.numel() == 0) return zeros(e, realOf(a.dtype()), batchOf(a.shape()));
    if (order.text == "nuc" || (order.text.empty() && size == 2)) {
        const Tensor s = e("linalg_svdvals", a);
        const std::size_t last = s.rank() - 1;
        if (!order.text.empty()) {
            return e("mul.Tensor", e("sum.dim_IntList", s, Ints{-1}),
                     e("sum.dim_IntList", e("reciprocal", s), Ints{-1}));
        }
        const Tensor largest = s.selected(last, 0), smallest = s.selected(last, s.dim(last) - 1);
        return order.number > 0 ? e("div.Tensor", largest, smallest) : e("div.Tensor", smallest, largest);
    }
    requireSquare(e, a, api);
    const std::vector<Value> inverse = e.all("aten", "linalg_inv_ex", {Value(a)}, {}, 2);
    const auto sizeOf = [&](const Tensor& x) {
        return order.text.empty() ? e("linalg_matrix_norm", x, order.number)
                                  : e("linalg_matrix_norm.str_ord", x, order.text.c_str());
    };
    const Tensor product = e("mul.Tensor", sizeOf(a), sizeOf(inverse[0].tensor()));
    const Tensor isSingular = e("logical_or", e("ne.Scalar", inverse[1].tensor(), 0), e("isnan", product));
    return e("masked_fill.Scalar", product, isSingular, std::numeric_limits<double>::infinity());
}

// Types.

/// The dtype that a call names, or A's; of complex numbers the real one.
DType normDType(const InferContext& context) {
    if (!context.has("dtype")) return realOf(context.in("self").dtype);
    const Value& number = context.constant("dtype");
    return number.kind() == ValueKind::Int ? realOf(dtypeFromTorch(number.toInt()).value_or(DType::Undefined))
                                           : DType::Undefined;
}

/// Dimensions without some axes (or with 1 in their place); nothing if one is outside.
std::optional<Dims> without(const Dims& dims, const Ints& axes, bool keep) {
    std::vector<bool> isReduced(dims.size(), axes.empty());
    for (std::int64_t axis : axes) {
        const auto found = tensor::normalizedAxis(axis, dims.size());
        if (!found) return std::nullopt;
        isReduced[*found] = true;
    }
    Dims result;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (!isReduced[i]) result.push_back(dims[i]);
        else if (keep) result.push_back(Dim::of(1));
    }
    return result;
}

/// `usual`: the axes without `dim`, all if empty.
base::Result<void> inferNorm(InferContext& context, const Ints& usual) {
    const auto& shape = context.in("self").shape;
    std::optional<Ints> axes = usual;
    if (context.has("dim")) {
        const Value& given = context.constant("dim");
        const auto list = given.isNone() ? base::Result<Ints>(opError("unknown")) : intsOf(given);
        axes = list ? std::optional(*list) : std::nullopt;
    }
    const auto keep = context.has("keepdim") ? knownFlag(context, "keepdim") : std::optional(false);
    const bool known = shape && axes && keep;
    setType(context, 0, normDType(context), known ? without(*shape, *axes, *keep) : std::nullopt);
    return {};
}

base::Result<void> inferOverAxes(InferContext& context) { return inferNorm(context, {}); }

void defineVectorNorms(Registry& registry) {
    registry.add(eagerRow("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", "p-norm of all elements", kRed, olderNorm,
                          inferOverAxes));
    registry.add(eagerRow("norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
                          "p-norm of all elements", kRed, olderNorm, inferOverAxes));
    registry.add(eagerRow("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
                          "p-norm over axes", kRed, olderNorm, inferOverAxes));
    registry.add(eagerRow(
        "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
        "p-norm over axes", kRed, olderNorm, inferOverAxes));
    registry.add(eagerRow("frobenius_norm(Tensor self) -> Tensor", "root of the sum of squares", kRed, olderNorm,
                          inferOverAxes));
    registry.add(eagerRow("frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
                          "root of the sum of squares", kRed, frobenius, inferOverAxes));
    registry.add(eagerRow(
        "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
        "dtype=None) -> Tensor",
        "p-norm over axes", kRed, [](Eager& e) -> EagerResult { return checkedVectorNorm(e, e.number("ord")); },
        inferOverAxes));
}

void defineMatrixNorms(Registry& registry) {
    for (std::string_view schema : {"linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, "
                                    "*, ScalarType? dtype=None) -> Tensor",
                                    "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, "
                                    "*, ScalarType? dtype=None) -> Tensor"}) {
        registry.add(eagerRow(schema, "norm of vectors or matrices", kRed, norm, inferOverAxes));
    }
    for (std::string_view schema : {"linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool "
                                    "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                                    "linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool "
                                    "keepdim=False, *, ScalarType? dtype=None) -> Tensor"}) {
        registry.add(eagerRow(
            schema, "norm of matrices", kRed,
            [](Eager& e) -> EagerResult {
                return matrixNorm(e, orderOf(e, "ord"), e.integers("dim"), e.flag("keepdim"));
            },
            inferOverAxes));
    }
    registry.add(eagerRow(
        "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", "sum of the singular values", kRed,
        [](Eager& e) -> EagerResult {
            const std::size_t rank = e.tensor("self").rank();
            if (rank == 2) return nuclear(e, {0, 1}, e.flag("keepdim"));
            e.fail("Expected a tensor with 2 dimensions, but got a tensor with " + std::to_string(rank) + " dimension" +
                   (rank == 1 ? "" : "s") + " instead.");
        },
        inferOverAxes));
    registry.add(eagerRow(
        "nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", "sum of the singular values", kRed,
        [](Eager& e) -> EagerResult {
            if (e.integers("dim").size() != 2) e.fail("nuclear norm requires a 'dim' argument of size 2");
            return nuclear(e, e.integers("dim"), e.flag("keepdim"));
        },
        inferOverAxes));
    for (std::string_view schema :
         {"linalg_cond(Tensor self, Scalar? p=None) -> Tensor", "linalg_cond.p_str(Tensor self, str p) -> Tensor"}) {
        registry.add(eagerRow(schema, "condition numbers", kRed, condition, [](InferContext& context) {
            return inferNorm(context, {-2, -1});
        }));
    }
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_norm(Registry& registry) {
    using namespace linalg;
    defineVectorNorms(registry);
    defineMatrixNorms(registry);
    explain("aten", "nuclear_norm", dependence::nuclearNorm);
    explain("aten", "norm frobenius_norm linalg_vector_norm", dependence::normed);
    explain("aten", "linalg_norm linalg_matrix_norm", dependence::normed, "matrix");
}

}  // namespace sonde::ops
