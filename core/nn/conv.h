#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// A number for all axes, one for each, or "valid" (none) or "same" (as much as keeps the dim size; the stride is 1).
struct ConvPadding {
    Sizes sizes = 0;
    bool same = false;
    ConvPadding(int value) : sizes(value) {}
    ConvPadding(std::int64_t value) : sizes(value) {}
    ConvPadding(Ints list) : sizes(std::move(list)) {}
    ConvPadding(std::initializer_list<std::int64_t> list) : sizes(list) {}
    ConvPadding(const char* name);  ///< throws TraceError (ValueError) for another name
};

/// Names and defaults are torch's.
struct ConvOptions {
    Sizes stride = 1;
    ConvPadding padding = 0;
    Sizes dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
    std::string paddingMode = "zeros";  ///< or reflect, replicate, circular
    Sizes outputPadding = 0;            ///< transposed convolutions only
};

/// What convolutions and transposed ones share: n = 1, 2 or 3 spatial axes, weight [first, second, kernel…], bias [K].
class ConvLayer : public Layer {
  public:
    std::string extraText() const override;

  protected:
    ConvLayer(std::string className, std::size_t axes, std::int64_t inChannels, std::int64_t outChannels,
              const Sizes& kernel, const ConvOptions& options, bool transposed);

    std::size_t m_axes;
    std::int64_t m_inChannels;
    std::int64_t m_outChannels;
    Ints m_kernel;
    ConvOptions m_options;
    Attribute m_weight;
    Attribute m_bias;
};

/// Convolution over n = 1, 2 or 3 spatial axes.
///   x [N,C,L…] -> y [N,K,L'…],  L' = floor((L + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
///   weight [K, C / groups, kernel…], bias [K]; cross-correlation, by default in neural networks.
class Conv : public ConvLayer {
  public:
    Conv(std::string className, std::size_t axes, std::int64_t inChannels, std::int64_t outChannels,
         const Sizes& kernel, const ConvOptions& options)
        : ConvLayer(std::move(className), axes, inChannels, outChannels, kernel, options, false) {}
    Var forward(std::span<const Var> in) override;

  private:
    /// Before and after each axis, the last axis first.
    Ints edges() const;
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
///   weight [C, K / groups, kernel…], bias [K]. forward(input, output_size=None): output_size says L', one number for
///   each axis (batch and channels may precede), and replaces outputPadding.
class ConvTranspose : public ConvLayer {
  public:
    ConvTranspose(std::string className, std::size_t axes, std::int64_t inChannels, std::int64_t outChannels,
                  const Sizes& kernel, const ConvOptions& options)
        : ConvLayer(std::move(className), axes, inChannels, outChannels, kernel, options, true) {}
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;

  private:
    Var outputPadding(const Var& x, const Var& outputSize) const;
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
