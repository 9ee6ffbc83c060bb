#include <Eigen/Core>

#include "core/ops/linalg/decompositions.h"
#include "core/ops/linalg/wide.h"

namespace sonde::ops::linalg {

template <typename T>
void multiply(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Transform transformB) {
    if constexpr (!isWide<T>) {
        WideMatrix<const T> left(a), right(b);
        WideMatrix<T> product(c);
        multiply<Wide<T>>(left.read(), right.read(), product.written(), transformB);
        return product.store();
    } else {
        using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
        using Input = Eigen::Map<const Dense>;
        const auto left = a.template as<Input>(), right = b.template as<Input>();
        auto product = c.template as<Eigen::Map<Dense>>();
        switch (transformB) {
            case Transform::None: product.noalias() = left * right; break;
            case Transform::Transpose: product.noalias() = left * right.transpose(); break;
            case Transform::Adjoint: product.noalias() = left * right.adjoint(); break;
        }
    }
}

#define SONDE_INSTANTIATE(T) template void multiply(Matrix<const T>, Matrix<const T>, Matrix<T>, Transform);
SONDE_LINALG_TYPES(SONDE_INSTANTIATE)
#undef SONDE_INSTANTIATE

}  // namespace sonde::ops::linalg
