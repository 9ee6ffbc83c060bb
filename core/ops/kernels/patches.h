#pragma once

#include <cstdint>
#include <vector>

#include "core/ops/support/window.h"

namespace sonde::ops::kernels {

/// Reads an image [C, D…] as the matrix [C·taps, outputs] whose product with the weights is the convolution, piece by
/// piece and without ever making it whole.
class Patches {
  public:
    Patches(const Window& window, std::span<const std::int64_t> inputSpatial,
            std::span<const std::int64_t> outputSpatial);

    std::int64_t outputs() const { return m_outputs; }
    std::int64_t inputSize() const { return m_inputSize; }

    /// Rows [k0, k0 + kc), columns [n0, n0 + width) → target [kc][width]; zeros outside the image and beyond the end.
    template <typename T>
    void panel(const T* image, std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t width, T* target) const;

    /// Adds a row of the matrix back to the image's channel that it came from.
    template <typename T>
    void addRow(const T* row, std::int64_t k, T* image) const;

  private:
    /// A stretch of columns that lie in one line of outputs.
    struct Line {
        std::int64_t column;  ///< within the panel
        std::int64_t count;
        std::int64_t x;                   ///< first output position in the line
        std::vector<std::int64_t> outer;  ///< output position on the other axes
    };
    std::vector<Line> lines(std::int64_t n0, std::int64_t width) const;

    const Window& m_window;
    std::vector<std::int64_t> m_input, m_output;
    std::int64_t m_outputs = 1, m_inputSize = 1, m_taps = 1;
};

}  // namespace sonde::ops::kernels
