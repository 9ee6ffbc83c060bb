#pragma once

#include <vector>

#include "core/ops/support/shapes.h"

namespace sonde::ops {

/// The sliding window of convolutions and pools over the spatial dimensions of x [N, C, D1, D2, …].
struct Window {
    std::vector<std::int64_t> kernel, stride, dilation, padBegin, padEnd;
    bool ceilMode = false;
    bool same = false;  ///< auto_pad SAME: pads depend on the input, the output has ceil(in / stride)

    std::size_t rank() const { return kernel.size(); }
    /// kernel dimension with its holes: dilation·(kernel − 1) + 1.
    std::int64_t span(std::size_t axis) const { return dilation[axis] * (kernel[axis] - 1) + 1; }
    std::int64_t taps() const;
    /// floor((in + padBegin + padEnd − span) / stride) + 1 (or ceil, without windows that begin in the end padding).
    std::int64_t outputDimSize(std::size_t axis, std::int64_t input) const;
    Shape outputShape(std::int64_t n, std::int64_t c, std::span<const std::int64_t> spatial) const;
    /// An error where a dimension of the output would be below `minDimSize`. The formula above may give 0 in ONNX (an
    /// empty result), a negative dimension is an error everywhere; PyTorch wants at least one window.
    base::Result<void> checkOutput(std::span<const std::int64_t> spatial, std::int64_t minDimSize) const;
    /// Positive kernel, stride, dilation, sane padding.
    base::Result<void> validate() const;
};

/// From ONNX attributes kernel_shape (or `kernel` if that is absent), strides, dilations, pads, auto_pad, ceil_mode.
/// `spatial` (the input's dimensions) is needed for auto_pad SAME; an unknown dimension is -1.
base::Result<Window> windowFromAttributes(const Attributes& attributes, std::span<const std::int64_t> kernel,
                                          std::span<const std::int64_t> spatial);
/// From ATen arguments: lists of one number stand for all axes; empty stride means the kernel's dimensions.
base::Result<Window> windowFromArguments(std::span<const std::int64_t> kernel, const Value& stride,
                                         const Value& padding, const Value& dilation, bool ceilMode);
/// A list of `rank` integers; one integer stands for all.
base::Result<std::vector<std::int64_t>> spread(const Value& value, std::size_t rank, std::int64_t fallback);

/// Dimensions with -1 for unknown ones, from position `first` on.
std::vector<std::int64_t> dimSizesFrom(const Dims& dims, std::size_t first);
/// [n, c, outputs of the window…]
Dims windowDims(const Window& window, const Dims& input, tensor::Dim channels);

}  // namespace sonde::ops
