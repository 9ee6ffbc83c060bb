#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/base/thread_pool.h"
#include "core/ops/support/window.h"

namespace sonde::ops::kernels {

class Epilogue;

struct DepthwiseSizes {
    std::int64_t batch, channels;
    std::int64_t multiplier;             ///< outputs of each channel
    const Epilogue* epilogue = nullptr;  ///< of y
};

/// Every channel is convolved by itself: x [N, C, H, W] (or [N, C, W]), w [C·multiplier, 1, kernel…].
void convolveDepthwise(const float* x, const float* w, const float* bias, float* y, const Window& window,
                       const DepthwiseSizes& sizes, std::span<const std::int64_t> inputSpatial,
                       std::span<const std::int64_t> outputSpatial, base::ThreadPool& pool);

/// The stride, 1 or 2, of a 3x3 window without dilation; 0: it is another one. There are loops that read the picture as
/// it is, in FloatKernels, for some instruction sets.
int strideOf3x3(const Window& window);

/// Absurd strides and dilations would make the rearranged planes far larger than what they hold.
bool fitsDepthwise(const Window& window, std::span<const std::int64_t> inputSpatial,
                   std::span<const std::int64_t> outputSpatial);

/// Rows of pictures are short: eights of a constant size need no call of a function, the last goes over the end of the
/// one before.
inline void copyFloats(const float* from, float* to, std::int64_t count) {
    constexpr std::int64_t kStep = 8, kShort = 64;
    if (count < kStep || count > kShort) {
        std::copy(from, from + count, to);
        return;
    }
    for (std::int64_t i = 0; i + kStep < count; i += kStep) std::memcpy(to + i, from + i, kStep * sizeof(float));
    std::memcpy(to + count - kStep, from + count - kStep, kStep * sizeof(float));
}

/// One channel plane with its padding, taken apart by the stride, so that every tap of a window is a shifted
/// contiguous read: phase (p, q) holds the elements (p + i·stride, q + j·stride) of the padded plane.
class PhasedPlane {
  public:
    /// Dimensions of a 2-D window (a 1-D one counts as one row).
    PhasedPlane(const Window& window, std::span<const std::int64_t> inputSpatial,
                std::span<const std::int64_t> outputSpatial);

    std::size_t size() const {
        return static_cast<std::size_t>(m_phasesY * m_phasesX * m_rows * m_columns + m_columns + kSlack);
    }
    /// Elements between the rows of one phase; outputs are computed with that pitch and the surplus columns dropped.
    std::int64_t pitch() const { return m_columns; }
    std::int64_t outputRows() const { return m_outY; }
    std::int64_t outputColumns() const { return m_outX; }
    std::int64_t taps() const { return m_kernelY * m_kernelX; }
    void fill(const float* plane, float padding, float* phases) const;
    /// Where the tap's values begin for output (0, 0).
    const float* tap(const float* phases, std::int64_t index) const;

  private:
    static constexpr std::int64_t kSlack = 16;  ///< vectors may be read beyond the last row
    std::int64_t m_inY, m_inX, m_outY, m_outX, m_kernelY, m_kernelX, m_strideY, m_strideX, m_dilationY, m_dilationX,
        m_padY, m_padX;
    std::int64_t m_phasesY, m_phasesX, m_rows, m_columns;
};

}  // namespace sonde::ops::kernels
