#include <Eigen/SVD>
#include <algorithm>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/linalg/wide.h"

namespace sonde::ops::linalg {

template <typename T>
bool decomposeSingular(Matrix<const T> a, Real<T>* s, Matrix<T> u, Matrix<T> v) {
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using WideDense = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
    unsigned options = 0;
    if (u.data) {
        options |= u.cols == a.rows ? Eigen::ComputeFullU : Eigen::ComputeThinU;
        options |= v.cols == a.cols ? Eigen::ComputeFullV : Eigen::ComputeThinV;
    }
    const WideDense matrix = a.template as<Eigen::Map<const Dense>>().template cast<Wide<T>>();
    // Divide and conquer, and Jacobi's rotations below 16 columns. Both refuse what is not finite.
    const Eigen::BDCSVD<WideDense> svd(matrix, options);
    if (svd.info() != Eigen::Success) return false;
    for (Eigen::Index i = 0; i < svd.singularValues().size(); ++i) s[i] = static_cast<Real<T>>(svd.singularValues()(i));
    if (u.data) {
        u.template as<Eigen::Map<Dense>>() = svd.matrixU().template cast<T>();
        v.template as<Eigen::Map<Dense>>() = svd.matrixV().template cast<T>();
    }
    return true;
}

#define SONDE_INSTANTIATE(T) template bool decomposeSingular(Matrix<const T>, Real<T>*, Matrix<T>, Matrix<T>);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
