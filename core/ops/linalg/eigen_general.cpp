#include <Eigen/Eigenvalues>
#include <algorithm>
#include <complex>
#include <type_traits>

#include "core/ops/linalg/decompositions.h"

namespace sonde::ops::linalg {

template <typename T>
bool decomposeGeneral(Matrix<const T> a, std::complex<Real<T>>* w, Matrix<std::complex<Real<T>>> v) {
    using Complex = std::complex<Real<T>>;
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using Vectors = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;
    using Solver =
        std::conditional_t<std::is_same_v<T, Complex>, Eigen::ComplexEigenSolver<Dense>, Eigen::EigenSolver<Dense>>;
    if (a.empty()) return true;
    const Solver solver(a.template as<Eigen::Map<const Dense>>(), v.data != nullptr);
    if (solver.info() != Eigen::Success) return false;
    std::copy_n(solver.eigenvalues().data(), solver.eigenvalues().size(), w);
    if (!v.data) return true;
    auto vectors = v.template as<Eigen::Map<Vectors>>();
    vectors = solver.eigenvectors();
    for (Eigen::Index j = 0; j < vectors.cols(); ++j) {
        auto column = vectors.col(j);
        column.normalize();
        Eigen::Index largest = 0;
        const Real<T> size = column.cwiseAbs().maxCoeff(&largest);
        // Eigenvectors of real eigenvalues of real matrices are real and keep their sign.
        if (size == 0 || column(largest).imag() == 0) continue;
        column *= std::conj(column(largest)) / size;
        column(largest).imag(0);
    }
    return true;
}

#define SONDE_INSTANTIATE(T) \
    template bool decomposeGeneral(Matrix<const T>, std::complex<Real<T>>*, Matrix<std::complex<Real<T>>>);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)

}  // namespace sonde::ops::linalg
