// Inverses and systems of linear equations.

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"
#include "core/ops/registry/effects.h"

namespace sonde::ops::linalg {

namespace {

/// A⁻¹ and info; infinities or NaN where A is singular.
EagerResult inverse(Eager& e) {
    const Tensor a = e.tensor({"A", "self"});
    requireSquareFloating(e, a, "linalg.inv");
    const std::int64_t n = a.dim(a.rank() - 1);
    const std::vector<Value> lu = e.all("aten", "linalg_lu_factor_ex", {Value(a)}, {}, 3);
    const Tensor one = Batch::zeros(e, a.dtype(), batchOf(a.shape()), n, n, true).tensor(e);
    return std::vector<Value>{Value(e("linalg_lu_solve", lu[0], lu[1], one)), lu[2]};
}

EagerResult inverseChecked(Eager& e, std::string_view api) {
    EagerResult result = inverse(e);
    checkInfo(e, result.values[1].tensor(), api);
    return result;
}

/// Whether B [..., n] is a vector for each matrix of A: it has one dimension, or the shape of A without its last.
bool isVectors(const Shape& a, const Shape& b) {
    return b.rank() == 1 || (b.rank() + 1 == a.rank() && b == batchOf(a, 1));
}

/// X, LU, pivots and info of A·X = B or X·A = B (A, B, left).
EagerResult solve(Eager& e) {
    constexpr std::string_view kApi = "linalg.solve";
    const Tensor a = e.tensor("A");
    requireMatrices(e, a, kApi);
    const bool vectors = isVectors(a.shape(), e.tensor("B").shape()), left = e.flag("left");
    const Tensor b = vectors ? e.tensor("B").unsqueezed(e.tensor("B").rank()) : e.tensor("B");
    requireFloating(e, a, kApi);
    requireSameDType(e, a, b, kApi);
    requireSolvable(e, a, b, left, kApi);
    const std::vector<Value> lu = e.all("aten", "linalg_lu_factor_ex", {Value(a)}, {}, 3);
    const Tensor x = e("linalg_lu_solve", lu[0], lu[1], b, left);
    return std::vector<Value>{Value(vectors ? e.reshape(x, batchOf(x.shape(), 1)) : x), lu[0], lu[1], lu[2]};
}

EagerResult solveChecked(Eager& e, std::string_view api) {
    EagerResult result = solve(e);
    checkInfo(e, result.values[3].tensor(), api);
    return result;
}

/// X and info.
EagerResult withoutFactors(EagerResult result) { return std::vector<Value>{result.values[0], result.values[3]}; }

/// X and info, with torch.linalg.solve_ex's flag `check_errors`.
EagerResult solveEx(Eager& e) { return e.flag("check_errors") ? solveChecked(e, "torch.linalg.solve_ex") : solve(e); }

/// X of op(A)·X = B or X·op(A) = B with A's triangle alone.
Tensor solveTriangle(Eager& e, const Tensor& a, const Tensor& b, Triangle triangle, Transform transform, bool left) {
    const Shape batch = commonBatch(e, b, a);
    // X·A = B is Aᵀ·Xᵀ = Bᵀ; the triangle of Aᵀ is on the other side.
    Batch matrices = Batch::of(e, a, batch, left ? Transform::None : Transform::Transpose);
    Batch x = Batch::of(e, b, batch, left ? Transform::None : Transform::Transpose);
    if (!left) triangle.upper = !triangle.upper;
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, matrices,
                      [&](std::int64_t i) { solveTriangular<T>(matrices.at<T>(i), x.at<T>(i), triangle, transform); });
    });
    return x.tensor(e, left ? Transform::None : Transform::Transpose);
}

EagerResult triangularSystem(Eager& e) {
    constexpr std::string_view kApi = "linalg.solve_triangular";
    const Tensor a = e.tensor("self"), b = e.tensor("B");
    const bool left = e.flag("left");
    requireSolvable(e, a, b, left, kApi);
    requireFloating(e, a, kApi);
    requireSameDType(e, a, b, kApi);
    return solveTriangle(e, a, b, {.upper = e.flag("upper"), .unit = e.flag("unitriangular")}, Transform::None, left);
}

/// The older form (B, A, upper, transpose, unitriangular): X, and A broadcast.
EagerResult triangularSolve(Eager& e) {
    const Tensor b = e.tensor("self"), a = e.tensor("A");
    for (const auto& [x, name] : {std::pair(b, "b"), std::pair(a, "A")}) {
        if (x.rank() >= 2) continue;
        e.fail("torch.triangular_solve: Expected " + std::string(name) + " to have at least 2 dimensions, but it has " +
               std::to_string(x.rank()) + " dimensions instead");
    }
    requireSquareFloating(e, a, "triangular_solve");
    requireSameDType(e, b, a, "triangular_solve", "b", "A");
    requireSameSize(e, a, b, "triangular_solve");
    const Transform transform = e.flag("transpose") ? Transform::Transpose : Transform::None;
    const Tensor x =
        solveTriangle(e, a, b, {.upper = e.flag("upper"), .unit = e.flag("unitriangular")}, transform, true);
    const Tensor copy = e.get(a.expanded(joined(batchOf(x.shape()), {a.dim(a.rank() - 2), a.dim(a.rank() - 1)})));
    return std::vector<Value>{Value(x), Value(e.get(e.get(copy.contiguous()).clone()))};
}

/// The product of some of a shape's dimensions.
std::int64_t dimProduct(const Shape& shape, std::size_t begin, std::size_t end) {
    return Shape(std::vector<std::int64_t>(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                                           shape.begin() + static_cast<std::ptrdiff_t>(end)))
        .numel();
}

std::string mismatch(std::string_view index, std::int64_t behind, std::int64_t before) {
    const std::string text(index);
    return "Expected self to satisfy the requirement prod(self.shape[" + text + ":]) == prod(self.shape[:" + text +
           "]), but got " + std::to_string(behind) + " != " + std::to_string(before);
}

/// The inverse of the linear map from the dimensions behind `ind` to those before.
EagerResult tensorInverse(Eager& e) {
    const Tensor a = e.tensor("self");
    const std::int64_t ind = e.integer("ind");
    if (ind <= 0) e.fail("Expected a strictly positive integer for 'ind', but got " + std::to_string(ind));
    const std::size_t split = std::min(static_cast<std::size_t>(ind), a.rank());
    const std::int64_t before = dimProduct(a.shape(), 0, split), behind = dimProduct(a.shape(), split, a.rank());
    if (before != behind) e.fail(mismatch("ind", behind, before));
    std::vector<std::int64_t> dims(a.shape().begin() + static_cast<std::ptrdiff_t>(split), a.shape().end());
    dims.insert(dims.end(), a.shape().begin(), a.shape().begin() + static_cast<std::ptrdiff_t>(split));
    return e.reshape(e("linalg_inv", e.reshape(a, {before, before})), Shape(std::move(dims)));
}

/// X with tensordot(A, X, X.ndim) = B; `dims` of A go to its end first.
EagerResult tensorSolve(Eager& e) {
    Tensor a = e.tensor("self");
    const Tensor b = e.tensor("other");
    if (e.has("dims")) {
        std::vector<std::int64_t> to(e.integers("dims").size());
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(to.size());
        a = e.get(e("movedim.intlist", a, e.integers("dims"), to).contiguous());
    }
    const std::size_t split = std::min(b.rank(), a.rank());
    const std::int64_t before = dimProduct(a.shape(), 0, split), behind = dimProduct(a.shape(), split, a.rank());
    if (before != behind) e.fail(mismatch("other.ndim", behind, before));
    if (b.numel() != before)
        e.fail("other must have " + std::to_string(before) + " elements, but it is " + b.typeText());
    const Tensor x = e("linalg_solve", e.reshape(a, {before, before}), e.reshape(b, {before}));
    return e.reshape(
        x, Shape(std::vector<std::int64_t>(a.shape().begin() + static_cast<std::ptrdiff_t>(split), a.shape().end())));
}

/// Types of (A, info): A's own and int32 for each matrix.
base::Result<void> inferInverse(InferContext& context) {
    context.set(context.in("A"));
    const auto a = matrixType(context, "A");
    setType(context, 1, DType::Int32, a ? std::optional(a->batch) : std::nullopt);
    return {};
}

/// X has the dimensions of B broadcast with A's batch. A vector for each matrix can be told from a matrix by the ranks
/// alone, or not at all before the run.
std::optional<Dims> solvedDims(const InferContext& context) {
    const auto a = matrixType(context, "A");
    const auto& b = context.in("B").shape;
    if (!a || !b || b->empty()) return std::nullopt;
    const Dims vectors = a->with({a->rows});
    const bool isTold = std::ranges::all_of(*b, [](const Dim& dim) { return dim.known() || !dim.symbol.empty(); });
    if (b->size() == 1 || (isTold && *b == vectors)) return vectors;
    const auto isOpen = [](const Dim& dim) { return !dim.known(); };
    const bool mayBeVector =
        b->size() == vectors.size() && (std::ranges::any_of(*b, isOpen) || std::ranges::any_of(vectors, isOpen));
    if (mayBeVector) return std::nullopt;
    auto batch = broadcastDims(a->batch, Dims(b->begin(), b->end() - 2));
    if (!batch) return std::nullopt;
    batch->insert(batch->end(), b->end() - 2, b->end());
    return std::move(*batch);
}

/// X, then LU and pivots if `factors`, then info.
base::Result<void> inferSolve(InferContext& context, bool factors) {
    const auto a = matrixType(context, "A");
    const DType dtype = context.in("A").dtype;
    std::size_t output = 0;
    setType(context, output++, dtype, solvedDims(context));
    if (factors) {
        setType(context, output++, dtype, a ? std::optional(a->with({a->rows, a->cols})) : std::nullopt);
        setType(context, output++, DType::Int32, a ? std::optional(a->with({a->rows})) : std::nullopt);
    }
    setType(context, output, DType::Int32, a ? std::optional(a->batch) : std::nullopt);
    return {};
}

/// X, and A broadcast behind it.
base::Result<void> inferTriangular(InferContext& context, Name matrix, Name right) {
    const auto a = matrixType(context, matrix), b = matrixType(context, right);
    std::optional<Dims> x, copy;
    if (a && b) {
        SONDE_ASSIGN(const Dims batch, broadcastDims(a->batch, b->batch));
        x = MatrixType{batch, b->rows, b->cols}.with({b->rows, b->cols});
        copy = MatrixType{batch, a->rows, a->cols}.with({a->rows, a->cols});
    }
    setType(context, 0, context.in(right).dtype, std::move(x));
    setType(context, 1, context.in(matrix).dtype, std::move(copy));
    return {};
}

base::Result<void> inferTensorInverse(InferContext& context) {
    const auto& shape = context.in("self").shape;
    const Value& ind = context.constant("ind");
    const bool known = shape && ind.kind() == ValueKind::Int && ind.toInt() > 0;
    if (!known) {
        setType(context, 0, context.in("self").dtype, std::nullopt);
        return {};
    }
    Dims dims = *shape;
    const auto split = std::min<std::int64_t>(ind.toInt(), static_cast<std::int64_t>(dims.size()));
    std::rotate(dims.begin(), dims.begin() + split, dims.end());
    setType(context, 0, context.in("self").dtype, std::move(dims));
    return {};
}

/// Dimensions with some of them moved to the end; nothing if they are not known or outside.
std::optional<Dims> movedToEnd(const Dims& dims, const Value& moved) {
    if (!moved.isListLike()) return std::nullopt;
    const auto list = intsOf(moved);
    const auto axes = list ? axesOf(*list, dims.size()) : base::Result<std::vector<std::size_t>>(list.error());
    if (!axes) return std::nullopt;
    Dims result;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (std::ranges::find(*axes, i) == axes->end()) result.push_back(dims[i]);
    }
    for (std::size_t axis : *axes) result.push_back(dims[axis]);
    return result;
}

base::Result<void> inferTensorSolve(InferContext& context) {
    const auto &a = context.in("self").shape, &b = context.in("other").shape;
    std::optional<Dims> dims;
    if (a && b && b->size() <= a->size()) {
        const bool isMoved = context.in("dims").kind != ValueKind::None;
        const std::optional<Dims> order = isMoved ? movedToEnd(*a, context.constant("dims")) : a;
        if (order) dims = Dims(order->begin() + static_cast<std::ptrdiff_t>(b->size()), order->end());
        else dims = unknownDims(a->size() - b->size());
    }
    setType(context, 0, context.in("self").dtype, std::move(dims));
    return {};
}

void defineSolvers(Registry& registry) {
    registry.add(eagerRow(
        "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", "x with A·x = B", kLayer,
        [](Eager& e) { return solveChecked(e, "torch.linalg.solve"); },
        [](InferContext& context) { return inferSolve(context, false); }));
    registry.add(eagerRow(
        "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor "
        "info)",
        "x with A·x = B, and where A is singular", kLayer, [](Eager& e) { return withoutFactors(solveEx(e)); },
        [](InferContext& context) { return inferSolve(context, false); }));
    registry.add(
        eagerRow("_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
                 "Tensor LU, Tensor pivots, Tensor info)",
                 "x with A·x = B, A's LU, and where A is singular", kLayer, solveEx,
                 [](InferContext& context) { return inferSolve(context, true); }));
    registry.add(
        eagerRow("linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
                 "unitriangular=False) -> Tensor",
                 "x with A·x = B for a triangle A", kLayer, triangularSystem,
                 [](InferContext& context) { return inferTriangular(context, "self", "B"); }));
    registry.add(
        eagerRow("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
                 "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
                 "x with A·x = B for a triangle A", kLayer, triangularSolve,
                 [](InferContext& context) { return inferTriangular(context, "A", "self"); }));
    registry.add(eagerRow("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
                          "x with tensordot(A, x) = B", kLayer, tensorSolve, inferTensorSolve));
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_solve(Registry& registry) {
    using namespace linalg;
    for (std::string_view schema : {"linalg_inv(Tensor A) -> Tensor", "inverse(Tensor self) -> Tensor"}) {
        registry.add(eagerRow(
            schema, "inverse matrices", kLayer, [](Eager& e) { return inverseChecked(e, "linalg.inv"); }, inferSame));
    }
    registry.add(eagerRow(
        "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
        "inverse matrices, and which are singular", kLayer,
        [](Eager& e) { return e.flag("check_errors") ? inverseChecked(e, "linalg.inv_ex") : inverse(e); },
        inferInverse));
    registry.add(eagerRow("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", "inverse of a map between tensors",
                          kLayer, tensorInverse, inferTensorInverse));
    registry.add(eagerRow("_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
                          "fails where info is not 0", kLayer, [](Eager& e) -> EagerResult {
                              if (e.tensor("info").dtype() != DType::Int32)
                                  e.fail("info must be int32, not " + e.tensor("info").typeText());
                              checkInfo(e, e.tensor("info"), e.text("api_name"));
                              return std::vector<Value>{};
                          }));
    addEffect("aten", "_linalg_check_errors");
    defineSolvers(registry);
    explain("aten", "linalg_inv linalg_inv_ex inverse", dependence::inverted);
    explain("aten", "linalg_solve linalg_solve_ex _linalg_solve_ex linalg_solve_triangular", dependence::solved);
    explain("aten", "triangular_solve", dependence::solvedByTriangle);
}

}  // namespace sonde::ops
