// Pooling whose windows begin at random places (Graham 2014, arXiv:1412.6071).

#include <algorithm>
#include <array>
#include <cmath>

#include "core/ops/support/eager.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

/// Where the windows of one axis begin: floor((i + u) a) - floor(u a), a = (dimension - kernel) / (output - 1), u the
/// random number in 0…1; the last one ends at the end. In the numbers' own precision T, for the rounding to be torch's.
template <typename T>
std::vector<std::int64_t> beginnings(T u, std::int64_t dimSize, std::int64_t output, std::int64_t kernel) {
    std::vector<std::int64_t> result(static_cast<std::size_t>(output));
    const T step = output > 1 ? static_cast<T>(dimSize - kernel) / static_cast<T>(output - 1) : T(0);
    for (std::int64_t i = 0; i + 1 < output; ++i) {
        const auto at = static_cast<std::int64_t>((static_cast<T>(i) + u) * step) - static_cast<std::int64_t>(u * step);
        result[static_cast<std::size_t>(i)] = std::clamp<std::int64_t>(at, 0, dimSize - kernel);
    }
    if (output > 0) result.back() = dimSize - kernel;
    return result;
}

struct PoolAxis {
    std::int64_t dimSize = 1;
    std::int64_t kernel = 1;
    std::int64_t output = 1;
};

/// The largest number of each window of a plane and where it lies; not-a-number is larger than all.
template <typename T>
void poolPlane(const T* plane, const std::array<PoolAxis, 3>& axes,
               const std::array<std::vector<std::int64_t>, 3>& begin, T* values, std::int64_t* places) {
    const auto at = [&](std::int64_t d, std::int64_t h, std::int64_t w) {
        return (d * axes[1].dimSize + h) * axes[2].dimSize + w;
    };
    for (std::int64_t d0 : begin[0]) {
        for (std::int64_t h0 : begin[1]) {
            for (std::int64_t w0 : begin[2]) {
                std::int64_t best = at(d0, h0, w0);
                for (std::int64_t d = d0; d < d0 + axes[0].kernel; ++d) {
                    for (std::int64_t h = h0; h < h0 + axes[1].kernel; ++h) {
                        for (std::int64_t w = w0; w < w0 + axes[2].kernel; ++w) {
                            const std::int64_t place = at(d, h, w);
                            if (plane[place] > plane[best] || std::isnan(plane[place])) best = place;
                        }
                    }
                }
                *values++ = plane[best];
                *places++ = best;
            }
        }
    }
}

/// (self [N,C,…] or [C,…], kernel_size, output_size, random_samples [N,C,axes])
EagerResult fractionalMaxPool(Eager& e, std::size_t count) {
    const Tensor x = e.get(e.tensor("self").contiguous());
    const std::vector<std::int64_t> kernel = e.integers("kernel_size"), output = e.integers("output_size");
    if ((x.rank() != count + 1 && x.rank() != count + 2) || kernel.size() != count || output.size() != count) {
        e.fail(x.typeText() + " does not go with a window of " + std::to_string(count) + " axes");
    }
    std::array<PoolAxis, 3> axes;
    std::vector<std::int64_t> dims(x.shape().begin(), x.shape().end() - static_cast<std::ptrdiff_t>(count));
    std::int64_t planes = 1;
    for (std::int64_t dimSize : dims) planes *= dimSize;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t dimSize = x.dim(x.rank() - count + i);
        axes[3 - count + i] = {dimSize, kernel[i], output[i]};
        if (kernel[i] < 1 || output[i] < 1 || kernel[i] > dimSize || output[i] > dimSize - kernel[i] + 1)
            e.fail("the windows do not fit into " + x.typeText());
        dims.push_back(output[i]);
    }
    const Tensor samples = e.as(e.get(e.tensor("random_samples").contiguous()), x.dtype());
    const bool isEnough = samples.rank() == 3 && samples.dim(2) == static_cast<std::int64_t>(count) &&
                          samples.numel() >= planes * samples.dim(2);
    if (!isEnough) e.fail("random numbers [N,C," + std::to_string(count) + "] expected, not " + samples.typeText());
    const Shape shape(dims);
    const Tensor values = e.get(Tensor::allocate(x.dtype(), shape)),
                 places = e.get(Tensor::allocate(DType::Int64, shape));
    const bool done = tensor::dispatchFloating(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using Number = std::conditional_t<sizeof(T) < sizeof(float), float, T>;
        const std::int64_t each = planes > 0 ? values.numel() / planes : 0, size = planes > 0 ? x.numel() / planes : 0;
        for (std::int64_t p = 0; p < planes && !e.context().cancelled(); ++p) {
            const T* own = samples.data<T>() + p * static_cast<std::int64_t>(count);
            std::array<std::vector<std::int64_t>, 3> begin{{{0}, {0}, {0}}};
            for (std::size_t i = 0; i < count; ++i) {
                // Of planes the first number is for the width, of volumes for the depth.
                const PoolAxis& axis = axes[3 - count + i];
                begin[3 - count + i] = beginnings(static_cast<Number>(own[count == 2 ? 1 - i : i]), axis.dimSize,
                                                  axis.output, axis.kernel);
            }
            poolPlane<T>(x.data<T>() + p * size, axes, begin, const_cast<T*>(values.data<T>()) + p * each,
                         const_cast<std::int64_t*>(places.data<std::int64_t>()) + p * each);
        }
    });
    if (!done) e.fail("expected floating point numbers, not " + x.typeText());
    return std::vector<Value>{Value(values), Value(places)};
}

}  // namespace

void define_aten_fractional_pool(Registry& registry) {
    registry.add(eagerRow(
        "fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)",
        "maximum of windows at random positions, and its index", Category::Pool,
        [](Eager& e) { return fractionalMaxPool(e, 2); }));
    registry.add(eagerRow(
        "fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)",
        "maximum of windows at random positions, and its index", Category::Pool,
        [](Eager& e) { return fractionalMaxPool(e, 3); }));
}

}  // namespace sonde::ops
