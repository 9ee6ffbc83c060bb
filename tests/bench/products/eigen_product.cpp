// Built once per instruction set, with a namespace of Eigen's own for each (see
// core/ops/kernels/isa/eigen_product.cpp).

#define Eigen SONDE_ISA_EIGEN
#define EIGEN_NO_DEBUG
#include "tests/bench/products/eigen_product.h"

#include <Eigen/Core>

namespace sonde::bench::SONDE_ISA {

void product(const EigenProduct& call);

void product(const EigenProduct& call) {
    using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Columns = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
    using Stride = Eigen::OuterStride<>;
    const Eigen::Map<const Rows, 0, Stride> a(call.a, call.m, call.k, Stride(call.aStride));
    Eigen::Map<Rows, 0, Stride> c(call.c, call.m, call.n, Stride(call.cStride));
    if (call.bTurned)
        c.noalias() = a * Eigen::Map<const Columns, 0, Stride>(call.b, call.k, call.n, Stride(call.bStride));
    else c.noalias() = a * Eigen::Map<const Rows, 0, Stride>(call.b, call.k, call.n, Stride(call.bStride));
    if (call.columnBias)
        c = (c.rowwise() + Eigen::Map<const Eigen::RowVectorXf>(call.columnBias, call.n)).cwiseMax(0.0F);
    if (call.rowBias) c = (c.colwise() + Eigen::Map<const Eigen::VectorXf>(call.rowBias, call.m)).cwiseMax(0.0F);
}

}  // namespace sonde::bench::SONDE_ISA

#undef Eigen
