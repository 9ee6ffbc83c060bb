#include <Eigen/QR>
#include <algorithm>
#include <cstdint>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/linalg/wide.h"

namespace sonde::ops::linalg {

template <typename T>
void factorQr(Matrix<T> a, T* tau) {
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    if (a.empty()) return;
    if constexpr (!isWide<T>) {
        WideMatrix<T> matrix(a);
        WideItems<T> factors(tau, std::min(a.rows, a.cols));
        factorQr(matrix.written(), factors.data());
        return matrix.store(), factors.store();
    } else {
        auto map = a.template as<Eigen::Map<Dense>>();
        const Eigen::HouseholderQR<Eigen::Ref<Dense>> qr(map);  // in place
        // Eigen keeps the factors of the reflections that turn A into R, LAPACK those of Q.
        for (Eigen::Index i = 0; i < qr.hCoeffs().size(); ++i) tau[i] = Eigen::numext::conj(qr.hCoeffs()(i));
    }
}

template <typename T>
void applyReflectors(Matrix<const T> vectors, const T* tau, std::int64_t count, Matrix<T> c, bool adjoint) {
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    if (c.empty()) return;
    if constexpr (!isWide<T>) {
        WideMatrix<const T> matrix(vectors);
        WideItems<const T> factors(tau, count);
        WideMatrix<T> result(c);
        applyReflectors<Wide<T>>(matrix.read(), factors.data(), count, result.written(), adjoint);
        return result.store();
    } else {
        const auto v = vectors.template as<Eigen::Map<const Dense>>();
        auto target = c.template as<Eigen::Map<Dense>>();
        Eigen::Matrix<T, 1, Eigen::Dynamic> workspace(c.cols);
        for (std::int64_t step = 0; step < count; ++step) {
            const std::int64_t i = adjoint ? step : count - 1 - step;
            const T factor = adjoint ? Eigen::numext::conj(tau[i]) : tau[i];
            target.bottomRows(c.rows - i)
                .applyHouseholderOnTheLeft(v.col(i).tail(c.rows - i - 1), factor, workspace.data());
        }
    }
}

#define SONDE_INSTANTIATE(T)               \
    template void factorQr(Matrix<T>, T*); \
    template void applyReflectors(Matrix<const T>, const T*, std::int64_t, Matrix<T>, bool);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
