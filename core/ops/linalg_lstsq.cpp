// Least squares: X that minimises ‖A·X − B‖.

#include <algorithm>
#include <complex>

#include "core/ops/dependence/rules.h"
#include "core/ops/linalg/batch.h"
#include "core/ops/linalg/checks.h"
#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

namespace {

/// LAPACK's ways: QR of a matrix of full rank; QR with column pivoting; singular values (gelsd and gelss). The shortest
/// solution is one, so pivoting is left to singular values too; only what it tells differs.
enum class Driver : std::uint8_t { FullRank, Pivoting, Singular };

std::optional<Driver> driverOf(const std::string& text) {
    if (text == "gels") return Driver::FullRank;
    if (text == "gelsy") return Driver::Pivoting;
    if (text == "gelsd" || text == "gelss") return Driver::Singular;
    return std::nullopt;
}

struct Problem {
    Tensor a, b;   ///< [..., m, n] and [..., m, k]
    bool vectors;  ///< b came as [..., m]
    Driver driver;
    double tolerance;
};

/// (A, B, rcond, driver) as torch.linalg.lstsq asks for them.
Problem problemOf(Eager& e) {
    const std::string api = "torch.linalg.lstsq: ";
    Problem problem{e.tensor("self"), e.tensor("b"), false, Driver::Pivoting, 0};
    const Tensor &a = problem.a, given = problem.b;
    if (a.rank() < 2) e.fail(api + "input must have at least 2 dimensions.");
    if (given.rank() < 1) e.fail(api + "other must have at least 1 dimension.");
    requireFloating(e, a, "torch.linalg.lstsq");
    if (a.dtype() != given.dtype()) {
        e.fail(api + "Expected input and other to have the same dtype, but got input's dtype " +
               scalarTypeName(a.dtype()) + " and other's dtype " + scalarTypeName(given.dtype()));
    }
    if (given.rank() > a.rank() || a.rank() - given.rank() > 1) {
        e.fail(api + "input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1");
    }
    problem.vectors = a.rank() == given.rank() + 1;
    if (a.dim(a.rank() - 2) != given.dim(given.rank() - (problem.vectors ? 1 : 2))) {
        e.fail(api + "input.size(-2) should match other.size(" + (problem.vectors ? "-1)" : "-2)"));
    }
    if (problem.vectors) problem.b = given.unsqueezed(given.rank());
    if (e.has("driver")) {
        const auto driver = driverOf(e.text("driver"));
        if (!driver) e.fail(api + "parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
        problem.driver = *driver;
    }
    problem.tolerance = e.has("rcond") ? e.number("rcond") : defaultTolerance(a);
    return problem;
}

struct Solution {
    Tensor x, rank, singular;
};

/// X = V·diag(1/s)·Uᴴ·B without singular values below the tolerance times the largest: the shortest X.
Solution solveBySingular(Eager& e, const Tensor& a, const Tensor& b, double tolerance) {
    const std::vector<Value> parts = e.all("aten", "linalg_svd", {Value(a), Value::ofBool(false)}, {}, 3);
    const Tensor s = parts[1].tensor();
    const Shape batch = batchOf(a.shape());
    const std::int64_t k = s.dim(s.rank() - 1);
    Batch right = Batch::of(e, b), adjointU = Batch::of(e, parts[0].tensor(), Transform::Adjoint);
    Batch v = Batch::of(e, parts[2].tensor(), Transform::Adjoint);
    Batch projected = Batch::zeros(e, a.dtype(), batch, k, right.cols());
    Batch x = Batch::zeros(e, a.dtype(), batch, v.rows(), right.cols());
    Tensor rank = zeros(e, DType::Int64, batch);
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, x, [&](std::int64_t i) {
            const Real<T>* values = s.data<Real<T>>() + i * k;
            const Matrix<T> c = projected.at<T>(i);
            multiply<T>(adjointU.at<T>(i), right.at<T>(i), c);
            for (std::int64_t j = 0; j < k; ++j) {
                const bool counts = values[j] > static_cast<Real<T>>(tolerance) * values[0];
                *itemsOf<std::int64_t>(rank, i, 1) += counts;
                for (std::int64_t column = 0; column < c.cols; ++column) {
                    c(j, column) = counts ? c(j, column) / values[j] : T(0);
                }
            }
            multiply<T>(v.at<T>(i), c, x.at<T>(i));
        });
    });
    return {x.tensor(e), rank, s};
}

/// ‖A·X − B‖² of each column.
Tensor residuals(Eager& e, const Tensor& a, const Tensor& b, const Tensor& x) {
    const Shape batch = batchOf(a.shape());
    Batch left = Batch::of(e, a), wanted = Batch::of(e, b), right = Batch::of(e, x);
    Batch product = Batch::zeros(e, a.dtype(), batch, left.rows(), right.cols());
    Tensor sums = zeros(e, realOf(a.dtype()), batch, {right.cols()});
    dispatch(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        forEachMatrix(e, left, [&](std::int64_t i) {
            const Matrix<T> found = product.at<T>(i), target = wanted.at<T>(i);
            multiply<T>(left.at<T>(i), right.at<T>(i), found);
            for (std::int64_t column = 0; column < found.cols; ++column) {
                Real<T> sum = 0;
                for (std::int64_t row = 0; row < found.rows; ++row)
                    sum += std::norm(found(row, column) - target(row, column));
                itemsOf<Real<T>>(sums, i, found.cols)[column] = sum;
            }
        });
    });
    return sums;
}

/// info of a matrix R: the 1-based index of the first zero on its diagonal, or 0. Rounding leaves a little where the
/// zero would be.
Tensor zerosOfDiagonal(Eager& e, const Tensor& r) {
    const std::int64_t n = r.dim(r.rank() - 1);
    const double tolerance = n == 0 ? 0 : defaultTolerance(r) / static_cast<double>(n);
    const Tensor sizes =
        e.as(e.get(e("abs", e.get(e("diagonal", r, 0, -2, -1).contiguous())).contiguous()), DType::Float64);
    Tensor info = zeros(e, DType::Int32, batchOf(r.shape()));
    for (std::int64_t i = 0; i < info.numel(); ++i) {
        const std::span<const double> diagonal =
            sizes.span<double>().subspan(static_cast<std::size_t>(i * n), static_cast<std::size_t>(n));
        const double limit = n == 0 ? 0 : tolerance * std::ranges::max(diagonal);
        const auto zero = std::ranges::find_if(diagonal, [limit](double size) { return size <= limit; });
        if (zero != diagonal.end())
            *itemsOf<std::int32_t>(info, i, 1) = static_cast<std::int32_t>(zero - diagonal.begin() + 1);
    }
    return info;
}

/// Of a matrix of full rank: R⁻¹·Qᴴ·B where A = Q·R, or Q·R⁻ᴴ·B where Aᴴ = Q·R.
Tensor solveFullRank(Eager& e, const Tensor& a, const Tensor& b) {
    const std::size_t rows = a.rank() - 2, cols = a.rank() - 1;
    const bool isTall = a.dim(rows) >= a.dim(cols);
    const std::int64_t shorter = std::min(a.dim(rows), a.dim(cols));
    const std::vector<Value> qr = e.all("aten", "geqrf", {Value(isTall ? a : e("mH", a))}, {}, 2);
    const Tensor r = e("triu", e.get(qr[0].tensor().sliced(rows, 0, shorter).contiguous()));
    checkInfo(e, zerosOfDiagonal(e, r), "torch.linalg.lstsq");
    if (isTall) {
        const Tensor c = e("ormqr", qr[0], qr[1], b, true, true);
        return e("linalg_solve_triangular", r, e.get(c.sliced(rows, 0, shorter).contiguous()), true);
    }
    const Tensor y = e("linalg_solve_triangular", e.get(e("mH", r).contiguous()), b, false);
    const Tensor below = zeros(e, a.dtype(), batchOf(a.shape()), {a.dim(cols) - shorter, b.dim(cols)});
    return e("ormqr", qr[0], qr[1], e("cat", std::vector<Tensor>{y, below}, -2), true, false);
}

/// Solution, residuals, rank and singular values; what the driver does not tell has no elements.
EagerResult leastSquares(Eager& e) {
    const Problem problem = problemOf(e);
    const Shape batch = commonBatch(e, problem.a, problem.b);
    const Tensor a = Batch::of(e, problem.a, batch).tensor(e), b = Batch::of(e, problem.b, batch).tensor(e);
    const DType real = realOf(a.dtype());
    const std::int64_t rows = a.dim(a.rank() - 2), cols = a.dim(a.rank() - 1);
    Solution solution{{}, nothing(e, DType::Int64), nothing(e, real)};
    bool isFull = true;
    if (problem.driver == Driver::FullRank) {
        solution.x = solveFullRank(e, a, b);
    } else {
        solution = solveBySingular(e, a, b, problem.tolerance);
        isFull =
            std::ranges::all_of(solution.rank.span<std::int64_t>(), [cols](std::int64_t rank) { return rank == cols; });
    }
    const bool hasResiduals = rows > cols && problem.driver != Driver::Pivoting && isFull;
    const Tensor squares = hasResiduals ? residuals(e, a, b, solution.x) : nothing(e, real);
    const Tensor x = problem.vectors ? e.reshape(solution.x, batchOf(solution.x.shape(), 1)) : solution.x;
    const Tensor singular = problem.driver == Driver::Singular ? solution.singular : nothing(e, real);
    return std::vector<Value>{Value(x), Value(squares), Value(solution.rank), Value(singular)};
}

/// Residuals depend on the ranks, which only the run knows.
base::Result<void> inferLeastSquares(InferContext& context) {
    const auto a = matrixType(context, "self");
    const auto& b = context.in("b").shape;
    const DType dtype = context.in("self").dtype;
    const bool known = a && b && !b->empty();
    const bool vectors = known && b->size() == a->batch.size() + 1;
    std::optional<Dims> batch, solution;
    if (known && (vectors || b->size() >= 2)) {
        auto common = broadcastDims(a->batch, Dims(b->begin(), b->end() - (vectors ? 1 : 2)));
        if (common) {
            batch = *common;
            solution = vectors ? MatrixType{*batch, {}, {}}.with({a->cols})
                               : MatrixType{*batch, {}, {}}.with({a->cols, b->back()});
        }
    }
    setType(context, 0, dtype, std::move(solution));
    setType(context, 1, realOf(dtype), std::nullopt);
    const Value& text = context.constant("driver");
    Driver driver = Driver::Pivoting;
    bool isKnown = context.in("driver").kind == ValueKind::None;
    if (const auto named = text.kind() == ValueKind::String ? driverOf(text.toString()) : std::nullopt) {
        driver = *named;
        isKnown = true;
    }
    std::optional<Dims> rank, singular;
    if (isKnown) {
        const Dims none{Dim::of(0)};
        rank = driver == Driver::FullRank ? none : batch;
        if (driver != Driver::Singular) singular = none;
        else if (batch) singular = MatrixType{*batch, {}, {}}.with({a->shorter()});
    }
    setType(context, 2, DType::Int64, std::move(rank));
    setType(context, 3, realOf(dtype), std::move(singular));
    return {};
}

}  // namespace

}  // namespace sonde::ops::linalg

namespace sonde::ops {

void define_linalg_lstsq(Registry& registry) {
    using namespace linalg;
    registry.add(
        eagerRow("linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
                 "Tensor residuals, Tensor rank, Tensor singular_values)",
                 "x for which A·x is nearest to B", Category::Layer, leastSquares, inferLeastSquares));
    explain("aten", "linalg_lstsq", dependence::leastSquares);
}

}  // namespace sonde::ops
