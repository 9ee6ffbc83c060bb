#include <Eigen/Eigenvalues>
#include <algorithm>

#include "core/ops/linalg/decompositions.h"

namespace sonde::ops::linalg {

template <typename T>
bool decomposeSymmetric(Matrix<T> a, Real<T>* w, bool vectors) {
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    if (a.empty()) return true;
    auto map = a.template as<Eigen::Map<Dense>>();
    map.template triangularView<Eigen::StrictlyUpper>().setZero();  // not A's: what is there may be NaN
    if (!map.allFinite()) return false;
    const Eigen::SelfAdjointEigenSolver<Dense> solver(map,
                                                      vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (solver.info() != Eigen::Success) return false;
    std::copy_n(solver.eigenvalues().data(), solver.eigenvalues().size(), w);
    if (vectors) map = solver.eigenvectors();
    return true;
}

#define SONDE_INSTANTIATE(T) template bool decomposeSymmetric(Matrix<T>, Real<T>*, bool);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)

}  // namespace sonde::ops::linalg
