#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/ops/kernels/integer_conv_call.h"

namespace sonde::ops::kernels {

/// Weights [K, 1, kernel…] of bytes, minus their zero points (one, or one for each of K), as the steps of a window
/// (BytePlane): for each row of the window groups of neighbours, or the taps one by one where neighbours of the window
/// are none in the picture. A weight minus its zero point may not fit a signed byte: it is the sum of up to three that
/// do, each in steps of its own.
struct WindowWeights {
    WindowWeights() = default;
    WindowWeights(const Tensor& w, std::span<const std::int32_t> zeros, const Window& window);

    std::vector<std::int32_t> weights;  ///< [K, parts, steps of the window]
    std::vector<std::int32_t> sums;     ///< Σ over the window for each of K
    std::int64_t parts = 1;
};

/// A convolution of every channel by itself, w [C·multiplier, 1, kernel…], by the sums of IntegerConv.
void convolveEachChannel(const IntegerConv& call, const Shape& shape, const WindowWeights& weights,
                         const SumsOfBytes& result, base::ThreadPool& pool);

}  // namespace sonde::ops::kernels
