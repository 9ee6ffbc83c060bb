#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// Patches of images as columns: x [N,C,H,W] -> y [N,C kernel_h kernel_w,P], P patches in the order of reading,
///   P = the product over both axes of floor((L + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
class Unfold : public Layer {
  public:
    explicit Unfold(const Sizes& kernel, const Sizes& dilation = 1, const Sizes& padding = 0, const Sizes& stride = 1)
        : Layer("Unfold"), m_kernel(kernel.of(2)), m_dilation(dilation.of(2)), m_padding(padding.of(2)),
          m_stride(stride.of(2)) {}
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    Ints m_kernel;
    Ints m_dilation;
    Ints m_padding;
    Ints m_stride;
};

/// Columns as patches of an image of outputSize; where patches overlap they are added:
///   x [N,C kernel_h kernel_w,P] -> y [N,C,outputSize…].
class Fold : public Layer {
  public:
    Fold(const Sizes& outputSize, const Sizes& kernel, const Sizes& dilation = 1, const Sizes& padding = 0,
         const Sizes& stride = 1)
        : Layer("Fold"), m_size(outputSize.of(2)), m_kernel(kernel.of(2)), m_dilation(dilation.of(2)),
          m_padding(padding.of(2)), m_stride(stride.of(2)) {}
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    Ints m_size;
    Ints m_kernel;
    Ints m_dilation;
    Ints m_padding;
    Ints m_stride;
};

}  // namespace sonde::nn
