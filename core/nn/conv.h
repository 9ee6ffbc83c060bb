#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

struct ConvOptions {
    Sizes stride = 1;
    Sizes padding = 0;
    Sizes dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
    Sizes outputPadding = 0;  ///< transposed convolutions only
};

/// Convolution over n = 1, 2 or 3 spatial axes.
///   x [N,C,L…] -> y [N,K,L'…],  L' = floor((L + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
///   weight [K, C / groups, kernel…], bias [K]; cross-correlation, as usual in neural networks.
class Conv : public Layer {
  public:
    Conv(std::string className, std::size_t axes, std::int64_t inChannels, std::int64_t outChannels, const Sizes& kernel,
         const ConvOptions& options);
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    std::size_t m_axes;
    std::int64_t m_inChannels;
    std::int64_t m_outChannels;
    Ints m_kernel;
    ConvOptions m_options;
    Attribute m_weight;
    Attribute m_bias;
};

struct Conv1d : Conv {
    Conv1d(std::int64_t in, std::int64_t out, const Sizes& kernel, const ConvOptions& options = {})
        : Conv("Conv1d", 1, in, out, kernel, options) {}
};
struct Conv2d : Conv {
    Conv2d(std::int64_t in, std::int64_t out, const Sizes& kernel, const ConvOptions& options = {})
        : Conv("Conv2d", 2, in, out, kernel, options) {}
};
struct Conv3d : Conv {
    Conv3d(std::int64_t in, std::int64_t out, const Sizes& kernel, const ConvOptions& options = {})
        : Conv("Conv3d", 3, in, out, kernel, options) {}
};

/// Transposed convolution: the gradient of Conv with respect to its input.
///   x [N,C,L…] -> y [N,K,L'…],  L' = (L - 1) stride - 2 padding + dilation (kernel - 1) + outputPadding + 1
///   weight [C, K / groups, kernel…], bias [K].
class ConvTranspose : public Layer {
  public:
    ConvTranspose(std::string className, std::size_t axes, std::int64_t inChannels, std::int64_t outChannels,
                  const Sizes& kernel, const ConvOptions& options);
    Var forward(std::span<const Var> in) override;

  private:
    std::size_t m_axes;
    ConvOptions m_options;
    Attribute m_weight;
    Attribute m_bias;
};

struct ConvTranspose1d : ConvTranspose {
    ConvTranspose1d(std::int64_t in, std::int64_t out, const Sizes& kernel, const ConvOptions& options = {})
        : ConvTranspose("ConvTranspose1d", 1, in, out, kernel, options) {}
};
struct ConvTranspose2d : ConvTranspose {
    ConvTranspose2d(std::int64_t in, std::int64_t out, const Sizes& kernel, const ConvOptions& options = {})
        : ConvTranspose("ConvTranspose2d", 2, in, out, kernel, options) {}
};
struct ConvTranspose3d : ConvTranspose {
    ConvTranspose3d(std::int64_t in, std::int64_t out, const Sizes& kernel, const ConvOptions& options = {})
        : ConvTranspose("ConvTranspose3d", 3, in, out, kernel, options) {}
};

}  // namespace sonde::nn
