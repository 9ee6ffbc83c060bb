#include <Eigen/Eigenvalues>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/linalg/wide.h"

namespace sonde::ops::linalg {

template <typename T>
bool decomposeSymmetric(Matrix<T> a, Real<T>* w, bool vectors) {
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using WideDense = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
    if (a.empty()) return true;
    auto map = a.template as<Eigen::Map<Dense>>();
    map.template triangularView<Eigen::StrictlyUpper>().setZero();  // not A's: what is there may be NaN
    if (!map.allFinite()) return false;
    const WideDense matrix = map.template cast<Wide<T>>();
    const Eigen::SelfAdjointEigenSolver<WideDense> solver(
        matrix, vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (solver.info() != Eigen::Success) return false;
    for (Eigen::Index i = 0; i < solver.eigenvalues().size(); ++i) w[i] = static_cast<Real<T>>(solver.eigenvalues()(i));
    if (vectors) map = solver.eigenvectors().template cast<T>();
    return true;
}

#define SONDE_INSTANTIATE(T) template bool decomposeSymmetric(Matrix<T>, Real<T>*, bool);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
