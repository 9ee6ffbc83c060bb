// Products of float32 and float64 by Eigen, once per instruction set. Eigen is inline functions, of which the linker
// keeps one copy: a name of its own for Eigen's namespace keeps those of the instruction sets apart. Of the standard
// library's inline functions none may remain as a call; tests/core/ops/kernels/tst_isa_symbols.cpp looks.

#define Eigen SONDE_ISA_EIGEN
#define EIGEN_NO_DEBUG
#include <Eigen/Core>

#include "core/ops/kernels/float_kernels.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// What the product is added to. (Eigen sets C to zero in a pass of its own as well.)
template <typename Rows, typename T>
void start(Rows& c, const ProductBlock<T>& block) {
    if (block.rowBias) {
        for (std::ptrdiff_t i = 0; i < block.m; ++i) c.row(i).setConstant(block.rowBias[i]);
    } else if (block.columnBias) {
        const Eigen::Map<const Eigen::Matrix<T, 1, Eigen::Dynamic>> bias(block.columnBias, block.n);
        for (std::ptrdiff_t i = 0; i < block.m; ++i) c.row(i) = bias;
    } else {
        c.setZero();
    }
}

template <typename T>
void product(const ProductBlock<T>& block) {
    using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
    using Stride = Eigen::OuterStride<>;
    const Eigen::Map<const Rows, 0, Stride> a(block.a, block.m, block.k, Stride(block.aStride));
    Eigen::Map<Rows, 0, Stride> c(block.c, block.m, block.n, Stride(block.cStride));
    if (!block.accumulate) start(c, block);
    if (block.bTurned)
        c.noalias() += a * Eigen::Map<const Columns, 0, Stride>(block.b, block.k, block.n, Stride(block.bStride));
    else c.noalias() += a * Eigen::Map<const Rows, 0, Stride>(block.b, block.k, block.n, Stride(block.bStride));
}

}  // namespace

void addEigenProducts(FloatKernels& table) {
    table.product32 = product<float>;
    table.product64 = product<double>;
}

}  // namespace sonde::ops::kernels::SONDE_ISA

#undef Eigen
