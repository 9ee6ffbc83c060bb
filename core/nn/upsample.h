#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// In the order of torch's arguments. One of size and scaleFactor is given: a number, or a list with one per axis.
struct UpsampleOptions {
    Var size = {};
    Var scaleFactor = {};
    std::string mode = "nearest";  ///< nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area
    Var alignCorners = {};         ///< the corners' values stay at the corners; not for nearest
};

/// Resamples a signal [N,C,L], an image [N,C,H,W] or a volume [N,C,D,H,W] to `size`, or to floor(dim size scaleFactor).
/// Value at y of the output is read at (y + 1/2) / scale - 1/2 of the input, with alignCorners at y (L - 1) / (L' - 1);
/// nearest reads at floor(y / scale).
class Upsample : public Layer {
  public:
    explicit Upsample(UpsampleOptions options) : Upsample("Upsample", std::move(options)) {}
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  protected:
    Upsample(std::string className, UpsampleOptions options)
        : Layer(std::move(className)), m_options(std::move(options)) {}

  private:
    UpsampleOptions m_options;
};
struct UpsamplingNearest2d : Upsample {
    explicit UpsamplingNearest2d(Var size = {}, Var scaleFactor = {})
        : Upsample("UpsamplingNearest2d", {std::move(size), std::move(scaleFactor), "nearest"}) {}
};
struct UpsamplingBilinear2d : Upsample {
    explicit UpsamplingBilinear2d(Var size = {}, Var scaleFactor = {})
        : Upsample("UpsamplingBilinear2d", {std::move(size), std::move(scaleFactor), "bilinear", true}) {}
};

/// Channels to space (Shi et al. 2016, arXiv:1609.05158): x […,C r²,H,W] -> y […,C,H r,W r],
///   y[c, h r + i, w r + j] = x[c r² + i r + j, h, w].
class PixelShuffle : public Layer {
  public:
    explicit PixelShuffle(std::int64_t factor) : Layer("PixelShuffle"), m_factor(factor) {}
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override { return "upscale_factor=" + std::to_string(m_factor); }

  private:
    std::int64_t m_factor;
};

/// The reverse: x […,C,H r,W r] -> y […,C r²,H,W].
class PixelUnshuffle : public Layer {
  public:
    explicit PixelUnshuffle(std::int64_t factor) : Layer("PixelUnshuffle"), m_factor(factor) {}
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override { return "downscale_factor=" + std::to_string(m_factor); }

  private:
    std::int64_t m_factor;
};

/// Channels as a matrix of `groups` rows, transposed (Zhang et al. 2017, arXiv:1707.01083): x [N,C,…] -> y [N,C,…],
///   y[k g + i] = x[i C / g + k].
class ChannelShuffle : public Layer {
  public:
    explicit ChannelShuffle(std::int64_t groups) : Layer("ChannelShuffle"), m_groups(groups) {}
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override { return "groups=" + std::to_string(m_groups); }

  private:
    std::int64_t m_groups;
};

}  // namespace sonde::nn
