#include <Eigen/Eigenvalues>
#include <complex>
#include <type_traits>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/linalg/wide.h"

namespace sonde::ops::linalg {

namespace {

using Vectors = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic>;

/// Columns of length 1 whose largest element is real.
void normalize(Vectors& vectors) {
    for (Eigen::Index j = 0; j < vectors.cols(); ++j) {
        auto column = vectors.col(j);
        column.normalize();
        Eigen::Index largest = 0;
        const double size = column.cwiseAbs().maxCoeff(&largest);
        // Eigenvectors of real eigenvalues of real matrices are real and keep their sign.
        if (size == 0 || column(largest).imag() == 0) continue;
        column *= std::conj(column(largest)) / size;
        column(largest).imag(0);
    }
}

}  // namespace

template <typename T>
bool decomposeGeneral(Matrix<const T> a, std::complex<Real<T>>* w, Matrix<std::complex<Real<T>>> v) {
    using Complex = std::complex<Real<T>>;
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using WideDense = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
    using Solver = std::conditional_t<std::is_same_v<T, Complex>, Eigen::ComplexEigenSolver<WideDense>,
                                      Eigen::EigenSolver<WideDense>>;
    if (a.empty()) return true;
    const WideDense matrix = a.template as<Eigen::Map<const Dense>>().template cast<Wide<T>>();
    const Solver solver(matrix, v.data != nullptr);
    if (solver.info() != Eigen::Success) return false;
    for (Eigen::Index i = 0; i < solver.eigenvalues().size(); ++i) w[i] = Complex(solver.eigenvalues()(i));
    if (!v.data) return true;
    Vectors vectors = solver.eigenvectors();
    normalize(vectors);
    v.template as<Eigen::Map<Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>>>() =
        vectors.template cast<Complex>();
    return true;
}

#define SONDE_INSTANTIATE(T) \
    template bool decomposeGeneral(Matrix<const T>, std::complex<Real<T>>*, Matrix<std::complex<Real<T>>>);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
