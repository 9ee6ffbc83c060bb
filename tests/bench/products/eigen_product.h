#pragma once

#include <cstddef>

namespace sonde::bench {

/// relu(A·B + bias) of float32 as Eigen does it: A [m, k] and C [m, n] by rows, B by rows or, turned, as [n, k] by
/// rows. The bias goes by column or by row; null: neither bias nor relu.
struct EigenProduct {
    std::ptrdiff_t m, n, k;
    const float* a;
    std::ptrdiff_t aStride;
    const float* b;
    std::ptrdiff_t bStride;
    bool bTurned;
    float* c;
    std::ptrdiff_t cStride;
    const float* columnBias = nullptr;
    const float* rowBias = nullptr;
};

/// Built for the instruction set that the engine's loops were chosen for (SONDE_KERNELS).
using EigenProductFunction = void (*)(const EigenProduct&);
EigenProductFunction eigenProduct();

}  // namespace sonde::bench
