#include "core/ops/kernels/resize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"
#include "core/tensor/storage.h"

namespace sonde::ops::kernels {

namespace {

base::Result<double> originalCoordinate(const AxisResize& axis, const ResizeOptions& options, std::int64_t at) {
    const auto x = static_cast<double>(at), in = static_cast<double>(axis.input),
               out = static_cast<double>(axis.output);
    const std::string& mode = options.coordinates;
    if (mode == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
    if (mode == "asymmetric") return x / axis.scale;
    // The dimension asked for may be a fraction; corners are aligned with that one.
    const double asked = axis.scale * in;
    if (mode == "align_corners") return asked != 1 ? x * (in - 1) / (asked - 1) : 0.0;
    if (mode == "pytorch_half_pixel") return axis.output > 1 ? (x + 0.5) / axis.scale - 0.5 : 0.0;
    if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / (axis.scale * in)) + (x + 0.5) / axis.scale - 0.5;
    if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
    if (mode == "tf_crop_and_resize") {
        return axis.output > 1 ? axis.roiStart * (in - 1) + x * (axis.roiEnd - axis.roiStart) * (in - 1) / (out - 1)
                               : 0.5 * (axis.roiStart + axis.roiEnd) * (in - 1);
    }
    return opError("coordinate_transformation_mode '" + mode + "' is not supported");
}

base::Result<double> nearestIndex(double x, const std::string& mode) {
    if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
    if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
    if (mode == "floor") return std::floor(x);
    if (mode == "ceil") return std::ceil(x);
    return opError("nearest_mode '" + mode + "' is not supported");
}

/// Keys' cubic convolution kernel (Keys 1981, equation 4).
double cubic(double x, double a) {
    x = std::fabs(x);
    if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    if (x < 2) return a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a;
    return 0;
}

double triangle(double x) { return std::max(0.0, 1 - std::fabs(x)); }

/// Scaling down with antialiasing, the filter covers as many inputs as fall on one output.
double stretchOf(const AxisResize& axis, const ResizeOptions& options) {
    return options.antialias ? std::min(axis.scale, 1.0) : 1.0;
}
double radiusOf(const AxisResize& axis, const ResizeOptions& options) {
    return (options.mode == "cubic" ? 2 : 1) / stretchOf(axis, options);
}

/// What the taps of an axis take at most, about: two lists for each output.
double tapBytes(const AxisResize& axis, const ResizeOptions& options) {
    const double taps = options.mode == "nearest" ? 1 : 2 * radiusOf(axis, options) + 2;
    return static_cast<double>(axis.output) * (sizeof(Taps) + 64 + taps * (sizeof(std::int64_t) + sizeof(double)));
}

Taps filterTaps(double x, const AxisResize& axis, const ResizeOptions& options) {
    const bool isCubic = options.mode == "cubic";
    const double stretch = stretchOf(axis, options), radius = radiusOf(axis, options);
    const double base = std::floor(x);
    const auto first = static_cast<std::int64_t>(base + std::floor(-radius) + 1),
               last = static_cast<std::int64_t>(base + std::ceil(radius));
    Taps taps;
    double total = 0;
    for (std::int64_t i = first; i <= last; ++i) {
        const double distance = (static_cast<double>(i) - x) * stretch;
        double weight = isCubic ? cubic(distance, options.cubicA) : triangle(distance);
        if (options.excludeOutside && (i < 0 || i >= axis.input)) weight = 0;
        if (weight == 0) continue;
        total += weight;
        taps.indices.push_back(std::clamp<std::int64_t>(i, 0, axis.input - 1));
        taps.weights.push_back(weight);
    }
    if (options.excludeOutside || options.antialias) {
        for (double& weight : taps.weights) weight /= total;
    }
    return taps;
}

}  // namespace

base::Result<std::vector<Taps>> tapsOf(const AxisResize& axis, const ResizeOptions& options) {
    std::vector<Taps> all;
    if (axis.output == 0) return all;
    if (axis.input < 1 && axis.output > 0) return opError("an empty axis cannot be resized");
    if (!(axis.scale > 1e-6)) return opError("scale " + std::to_string(axis.scale) + " is not positive");
    if (tapBytes(axis, options) > static_cast<double>(tensor::memoryLimit()) / 4)
        return opError("a dimension of size " + std::to_string(axis.output) + " is too large");
    const auto last = static_cast<double>(axis.input - 1);
    for (std::int64_t i = 0; i < axis.output; ++i) {
        SONDE_ASSIGN(const double x, originalCoordinate(axis, options, i));
        Taps taps;
        if (!std::isfinite(x)) return opError("the resized coordinates are not finite");
        const double held = std::clamp(x, -4.0 * (last + 2), 4.0 * (last + 2));
        if (options.mode == "nearest") {
            SONDE_ASSIGN(const double nearest, nearestIndex(held, options.nearest));
            taps.indices = {static_cast<std::int64_t>(std::clamp(nearest, 0.0, last))};
            taps.weights = {1};
        } else if (options.mode == "linear" || options.mode == "cubic") {
            taps = filterTaps(held, axis, options);
        } else {
            return opError("mode '" + options.mode + "' is not supported");
        }
        taps.outside = options.coordinates == "tf_crop_and_resize" && (x < 0 || x > last);
        all.push_back(std::move(taps));
    }
    return all;
}

namespace {

/// x [outer, in, inner] -> y [outer, out, inner]
template <typename T>
void resample(base::ThreadPool& pool, const T* x, T* y, std::int64_t outer, std::int64_t in, std::int64_t inner,
              const std::vector<Taps>& taps) {
    const auto out = static_cast<std::int64_t>(taps.size());
    pool.parallelFor(
        static_cast<std::size_t>(outer * (inner > 1 ? out : 1)),
        static_cast<std::size_t>(4096 / (inner > 1 ? inner : out) + 1), [&](std::size_t begin, std::size_t end) {
            for (auto task = static_cast<std::int64_t>(begin); task < static_cast<std::int64_t>(end); ++task) {
                if (inner == 1) {
                    for (std::int64_t i = 0; i < out; ++i) {
                        const Taps& t = taps[static_cast<std::size_t>(i)];
                        T sum{};
                        for (std::size_t k = 0; k < t.indices.size(); ++k)
                            sum += static_cast<T>(t.weights[k]) * x[task * in + t.indices[k]];
                        y[task * out + i] =
                            t.indices.size() == 1 && t.weights[0] == 1 ? x[task * in + t.indices[0]] : sum;
                    }
                    continue;
                }
                const Taps& t = taps[static_cast<std::size_t>(task % out)];
                T* row = y + task * inner;
                const T* image = x + task / out * in * inner;
                if (t.indices.size() == 1 && t.weights[0] == 1) {
                    std::copy(image + t.indices[0] * inner, image + (t.indices[0] + 1) * inner, row);
                    continue;
                }
                std::fill(row, row + inner, T{});
                for (std::size_t k = 0; k < t.indices.size(); ++k) {
                    const T* from = image + t.indices[k] * inner;
                    if constexpr (std::is_same_v<T, float>) {
                        floatKernels().axpy(static_cast<float>(t.weights[k]), from, row,
                                            static_cast<std::size_t>(inner));
                    } else {
                        for (std::int64_t i = 0; i < inner; ++i) row[i] += static_cast<T>(t.weights[k]) * from[i];
                    }
                }
            }
        });
}

template <typename T>
void extrapolate(const std::vector<std::vector<Taps>>& axes, Tensor& y, T value) {
    for (std::int64_t i = 0; i < y.numel(); ++i) {
        std::int64_t rest = i;
        for (std::size_t d = y.rank(); d-- > 0;) {
            const std::int64_t at = rest % y.dim(d);
            rest /= y.dim(d);
            if (!axes[d].empty() && axes[d][static_cast<std::size_t>(at)].outside) y.mutableData<T>()[i] = value;
        }
    }
}

template <typename T>
base::Result<void> resizeTyped(KernelContext& context, const Tensor& x, const std::vector<std::vector<Taps>>& axes,
                               const ResizeOptions& options) {
    Tensor current = x;
    std::size_t left =
        static_cast<std::size_t>(std::ranges::count_if(axes, [](const auto& taps) { return !taps.empty(); }));
    for (std::size_t d = 0; d < x.rank(); ++d) {
        if (axes[d].empty()) continue;
        Shape shape = current.shape();
        shape[d] = static_cast<std::int64_t>(axes[d].size());
        --left;
        SONDE_ASSIGN(Tensor next, left == 0 ? context.output(x.dtype(), shape) : Tensor::allocate(x.dtype(), shape));
        std::int64_t outer = 1, inner = 1;
        for (std::size_t i = 0; i < d; ++i) outer *= shape[i];
        for (std::size_t i = d + 1; i < shape.rank(); ++i) inner *= shape[i];
        if (next.numel() > 0)
            resample<T>(context.pool(), current.data<T>(), next.mutableData<T>(), outer, current.dim(d), inner,
                        axes[d]);
        current = next;
    }
    if (options.coordinates == "tf_crop_and_resize")
        extrapolate<T>(axes, current, static_cast<T>(options.extrapolation));
    context.setOutput(Value(std::move(current)));
    return {};
}

}  // namespace

base::Result<void> resize(KernelContext& context, const Tensor& x, const std::vector<std::vector<Taps>>& axes,
                          const ResizeOptions& options) {
    if (x.dtype() == DType::Float32) return resizeTyped<float>(context, x, axes, options);
    if (x.dtype() == DType::Float64) return resizeTyped<double>(context, x, axes, options);
    SONDE_ASSIGN(const Tensor wide, x.cast(DType::Float64));
    SONDE_TRY(resizeTyped<double>(context, wide, axes, options));
    std::vector<Value> outputs = context.takeOutputs();
    Tensor result = outputs[0].tensor();
    if (tensor::isInteger(x.dtype())) {
        // Interpolated integers are rounded, not cut; a cubic that overshoots stays at the end of the range.
        SONDE_ASSIGN(result, result.clone());
        tensor::dispatchIntegers(x.dtype(), [&](auto tag) {
            using Limits = std::numeric_limits<typename decltype(tag)::type>;
            constexpr auto kLow = static_cast<double>(Limits::lowest()), kHigh = static_cast<double>(Limits::max());
            for (double& v : result.mutableSpan<double>()) v = std::clamp(std::nearbyint(v), kLow, kHigh);
        });
    }
    SONDE_ASSIGN(result, result.cast(x.dtype()));
    outputs[0] = Value(std::move(result));
    context.setOutputs(std::move(outputs));
    return {};
}

}  // namespace sonde::ops::kernels
