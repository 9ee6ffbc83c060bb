#pragma once

#include <cstdint>
#include <stop_token>

#include "core/base/thread_pool.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/kernels/phased_patches.h"

namespace sonde::ops::kernels {

/// A convolution of one group of one picture, whose patches are loaded. y is [M, rows, columns].
struct DirectConv {
    const PhasedPatches& picture;
    const PackedMatrix& weights;  ///< left factor [M, C·taps]
    const float* bias = nullptr;  ///< [M]
    float* y = nullptr;
    const Epilogue* epilogue = nullptr;  ///< of the tensor that y is a part of
    std::int64_t offset = 0;             ///< of y[0] in it
    const std::stop_token* stop = nullptr;
};

/// With every element's sum in the order of gemm(), and no gathered panels: the tiles of the product read the picture.
void convolveDirect(const DirectConv& call, base::ThreadPool& pool);

}  // namespace sonde::ops::kernels
