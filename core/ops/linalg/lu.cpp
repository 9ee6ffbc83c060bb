#include <Eigen/LU>
#include <algorithm>
#include <cstdint>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/linalg/wide.h"

namespace sonde::ops::linalg {

namespace {

template <typename T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <typename T>
using Map = Eigen::Map<Dense<T>>;
template <typename T>
using ConstMap = Eigen::Map<const Dense<T>>;

}  // namespace

template <typename T>
std::int32_t factorLu(Matrix<T> a, std::int32_t* pivots) {
    if (a.empty()) return 0;
    if constexpr (!isWide<T>) {
        WideMatrix<T> matrix(a);
        const std::int32_t zero = factorLu(matrix.written(), pivots);
        matrix.store();
        return zero;
    } else {
        // PartialPivLU takes square matrices alone and does not tell where a pivot is zero; the algorithm behind it
        // does, and takes tall ones too.
        const std::int64_t shorter = std::min(a.rows, a.cols);
        std::int32_t swaps = 0;
        using Blocked = Eigen::internal::partial_lu_impl<T, Eigen::ColMajor, std::int32_t>;
        const Eigen::Index zero = Blocked::blocked_lu(a.rows, shorter, a.data, a.rows, pivots, swaps);
        if (a.cols > shorter) {
            Map<T> right(a.data + a.rows * shorter, a.rows, a.cols - shorter);
            for (std::int64_t i = 0; i < shorter; ++i) right.row(i).swap(right.row(pivots[i]));
            ConstMap<T>(a.data, shorter, shorter).template triangularView<Eigen::UnitLower>().solveInPlace(right);
        }
        for (std::int64_t i = 0; i < shorter; ++i) ++pivots[i];
        return static_cast<std::int32_t>(zero + 1);
    }
}

template <typename T>
void solveLu(Matrix<const T> lu, const std::int32_t* pivots, Matrix<T> b, bool adjoint) {
    if (b.empty()) return;
    if constexpr (!isWide<T>) {
        WideMatrix<const T> matrix(lu);
        WideMatrix<T> x(b);
        solveLu<Wide<T>>(matrix.read(), pivots, x.written(), adjoint);
        return x.store();
    } else {
        const auto factors = lu.template as<ConstMap<T>>();
        auto x = b.template as<Map<T>>();
        if (adjoint) {
            factors.template triangularView<Eigen::Upper>().adjoint().solveInPlace(x);
            factors.template triangularView<Eigen::UnitLower>().adjoint().solveInPlace(x);
            for (std::int64_t i = lu.rows; i-- > 0;) x.row(i).swap(x.row(pivots[i] - 1));
        } else {
            for (std::int64_t i = 0; i < lu.rows; ++i) x.row(i).swap(x.row(pivots[i] - 1));
            factors.template triangularView<Eigen::UnitLower>().solveInPlace(x);
            factors.template triangularView<Eigen::Upper>().solveInPlace(x);
        }
    }
}

#define SONDE_INSTANTIATE(T)                                  \
    template std::int32_t factorLu(Matrix<T>, std::int32_t*); \
    template void solveLu(Matrix<const T>, const std::int32_t*, Matrix<T>, bool);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
