// Symmetric indefinite systems by the diagonal pivoting of Bunch and Kaufman: "Some Stable Methods for Calculating
// Inertia and Solving Symmetric Linear Systems", Mathematics of Computation 31 (1977), 163–179.

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/linalg/wide.h"

namespace sonde::ops::linalg {

namespace {

using Index = std::int64_t;

template <typename T>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<std::complex<T>> : std::true_type {};

/// A of the lower triangle in factorisation. For Hermitian matrices `mirror` conjugates: A(i,j) = mirror(A(j,i)).
template <typename T>
class Factorisation {
  public:
    using R = Real<T>;
    Factorisation(Matrix<T> a, std::int32_t* pivots, bool hermitian)
        : m_a(a), m_pivots(pivots), m_hermitian(hermitian) {}

    std::int32_t run() {
        std::int32_t info = 0;
        for (Index k = 0; k < m_a.rows;) {
            const Pivot pivot = choose(k);
            if (pivot.isZero) {
                if (info == 0) info = static_cast<std::int32_t>(k + 1);
                makeReal(k);
            } else {
                exchange(k, pivot);
                pivot.size == 1 ? eliminateOne(k) : eliminateTwo(k);
            }
            const auto row = static_cast<std::int32_t>(pivot.row + 1);
            m_pivots[k] = pivot.size == 1 ? row : -row;
            if (pivot.size == 2) m_pivots[k + 1] = -row;
            k += pivot.size;
        }
        return info;
    }

  private:
    struct Pivot {
        Index row = 0;
        Index size = 1;
        bool isZero = false;
    };

    T& at(Index i, Index j) const { return m_a(i, j); }
    T mirror(T z) const {
        if constexpr (IsComplex<T>::value) return m_hermitian ? std::conj(z) : z;
        else return z;
    }
    void makeReal(Index i) const {
        if constexpr (IsComplex<T>::value) {
            if (m_hermitian) at(i, i).imag(0);
        }
    }
    /// |re| + |im|: as good as a size for choosing, and cannot overflow where the square root's squares would.
    static R size(T z) { return std::abs(std::real(z)) + std::abs(std::imag(z)); }
    R diagonalSize(Index i) const { return m_hermitian ? std::abs(std::real(at(i, i))) : size(at(i, i)); }

    /// The largest element of the column below row k, and its row.
    std::pair<R, Index> largestBelow(Index k) const {
        std::pair<R, Index> best{0, k};
        for (Index i = k + 1; i < m_a.rows; ++i) {
            if (const R s = size(at(i, k)); s > best.first) best = {s, i};
        }
        return best;
    }

    Pivot choose(Index k) const {
        const R alpha = (1 + std::sqrt(R(17))) / 8;
        const R diagonal = diagonalSize(k);
        const auto [column, row] = largestBelow(k);
        if (std::isnan(diagonal) || std::max(diagonal, column) == 0) return {k, 1, true};
        if (diagonal >= alpha * column) return {k};
        R inRow = largestBelow(row).first;
        for (Index j = k; j < row; ++j) inRow = std::max(inRow, size(at(row, j)));
        if (diagonal >= alpha * column * (column / inRow)) return {k};
        if (diagonalSize(row) >= alpha * inRow) return {row};
        return {row, 2};
    }

    /// Swaps rows and columns of the trailing matrix so that the chosen block lies at k.
    void exchange(Index k, Pivot pivot) const {
        const Index to = k + pivot.size - 1, from = pivot.row;
        if (from != to) {
            for (Index i = from + 1; i < m_a.rows; ++i) std::swap(at(i, to), at(i, from));
            for (Index j = to + 1; j < from; ++j) {
                const T moved = mirror(at(j, to));
                at(j, to) = mirror(at(from, j));
                at(from, j) = moved;
            }
            at(from, to) = mirror(at(from, to));
            std::swap(at(to, to), at(from, from));
            if (pivot.size == 2) std::swap(at(k + 1, k), at(from, k));
            makeReal(from);
        }
        makeReal(k);
        if (pivot.size == 2) makeReal(k + 1);
    }

    void eliminateOne(Index k) const {
        const T scale = T(1) / at(k, k);
        for (Index j = k + 1; j < m_a.rows; ++j) {
            const T factor = scale * mirror(at(j, k));
            for (Index i = j; i < m_a.rows; ++i) at(i, j) -= at(i, k) * factor;
            makeReal(j);
        }
        for (Index i = k + 1; i < m_a.rows; ++i) at(i, k) *= scale;
    }

    void eliminateTwo(Index k) const {
        // Scaled by the element off the diagonal, which is the largest of the block.
        const T below = at(k + 1, k), above = mirror(below);
        const T d11 = at(k + 1, k + 1) / below, d22 = at(k, k) / above;
        const T scale = T(1) / (d11 * d22 - T(1));
        for (Index j = k + 2; j < m_a.rows; ++j) {
            const T first = scale * (d11 * at(j, k) - at(j, k + 1)) / above;
            const T second = scale * (d22 * at(j, k + 1) - at(j, k)) / below;
            for (Index i = j; i < m_a.rows; ++i) at(i, j) -= at(i, k) * mirror(first) + at(i, k + 1) * mirror(second);
            at(j, k) = first;
            at(j, k + 1) = second;
            makeReal(j);
        }
    }

    Matrix<T> m_a;
    std::int32_t* m_pivots;
    bool m_hermitian;
};

}  // namespace

template <typename T>
std::int32_t factorLdl(Matrix<T> a, std::int32_t* pivots, bool hermitian) {
    if constexpr (!isWide<T>) {
        WideMatrix<T> matrix(a);
        const std::int32_t zero = factorLdl(matrix.written(), pivots, hermitian);
        matrix.store();
        return zero;
    } else {
        return Factorisation<T>(a, pivots, hermitian).run();
    }
}

template <typename T>
void solveLdl(Matrix<const T> ld, const std::int32_t* pivots, Matrix<T> b, bool hermitian) {
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    if (b.empty()) return;
    if constexpr (!isWide<T>) {
        WideMatrix<const T> matrix(ld);
        WideMatrix<T> x(b);
        solveLdl<Wide<T>>(matrix.read(), pivots, x.written(), hermitian);
        return x.store();
    } else {
        const auto a = ld.template as<Eigen::Map<const Dense>>();
        auto x = b.template as<Eigen::Map<Dense>>();
        const Index n = ld.rows;
        const auto mirrored = [&](const auto& row) -> Eigen::Matrix<T, 1, Eigen::Dynamic> {
            if (hermitian) return row.conjugate();
            return row;
        };
        const auto mirror = [&](T z) { return hermitian ? Eigen::numext::conj(z) : z; };
        // L·D·y = b
        for (Index k = 0; k < n;) {
            if (pivots[k] > 0) {
                const Index behind = n - k - 1;
                x.row(k).swap(x.row(pivots[k] - 1));
                x.bottomRows(behind) -= a.col(k).tail(behind) * x.row(k);
                x.row(k) /= a(k, k);
                ++k;
                continue;
            }
            const Index behind = n - k - 2;
            x.row(k + 1).swap(x.row(-pivots[k] - 1));
            x.bottomRows(behind) -= a.block(k + 2, k, behind, 2) * x.middleRows(k, 2);
            const T below = a(k + 1, k), above = mirror(below);
            const T upper = a(k, k) / above, lower = a(k + 1, k + 1) / below, scale = upper * lower - T(1);
            for (Index j = 0; j < x.cols(); ++j) {
                const T first = x(k, j) / above, second = x(k + 1, j) / below;
                x(k, j) = (lower * first - second) / scale;
                x(k + 1, j) = (upper * second - first) / scale;
            }
            k += 2;
        }
        // Lᵀ·x = y, or Lᴴ·x = y
        for (Index k = n; k-- > 0;) {
            const Index behind = n - k - 1;
            x.row(k) -= mirrored(a.col(k).tail(behind).transpose()) * x.bottomRows(behind);
            if (pivots[k] > 0) {
                x.row(k).swap(x.row(pivots[k] - 1));
                continue;
            }
            x.row(k - 1) -= mirrored(a.col(k - 1).tail(behind).transpose()) * x.bottomRows(behind);
            x.row(k).swap(x.row(-pivots[k] - 1));
            --k;
        }
    }
}

#define SONDE_INSTANTIATE(T)                                         \
    template std::int32_t factorLdl(Matrix<T>, std::int32_t*, bool); \
    template void solveLdl(Matrix<const T>, const std::int32_t*, Matrix<T>, bool);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
