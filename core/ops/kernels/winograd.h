#pragma once

#include <vector>

#include "core/ops/kernels/gemm.h"
#include "core/ops/support/window.h"

namespace sonde::ops::kernels {

/// 3x3 weights [K, C, 3, 3] transformed for tiles of m x m outputs (m = 2 or 4): for each of the (m + 2)² points of a
/// tile one left factor U_p [K, C] with U = G·g·Gᵀ (Lavin and Gray 2016). They take (m + 2)²/9 times the memory of the
/// weights.
class WinogradWeights {
  public:
    WinogradWeights() = default;
    WinogradWeights(const float* weights, std::int64_t outChannels, std::int64_t inChannels, int tile,
                    base::ThreadPool& pool);

    int tile() const { return m_tile; }
    const PackedMatrix& point(int p) const { return m_points[static_cast<std::size_t>(p)]; }

  private:
    int m_tile = 0;
    std::vector<PackedMatrix> m_points;
};

struct WinogradSizes {
    std::int64_t batch, inChannels, outChannels;
    std::vector<std::int64_t> input, output;  ///< height, width
    const Epilogue* epilogue = nullptr;       ///< of y
};

/// The tile that is fastest for a convolution of one group: 2, 4, or 0 if it should be computed directly (not 3x3 with
/// stride and dilation 1, few channels, too small).
int winogradTile(const Window& window, const WinogradSizes& sizes);

/// x [N, C, H, W] → y [N, K, H', W'], the convolution with 2.25 (m = 2) or 4 (m = 4) times fewer multiplications and
/// other rounding: the largest error is about 1e-6 (m = 2) or 1e-5 (m = 4) of the largest output. The order of all sums
/// is fixed. False, with y and what follows it half done, if a tile came out with NaN or infinity: one such element of
/// x spreads over its tiles, and products of large ones overflow on the way where the sum would not. Then it is to be
/// computed directly.
[[nodiscard]] bool convolveWinograd(const float* x, const WinogradWeights& weights, const float* bias, float* y,
                                    const Window& window, const WinogradSizes& sizes, base::ThreadPool& pool);

}  // namespace sonde::ops::kernels
