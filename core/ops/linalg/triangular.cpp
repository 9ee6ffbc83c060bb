#include <Eigen/Cholesky>
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

template <unsigned Mode, typename T>
void solveMode(const ConstMap<T>& a, Map<T>& b, Transform transform) {
    const auto triangle = a.template triangularView<Mode>();
    switch (transform) {
        case Transform::None: triangle.solveInPlace(b); break;
        case Transform::Transpose: triangle.transpose().solveInPlace(b); break;
        case Transform::Adjoint: triangle.adjoint().solveInPlace(b); break;
    }
}

}  // namespace

template <typename T>
void solveTriangular(Matrix<const T> a, Matrix<T> b, Triangle triangle, Transform transform) {
    if (b.empty()) return;
    if constexpr (!isWide<T>) {
        WideMatrix<const T> matrix(a);
        WideMatrix<T> x(b);
        solveTriangular<Wide<T>>(matrix.read(), x.written(), triangle, transform);
        return x.store();
    } else {
        const auto factor = a.template as<ConstMap<T>>();
        auto x = b.template as<Map<T>>();
        if (triangle.upper) {
            triangle.unit ? solveMode<Eigen::UnitUpper, T>(factor, x, transform)
                          : solveMode<Eigen::Upper, T>(factor, x, transform);
        } else {
            triangle.unit ? solveMode<Eigen::UnitLower, T>(factor, x, transform)
                          : solveMode<Eigen::Lower, T>(factor, x, transform);
        }
    }
}

template <typename T>
std::int32_t factorCholesky(Matrix<T> a) {
    if (a.empty()) return 0;
    if constexpr (!isWide<T>) {
        WideMatrix<T> matrix(a);
        const std::int32_t minor = factorCholesky(matrix.written());
        matrix.store();
        return minor;
    } else {
        auto map = a.template as<Map<T>>();
        // LLT tells that a minor is not positive, but not which one; the algorithm behind it does.
        const Eigen::Index failed = Eigen::internal::llt_inplace<T, Eigen::Lower>::blocked(map);
        map.template triangularView<Eigen::StrictlyUpper>().setZero();
        if (failed >= 0) return static_cast<std::int32_t>(failed + 1);
        for (Eigen::Index i = 0; i < map.rows(); ++i) {
            if (!(Eigen::numext::real(map(i, i)) > 0)) return static_cast<std::int32_t>(i + 1);  // NaN
        }
        return 0;
    }
}

template <typename T>
void solveCholesky(Matrix<const T> l, Matrix<T> b) {
    solveTriangular(l, b, {}, Transform::None);
    solveTriangular(l, b, {}, Transform::Adjoint);
}

#define SONDE_INSTANTIATE(T)                                                        \
    template void solveTriangular(Matrix<const T>, Matrix<T>, Triangle, Transform); \
    template std::int32_t factorCholesky(Matrix<T>);                                \
    template void solveCholesky(Matrix<const T>, Matrix<T>);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
