#include <Eigen/Core>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/linalg/wide.h"

namespace sonde::ops::linalg {

template <typename T>
void exponential(Matrix<T> a) {
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using WideDense = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
    if (a.empty()) return;
    auto map = a.template as<Eigen::Map<Dense>>();
    if (!map.allFinite()) {
        map.setConstant(T(std::numeric_limits<Real<T>>::quiet_NaN()));
        return;
    }
    // Squarings: at most the exponent of the largest number, 1024.
    const WideDense matrix = map.template cast<Wide<T>>();
    const WideDense result = matrix.exp();
    map = result.template cast<T>();
}

#define SONDE_INSTANTIATE(T) template void exponential(Matrix<T>);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
