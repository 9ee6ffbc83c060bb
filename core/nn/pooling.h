#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

// Poolings over n = 1, 2 or 3 spatial axes: x [N,C,L…] (or without N) -> y [N,C,L'…],
//   L' = floor((L + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, ceil with ceilMode.
// No stride means that of the kernel.

/// Largest value under a window. With returnIndices the result is (y, places): where in its plane each value stood,
/// int64.
class MaxPool : public Layer {
  public:
    MaxPool(std::string className, std::size_t axes, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
            const Sizes& dilation, bool returnIndices, bool ceilMode);
    bool makesTensor() const override { return !m_returnIndices; }
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    Ints m_kernel;
    Ints m_stride;
    Ints m_padding;
    Ints m_dilation;
    bool m_returnIndices;
    bool m_ceilMode;
};
struct MaxPool1d : MaxPool {
    explicit MaxPool1d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0,
                       const Sizes& dilation = 1, bool returnIndices = false, bool ceilMode = false)
        : MaxPool("MaxPool1d", 1, kernel, stride, padding, dilation, returnIndices, ceilMode) {}
};
struct MaxPool2d : MaxPool {
    explicit MaxPool2d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0,
                       const Sizes& dilation = 1, bool returnIndices = false, bool ceilMode = false)
        : MaxPool("MaxPool2d", 2, kernel, stride, padding, dilation, returnIndices, ceilMode) {}
};
struct MaxPool3d : MaxPool {
    explicit MaxPool3d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0,
                       const Sizes& dilation = 1, bool returnIndices = false, bool ceilMode = false)
        : MaxPool("MaxPool3d", 3, kernel, stride, padding, dilation, returnIndices, ceilMode) {}
};

/// The reverse: each value goes to its place, all else is 0. forward(input, indices, output_size=None) -> y [N,C,L'…],
///   L' = (L - 1) stride - 2 padding + kernel, unless output_size says it.
class MaxUnpool : public Layer {
  public:
    MaxUnpool(std::string className, std::size_t axes, const Sizes& kernel, const Sizes& stride, const Sizes& padding);
    std::vector<ForwardParameter> signature() const override;
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    Ints m_kernel;
    Ints m_stride;
    Ints m_padding;
};
struct MaxUnpool1d : MaxUnpool {
    explicit MaxUnpool1d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0)
        : MaxUnpool("MaxUnpool1d", 1, kernel, stride, padding) {}
};
struct MaxUnpool2d : MaxUnpool {
    explicit MaxUnpool2d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0)
        : MaxUnpool("MaxUnpool2d", 2, kernel, stride, padding) {}
};
struct MaxUnpool3d : MaxUnpool {
    explicit MaxUnpool3d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0)
        : MaxUnpool("MaxUnpool3d", 3, kernel, stride, padding) {}
};

/// Mean under a window; dilation is 1. Padding counts as zeros, or not at all without countPadding; `divisor` replaces
/// the window's size (2d and 3d).
class AvgPool : public Layer {
  public:
    AvgPool(std::string className, std::size_t axes, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
            bool ceilMode, bool countPadding, Var divisor);
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    Ints m_kernel;
    Ints m_stride;
    Ints m_padding;
    bool m_ceilMode;
    bool m_countPadding;
    Var m_divisor;
};
struct AvgPool1d : AvgPool {
    explicit AvgPool1d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0,
                       bool ceilMode = false, bool countPadding = true)
        : AvgPool("AvgPool1d", 1, kernel, stride, padding, ceilMode, countPadding, {}) {}
};
struct AvgPool2d : AvgPool {
    explicit AvgPool2d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0,
                       bool ceilMode = false, bool countPadding = true, Var divisor = {})
        : AvgPool("AvgPool2d", 2, kernel, stride, padding, ceilMode, countPadding, std::move(divisor)) {}
};
struct AvgPool3d : AvgPool {
    explicit AvgPool3d(const Sizes& kernel, const Sizes& stride = Ints{}, const Sizes& padding = 0,
                       bool ceilMode = false, bool countPadding = true, Var divisor = {})
        : AvgPool("AvgPool3d", 3, kernel, stride, padding, ceilMode, countPadding, std::move(divisor)) {}
};

/// (sum x^norm)^(1 / norm) under a window, without padding.
class LPPool : public Layer {
  public:
    LPPool(std::string className, std::size_t axes, double norm, const Sizes& kernel, const Sizes& stride,
           bool ceilMode);
    Var forward(std::span<const Var> in) override;
    std::string extraText() const override;

  private:
    double m_norm;
    Ints m_kernel;
    Ints m_stride;
    bool m_ceilMode;
};
struct LPPool1d : LPPool {
    LPPool1d(double norm, const Sizes& kernel, const Sizes& stride = Ints{}, bool ceilMode = false)
        : LPPool("LPPool1d", 1, norm, kernel, stride, ceilMode) {}
};
struct LPPool2d : LPPool {
    LPPool2d(double norm, const Sizes& kernel, const Sizes& stride = Ints{}, bool ceilMode = false)
        : LPPool("LPPool2d", 2, norm, kernel, stride, ceilMode) {}
};
struct LPPool3d : LPPool {
    LPPool3d(double norm, const Sizes& kernel, const Sizes& stride = Ints{}, bool ceilMode = false)
        : LPPool("LPPool3d", 3, norm, kernel, stride, ceilMode) {}
};

/// A window's size follows from the output's: cell i of L' covers floor(i L / L') … ceil((i + 1) L / L') - 1.
/// `size` is L', for all axes or one each; None keeps the input's dim size.
class AdaptivePool : public Layer {
  public:
    std::string extraText() const override { return "output_size=" + m_size.toValue().text(); }

  protected:
    AdaptivePool(std::string className, std::size_t axes, const Var& size);
    std::size_t m_axes;
    Var m_size;
};
/// Mean of each cell.
struct AdaptiveAvgPool : AdaptivePool {
    AdaptiveAvgPool(std::string className, std::size_t axes, const Var& size)
        : AdaptivePool(std::move(className), axes, size) {}
    Var forward(std::span<const Var> in) override;
};
struct AdaptiveAvgPool1d : AdaptiveAvgPool {
    explicit AdaptiveAvgPool1d(const Var& size) : AdaptiveAvgPool("AdaptiveAvgPool1d", 1, size) {}
};
struct AdaptiveAvgPool2d : AdaptiveAvgPool {
    explicit AdaptiveAvgPool2d(const Var& size) : AdaptiveAvgPool("AdaptiveAvgPool2d", 2, size) {}
};
struct AdaptiveAvgPool3d : AdaptiveAvgPool {
    explicit AdaptiveAvgPool3d(const Var& size) : AdaptiveAvgPool("AdaptiveAvgPool3d", 3, size) {}
};
/// Largest value of each cell; with returnIndices the pair with places as MaxPool's.
class AdaptiveMaxPool : public AdaptivePool {
  public:
    AdaptiveMaxPool(std::string className, std::size_t axes, const Var& size, bool returnIndices)
        : AdaptivePool(std::move(className), axes, size), m_returnIndices(returnIndices) {}
    bool makesTensor() const override { return !m_returnIndices; }
    Var forward(std::span<const Var> in) override;

  private:
    bool m_returnIndices;
};
struct AdaptiveMaxPool1d : AdaptiveMaxPool {
    explicit AdaptiveMaxPool1d(const Var& size, bool returnIndices = false)
        : AdaptiveMaxPool("AdaptiveMaxPool1d", 1, size, returnIndices) {}
};
struct AdaptiveMaxPool2d : AdaptiveMaxPool {
    explicit AdaptiveMaxPool2d(const Var& size, bool returnIndices = false)
        : AdaptiveMaxPool("AdaptiveMaxPool2d", 2, size, returnIndices) {}
};
struct AdaptiveMaxPool3d : AdaptiveMaxPool {
    explicit AdaptiveMaxPool3d(const Var& size, bool returnIndices = false)
        : AdaptiveMaxPool("AdaptiveMaxPool3d", 3, size, returnIndices) {}
};

}  // namespace sonde::nn
