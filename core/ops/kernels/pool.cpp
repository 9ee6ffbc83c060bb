#include "core/ops/kernels/pool.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/ops/kernels/depthwise.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/kernels/quantized_values.h"
#include "core/ops/kernels/scratch.h"
#include "core/tensor/cast.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops::kernels {

namespace {

/// A plane of inputs, a plane of outputs, and for each output the box of inputs that it covers on every axis.
struct Geometry {
    std::vector<std::int64_t> input, output;
    std::int64_t inputSize = 1, outputSize = 1, planes = 1;
};

base::Result<Geometry> geometryOf(const Tensor& x, const Shape& result) {
    Geometry geometry;
    geometry.planes = x.dim(0) * x.dim(1);
    for (std::size_t i = 2; i < x.rank(); ++i) {
        geometry.input.push_back(x.dim(i));
        geometry.output.push_back(result[i]);
        geometry.inputSize *= x.dim(i);
        geometry.outputSize *= result[i];
    }
    return geometry;
}

base::Result<Shape> resultShape(const Tensor& x, const Window& window) {
    if (x.rank() != window.rank() + 2) return opError("the window does not fit " + x.typeText());
    const auto spatial = std::span(x.shape().dims()).subspan(2);
    SONDE_TRY(window.checkOutput(spatial, 0));
    const Shape shape = window.outputShape(x.dim(0), x.dim(1), spatial);
    if (!shape.checkedNumel()) return opError("the pool's output " + shape.text() + " is too large");
    return shape;
}

/// Where one axis of a window begins and ends; steps of `dilation`.
struct Range {
    std::int64_t begin, end, step;
};

Range rangeOf(const Window& window, std::size_t axis, std::int64_t output, std::int64_t dimSize) {
    const std::int64_t start = output * window.stride[axis] - window.padBegin[axis];
    const std::int64_t step = window.dilation[axis];
    const std::int64_t begin = start < 0 ? start + (-start + step - 1) / step * step : start;
    return {begin, std::min(start + window.span(axis), dimSize), step};
}

/// Calls visit(flat input index) for every input that output position `at` covers, in row-major order.
template <typename Visit>
void forEachTap(const std::vector<Range>& ranges, const std::vector<std::int64_t>& input, std::size_t axis,
                std::int64_t base, const Visit& visit) {
    if (ranges.empty()) return visit(base);  // [N,C] without an image: each channel is one element
    const Range& range = ranges[axis];
    for (std::int64_t i = range.begin; i < range.end; i += range.step) {
        if (axis + 1 == ranges.size()) visit(base * input[axis] + i);
        else forEachTap(ranges, input, axis + 1, base * input[axis] + i, visit);
    }
}

/// For each plane and each output: body(plane, output index, ranges).
template <typename RangeOf, typename Body>
void forEachOutput(base::ThreadPool& pool, const Geometry& geometry, const RangeOf& rangeAt, const Body& body) {
    if (geometry.outputSize == 0) return;
    pool.parallelFor(static_cast<std::size_t>(geometry.planes), 1, [&](std::size_t begin, std::size_t end) {
        std::vector<Range> ranges(geometry.output.size());
        for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
            for (std::int64_t o = 0; o < geometry.outputSize; ++o) {
                std::int64_t rest = o;
                for (std::size_t axis = geometry.output.size(); axis-- > 0;) {
                    ranges[axis] = rangeAt(axis, rest % geometry.output[axis], geometry.input[axis]);
                    rest /= geometry.output[axis];
                }
                body(plane, o, ranges);
            }
        }
    });
}

template <typename T>
T lowest() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    else if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::lowest();
    else return T(-std::numeric_limits<float>::infinity());
}

std::int64_t columnMajorIndex(std::int64_t index, const std::vector<std::int64_t>& dimSizes) {
    std::int64_t result = 0, step = 1;
    std::vector<std::int64_t> at(dimSizes.size());
    for (std::size_t i = dimSizes.size(); i-- > 0;) {
        at[i] = index % dimSizes[i];
        index /= dimSizes[i];
    }
    for (std::size_t i = 0; i < dimSizes.size(); ++i) {
        result += at[i] * step;
        step *= dimSizes[i];
    }
    return result;
}

template <typename T, typename RangeOf>
void maxTyped(base::ThreadPool& pool, const Geometry& geometry, const RangeOf& rangeAt, const T* x, T* y,
              std::int64_t* where, bool columnMajor, bool perPlane) {
    forEachOutput(pool, geometry, rangeAt, [&](std::int64_t plane, std::int64_t o, const std::vector<Range>& ranges) {
        const T* in = x + plane * geometry.inputSize;
        T best = lowest<T>();
        std::int64_t at = -1;
        forEachTap(ranges, geometry.input, 0, 0, [&](std::int64_t i) {
            if (at < 0 || in[i] > best || (isNaN(in[i]) && !isNaN(best))) {
                best = in[i];
                at = i;
            }
        });
        y[plane * geometry.outputSize + o] = best;
        if (!where) return;
        const std::int64_t local = columnMajor ? columnMajorIndex(std::max<std::int64_t>(at, 0), geometry.input) : at;
        where[plane * geometry.outputSize + o] = perPlane ? local : plane * geometry.inputSize + local;
    });
}

/// float32 in one or two dimensions: rowsOf(taps, result, length) computes all rows of one plane of outputs at a time,
/// finish(values, length) is shown them before they are copied.
template <typename RowsOf, typename Finish>
void poolRows(base::ThreadPool& pool, const Geometry& geometry, const Window& window, float padding, const float* x,
              float* y, const RowsOf& rowsOf, const Finish& finish) {
    const PhasedPlane plane(window, geometry.input, geometry.output);
    const std::int64_t rows = plane.outputRows(), columns = plane.outputColumns();
    const std::int64_t length = (rows - 1) * plane.pitch() + columns;
    pool.parallelFor(static_cast<std::size_t>(geometry.planes), 1, [&](std::size_t begin, std::size_t end) {
        float* phases = Scratch::of<float>(0, plane.size());
        float* result = Scratch::of<float>(1, static_cast<std::size_t>(length));
        std::vector<const float*> taps;
        for (std::int64_t t = 0; t < plane.taps(); ++t) taps.push_back(plane.tap(phases, t));
        for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
            plane.fill(x + p * geometry.inputSize, padding, phases);
            rowsOf(taps, result, static_cast<std::size_t>(length));
            finish(result, static_cast<std::size_t>(length));
            for (std::int64_t row = 0; row < rows; ++row)
                copyFloats(result + row * plane.pitch(), y + p * geometry.outputSize + row * columns, columns);
        }
    });
}

/// A pool of a 3x3 window, straight from the picture; false where there is no loop for it.
bool maxOf3x3(base::ThreadPool& pool, const Geometry& geometry, const Window& window, const float* x, float* y) {
    const int stride = strideOf3x3(window);
    const auto loop = stride ? floatKernels().maxPool3x3[stride - 1] : nullptr;
    if (!loop) return false;
    pool.parallelFor(static_cast<std::size_t>(geometry.planes), 1, [&](std::size_t begin, std::size_t end) {
        for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p)
            loop({x + p * geometry.inputSize, geometry.input[0], geometry.input[1], window.padBegin[0],
                  window.padBegin[1], nullptr, 0, y + p * geometry.outputSize, geometry.output[0], geometry.output[1]});
    });
    return true;
}

void maxOfFloats(base::ThreadPool& pool, const Geometry& geometry, const Window& window, const float* x, float* y) {
    if (maxOf3x3(pool, geometry, window, x, y)) return;
    poolRows(
        pool, geometry, window, -std::numeric_limits<float>::infinity(), x, y,
        [](const std::vector<const float*>& taps, float* result, std::size_t length) {
            floatKernels().maxRows(taps.data(), taps.size(), result, length);
        },
        [](float*, std::size_t) {});
}

/// Whether every window has an element of the input, so that nothing is lower than all numbers of the type.
bool coversAll(const Window& window, const Geometry& geometry) {
    for (std::size_t i = 0; i < window.rank(); ++i) {
        const std::int64_t last = (geometry.output[i] - 1) * window.stride[i] - window.padBegin[i];
        if (window.dilation[i] != 1 || window.padBegin[i] >= window.kernel[i] || last >= geometry.input[i])
            return false;
    }
    return true;
}

/// The maximum of bytes or narrow floats by the loops for float32.
base::Result<void> maxByFloats(KernelContext& context, const Tensor& x, const Geometry& geometry, const Window& window,
                               Tensor& y) {
    const auto inputs = static_cast<std::size_t>(x.numel()), outputs = static_cast<std::size_t>(y.numel());
    WorkBuffer<float> wideX(inputs), wideY(outputs);
    if (isByte(x.dtype())) dequantiseBytes(bytesOf(x), x.dtype(), 0, 1.0F, {wideX.data(), inputs}, context.pool());
    else tensor::castElements(x.dtype(), x.bytes(), DType::Float32, wideX.data(), inputs);
    maxOfFloats(context.pool(), geometry, window, wideX.data(), wideY.data());
    if (isByte(x.dtype()))
        quantiseBytes({wideY.data(), outputs}, 1.0F, 0, y.dtype(), mutableBytesOf(y), context.pool());
    else tensor::castElements(DType::Float32, wideY.data(), y.dtype(), y.mutableBytes(), outputs);
    return {};
}

/// Where the largest elements are, output 1; null if nobody reads it.
base::Result<std::int64_t*> indicesIfWanted(KernelContext& context, const Shape& shape) {
    if (!context.wants(1)) return nullptr;
    SONDE_ASSIGN(Tensor indices, context.output(1, DType::Int64, shape));
    return indices.mutableData<std::int64_t>();
}

}  // namespace

base::Result<void> maxPool(KernelContext& context, const Tensor& x, const Window& window, bool columnMajor,
                           bool perPlane) {
    SONDE_ASSIGN(const Shape shape, resultShape(x, window));
    SONDE_ASSIGN(const Geometry geometry, geometryOf(x, shape));
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), shape));
    SONDE_ASSIGN(std::int64_t* const where, indicesIfWanted(context, shape));
    if (y.numel() == 0) return {};
    if (!where && fitsDepthwise(window, geometry.input, geometry.output)) {
        if (x.dtype() == DType::Float32) {
            maxOfFloats(context.pool(), geometry, window, x.data<float>(), y.mutableData<float>());
            return {};
        }
        if ((isByte(x.dtype()) || isNarrow(x.dtype())) && coversAll(window, geometry))
            return maxByFloats(context, x, geometry, window, y);
    }
    const auto rangeAt = [&](std::size_t axis, std::int64_t o, std::int64_t dimSize) {
        return rangeOf(window, axis, o, dimSize);
    };
    if (!tensor::dispatchNumbers(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            maxTyped(context.pool(), geometry, rangeAt, x.data<T>(), y.mutableData<T>(), where, columnMajor, perPlane);
        })) {
        return opError("pooling is not defined for " + x.typeText());
    }
    return {};
}

namespace {

/// y = finish(Σ term(x), covered inputs, output index) in double.
template <typename RangeOf, typename Term, typename Finish>
base::Result<void> sumPool(KernelContext& context, const Tensor& x, const Geometry& geometry, Tensor& y,
                           const RangeOf& rangeAt, const Term& term, const Finish& finish) {
    if (!tensor::dispatchFloating(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
            const T* in = x.data<T>();
            T* out = y.mutableData<T>();
            forEachOutput(context.pool(), geometry, rangeAt,
                          [&](std::int64_t plane, std::int64_t o, const std::vector<Range>& ranges) {
                              const T* row = in + plane * geometry.inputSize;
                              Sum sum = 0;
                              std::int64_t count = 0;
                              forEachTap(ranges, geometry.input, 0, 0, [&](std::int64_t i) {
                                  sum += static_cast<Sum>(term(static_cast<Sum>(row[i])));
                                  ++count;
                              });
                              out[plane * geometry.outputSize + o] =
                                  static_cast<T>(static_cast<Sum>(finish(sum, count, o)));
                          });
        })) {
        return opError("pooling is not defined for " + x.typeText());
    }
    return {};
}

/// Window positions that lie inside the padded input: a window in ceil mode may hang over the end of the padding too.
std::int64_t paddedTaps(const Window& window, const Geometry& geometry, std::int64_t output) {
    std::int64_t count = 1, rest = output;
    for (std::size_t axis = window.rank(); axis-- > 0;) {
        const std::int64_t start = rest % geometry.output[axis] * window.stride[axis] - window.padBegin[axis];
        rest /= geometry.output[axis];
        const std::int64_t end = std::min(start + window.span(axis), geometry.input[axis] + window.padEnd[axis]);
        count *= std::max<std::int64_t>(0, (end - start + window.dilation[axis] - 1) / window.dilation[axis]);
    }
    return count;
}

}  // namespace

namespace {

/// Positions of a window on one axis that count: inside the input, or inside the padded input.
double tapsAt(const Window& window, std::size_t axis, std::int64_t output, std::int64_t dimSize, bool countPadding) {
    const Range range = rangeOf(window, axis, output, dimSize);
    if (!countPadding)
        return static_cast<double>(std::max<std::int64_t>(0, (range.end - range.begin + range.step - 1) / range.step));
    const std::int64_t start = output * window.stride[axis] - window.padBegin[axis];
    const std::int64_t end = std::min(start + window.span(axis), dimSize + window.padEnd[axis]);
    return static_cast<double>(
        std::max<std::int64_t>(0, (end - start + window.dilation[axis] - 1) / window.dilation[axis]));
}

/// The sum of the taps, padded with zeros, divided by the number that counts in each row times that in each column.
void averageRows(KernelContext& context, const Geometry& geometry, const Window& window, bool countPadding,
                 std::int64_t divisor, const float* x, float* y) {
    const bool flat = window.rank() == 1;
    const std::size_t last = window.rank() - 1;
    const std::int64_t columns = geometry.output[last], rows = flat ? 1 : geometry.output[0];
    const std::vector<float> ones(static_cast<std::size_t>(window.taps()), 1.0F);
    const std::int64_t pitch = PhasedPlane(window, geometry.input, geometry.output).pitch();
    std::vector<float> divisors(static_cast<std::size_t>(rows * pitch), 1.0F);  // between the rows, too
    for (std::int64_t i = 0; i < rows * columns; ++i) {
        const double inRow = flat ? 1 : tapsAt(window, 0, i / columns, geometry.input[0], countPadding);
        const double all = divisor > 0 ? static_cast<double>(divisor)
                                       : inRow * tapsAt(window, last, i % columns, geometry.input[last], countPadding);
        divisors[static_cast<std::size_t>(i / columns * pitch + i % columns)] =
            static_cast<float>(all > 0 ? all : 1);  // nothing covered: 0 / 1
    }
    const BinaryLoop divide = floatKernels().binary[static_cast<std::size_t>(Binary::Div)];
    poolRows(
        context.pool(), geometry, window, 0.0F, x, y,
        [&](const std::vector<const float*>& taps, float* result, std::size_t length) {
            floatKernels().weightedRows(taps.data(), ones.data(), taps.size(), 0.0F, result, length);
        },
        [&](float* values, std::size_t length) { divide(values, false, divisors.data(), false, values, length); });
}

}  // namespace

base::Result<void> averagePool(KernelContext& context, const Tensor& x, const Window& window, bool countPadding,
                               std::int64_t divisor) {
    SONDE_ASSIGN(const Shape shape, resultShape(x, window));
    SONDE_ASSIGN(const Geometry geometry, geometryOf(x, shape));
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), shape));
    if (x.dtype() == DType::Float32 && y.numel() > 0 && fitsDepthwise(window, geometry.input, geometry.output)) {
        averageRows(context, geometry, window, countPadding, divisor, x.data<float>(), y.mutableData<float>());
        return {};
    }
    return sumPool(
        context, x, geometry, y,
        [&](std::size_t axis, std::int64_t o, std::int64_t dimSize) { return rangeOf(window, axis, o, dimSize); },
        [](auto v) { return v; },
        [&](auto sum, std::int64_t count, std::int64_t o) {
            const std::int64_t by = divisor > 0 ? divisor : countPadding ? paddedTaps(window, geometry, o) : count;
            return by == 0 ? decltype(sum){} : sum / static_cast<decltype(sum)>(by);
        });
}

base::Result<void> lpPool(KernelContext& context, const Tensor& x, const Window& window, double p) {
    SONDE_ASSIGN(const Shape shape, resultShape(x, window));
    SONDE_ASSIGN(const Geometry geometry, geometryOf(x, shape));
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), shape));
    return sumPool(
        context, x, geometry, y,
        [&](std::size_t axis, std::int64_t o, std::int64_t dimSize) { return rangeOf(window, axis, o, dimSize); },
        [p](auto v) { return std::pow(std::fabs(static_cast<double>(v)), p); },
        [p](auto sum, std::int64_t, std::int64_t) { return std::pow(static_cast<double>(sum), 1 / p); });
}

namespace {

base::Result<Shape> adaptiveShape(const Tensor& x, std::span<const std::int64_t> output) {
    if (x.rank() != output.size() + 2) return opError("the output size does not match " + x.typeText());
    std::vector<std::int64_t> dims{x.dim(0), x.dim(1)};
    for (std::size_t i = 0; i < output.size(); ++i) dims.push_back(output[i]);
    Shape shape(std::move(dims));
    if (!shape.checkedNumel()) return opError("invalid output size " + shape.text());
    return shape;
}

}  // namespace

base::Result<void> adaptiveAveragePool(KernelContext& context, const Tensor& x, std::span<const std::int64_t> output) {
    SONDE_ASSIGN(const Shape shape, adaptiveShape(x, output));
    SONDE_ASSIGN(const Geometry geometry, geometryOf(x, shape));
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), shape));
    if (geometry.outputSize == 1 && x.dtype() == DType::Float32 && geometry.inputSize > 0) {
        const auto n = static_cast<std::size_t>(geometry.inputSize);
        context.pool().parallelFor(
            static_cast<std::size_t>(geometry.planes), 16, [&](std::size_t begin, std::size_t end) {
                for (std::size_t p = begin; p < end; ++p) {
                    y.mutableData<float>()[p] = floatKernels().sum(x.data<float>() + p * n, n) / static_cast<float>(n);
                }
            });
        return {};
    }
    return sumPool(
        context, x, geometry, y,
        [&](std::size_t axis, std::int64_t o, std::int64_t dimSize) {
            const std::int64_t outputs = geometry.output[axis];
            return Range{o * dimSize / outputs, ((o + 1) * dimSize + outputs - 1) / outputs, 1};
        },
        [](auto v) { return v; },
        [](auto sum, std::int64_t count, std::int64_t) { return sum / static_cast<decltype(sum)>(count); });
}

base::Result<void> adaptiveMaxPool(KernelContext& context, const Tensor& x, std::span<const std::int64_t> output) {
    SONDE_ASSIGN(const Shape shape, adaptiveShape(x, output));
    SONDE_ASSIGN(const Geometry geometry, geometryOf(x, shape));
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), shape));
    SONDE_ASSIGN(std::int64_t* const where, indicesIfWanted(context, shape));
    const auto rangeAt = [&](std::size_t axis, std::int64_t o, std::int64_t dimSize) {
        const std::int64_t outputs = geometry.output[axis];
        return Range{o * dimSize / outputs, ((o + 1) * dimSize + outputs - 1) / outputs, 1};
    };
    if (!tensor::dispatchFloating(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            maxTyped(context.pool(), geometry, rangeAt, x.data<T>(), y.mutableData<T>(), where, false, true);
        })) {
        return opError("pooling is not defined for " + x.typeText());
    }
    return {};
}

}  // namespace sonde::ops::kernels
