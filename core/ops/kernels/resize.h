#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// What one output position of one axis is made of.
struct Taps {
    std::vector<std::int64_t> indices;
    std::vector<double> weights;
    bool outside = false;  ///< takes the extrapolation value instead
};

/// How one axis is resampled (ONNX Resize).
struct AxisResize {
    std::int64_t input = 0, output = 0;
    double scale = 1;  ///< output / input as asked for, which rounding may have changed
    double roiStart = 0, roiEnd = 1;
};
struct ResizeOptions {
    std::string mode = "nearest";            ///< nearest, linear, cubic
    std::string coordinates = "half_pixel";  ///< coordinate_transformation_mode
    std::string nearest = "round_prefer_floor";
    double cubicA = -0.75;
    bool excludeOutside = false, antialias = false;
    double extrapolation = 0;
};

base::Result<std::vector<Taps>> tapsOf(const AxisResize& axis, const ResizeOptions& options);

/// Resamples every axis whose taps are not empty; separable, one axis after the other.
base::Result<void> resize(KernelContext& context, const Tensor& x, const std::vector<std::vector<Taps>>& axes,
                          const ResizeOptions& options);

}  // namespace sonde::ops::kernels
