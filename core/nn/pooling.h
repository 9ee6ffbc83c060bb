#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

/// Largest value under a window. x [N,C,H,W] -> y [N,C,H',W'],
///   H' = floor((H + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 (ceil with ceilMode).
class MaxPool2d : public Layer {
  public:
    explicit MaxPool2d(Sizes kernel, Sizes stride = Ints{}, Sizes padding = 0, Sizes dilation = 1, bool ceilMode = false);
    Var forward(std::span<const Var> in) override;

  private:
    Ints m_kernel;
    Ints m_stride;
    Ints m_padding;
    Ints m_dilation;
    bool m_ceilMode;
};

/// Mean under a window; shapes as MaxPool2d with dilation 1.
class AvgPool2d : public Layer {
  public:
    explicit AvgPool2d(Sizes kernel, Sizes stride = Ints{}, Sizes padding = 0, bool ceilMode = false, bool countPadding = true);
    Var forward(std::span<const Var> in) override;

  private:
    Ints m_kernel;
    Ints m_stride;
    Ints m_padding;
    bool m_ceilMode;
    bool m_countPadding;
};

/// Mean over windows that divide the map into `size` cells. x [N,C,H,W] -> y [N,C,size…].
class AdaptiveAvgPool2d : public Layer {
  public:
    explicit AdaptiveAvgPool2d(const Sizes& size) : Layer("AdaptiveAvgPool2d"), m_size(size.of(2)) {}
    Var forward(std::span<const Var> in) override;

  private:
    Ints m_size;
};

}  // namespace sonde::nn
