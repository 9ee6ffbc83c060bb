#include "core/ops/support/window.h"

#include <algorithm>

namespace sonde::ops {

namespace {

/// No image is that large; keeps sums of dimensions far from overflow.
constexpr std::int64_t kLimit = std::int64_t{1} << 40;

std::string listText(const std::vector<std::int64_t>& values) { return Shape(values).text(); }

base::Result<void> checkRange(const std::vector<std::int64_t>& values, const char* what, std::int64_t low,
                              std::size_t rank) {
    if (values.size() != rank) {
        return opError(std::string(what) + " " + listText(values) + " must have " + std::to_string(rank) + " entries");
    }
    for (std::int64_t value : values) {
        if (value < low || value > kLimit)
            return opError(std::string(what) + " " + listText(values) + " is out of range");
    }
    return {};
}

}  // namespace

std::int64_t Window::taps() const {
    std::int64_t count = 1;
    for (std::int64_t dimSize : kernel) count *= dimSize;
    return count;
}

std::int64_t Window::outputDimSize(std::size_t axis, std::int64_t input) const {
    if (input < 0) return -1;
    const std::int64_t free = input + padBegin[axis] + padEnd[axis] - span(axis);
    if (free < 0) return 0;
    std::int64_t count = free / stride[axis] + 1;
    if (ceilMode && free % stride[axis] != 0 && count * stride[axis] < input + padBegin[axis]) ++count;
    return count;
}

Shape Window::outputShape(std::int64_t n, std::int64_t c, std::span<const std::int64_t> spatial) const {
    std::vector<std::int64_t> dims{n, c};
    for (std::size_t i = 0; i < rank(); ++i) dims.push_back(outputDimSize(i, spatial[i]));
    return Shape(std::move(dims));
}

base::Result<void> Window::checkOutput(std::span<const std::int64_t> spatial, std::int64_t minDimSize) const {
    std::vector<std::int64_t> padded, spans;
    bool fits = true;
    for (std::size_t i = 0; i < rank(); ++i) {
        padded.push_back(spatial[i] + padBegin[i] + padEnd[i]);
        spans.push_back(span(i));
        const std::int64_t free = padded[i] - spans[i];
        fits = fits && (free < 0 ? -((-free + stride[i] - 1) / stride[i]) : free / stride[i]) + 1 >= minDimSize;
    }
    if (fits) return {};
    return opError("the kernel is larger than the padded input: padded input " + listText(padded) + ", kernel " +
                   listText(spans));
}

base::Result<void> Window::validate() const {
    SONDE_TRY(checkRange(kernel, "kernel_shape", 1, rank()));
    SONDE_TRY(checkRange(stride, "strides", 1, rank()));
    SONDE_TRY(checkRange(dilation, "dilations", 1, rank()));
    SONDE_TRY(checkRange(padBegin, "pads", -kLimit, rank()));
    SONDE_TRY(checkRange(padEnd, "pads", -kLimit, rank()));
    std::int64_t product = 1;
    for (std::size_t i = 0; i < rank(); ++i) {
        std::int64_t dimSize = 0;
        if (__builtin_mul_overflow(product, kernel[i], &product) ||
            __builtin_mul_overflow(kernel[i], dilation[i], &dimSize) || product > kLimit || dimSize > kLimit) {
            return opError("kernel_shape " + listText(kernel) + " is too large");
        }
    }
    return {};
}

base::Result<Window> windowFromAttributes(const Attributes& attributes, std::span<const std::int64_t> kernel,
                                          std::span<const std::int64_t> spatial) {
    Window window;
    window.kernel = attributes.getInts("kernel_shape", {kernel.begin(), kernel.end()});
    const std::size_t rank = spatial.size();
    window.stride = attributes.getInts("strides", std::vector<std::int64_t>(rank, 1));
    window.dilation = attributes.getInts("dilations", std::vector<std::int64_t>(rank, 1));
    // Exporters write an empty list for "not given".
    if (window.stride.empty()) window.stride.assign(rank, 1);
    if (window.dilation.empty()) window.dilation.assign(rank, 1);
    std::vector<std::int64_t> pads = attributes.getInts("pads", std::vector<std::int64_t>(2 * rank, 0));
    if (pads.empty()) pads.assign(2 * rank, 0);
    if (window.kernel.size() != rank) {
        return opError("kernel_shape " + listText(window.kernel) + " does not match " + std::to_string(rank) +
                       " spatial dimensions");
    }
    if (pads.size() != 2 * rank)
        return opError("pads " + listText(pads) + " must have " + std::to_string(2 * rank) + " entries");
    window.padBegin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    window.padEnd.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
    window.ceilMode = attributes.getInt("ceil_mode", 0) != 0;
    SONDE_TRY(window.validate());

    const std::string mode = attributes.getString("auto_pad", "NOTSET");
    if (mode == "VALID") {
        window.padBegin.assign(rank, 0);
        window.padEnd.assign(rank, 0);
    } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
        window.same = true;
        for (std::size_t i = 0; i < rank; ++i) {
            if (spatial[i] < 0) continue;
            const std::int64_t outputs = (spatial[i] + window.stride[i] - 1) / window.stride[i];
            const std::int64_t total =
                std::max<std::int64_t>(0, (outputs - 1) * window.stride[i] + window.span(i) - spatial[i]);
            window.padBegin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
            window.padEnd[i] = total - window.padBegin[i];
        }
    } else if (mode != "NOTSET" && !mode.empty()) {
        return opError("auto_pad '" + mode + "' is not supported");
    }
    return window;
}

base::Result<std::vector<std::int64_t>> spread(const Value& value, std::size_t rank, std::int64_t fallback) {
    if (value.isNone()) return std::vector<std::int64_t>(rank, fallback);
    SONDE_ASSIGN(std::vector<std::int64_t> list, intsOf(value));
    if (list.empty()) return std::vector<std::int64_t>(rank, fallback);
    if (list.size() == 1) list.assign(rank, list[0]);
    if (list.size() != rank) return opError("expected " + std::to_string(rank) + " numbers, but found " + value.text());
    return list;
}

base::Result<Window> windowFromArguments(std::span<const std::int64_t> kernel, const Value& stride,
                                         const Value& padding, const Value& dilation, bool ceilMode) {
    Window window;
    window.kernel.assign(kernel.begin(), kernel.end());
    const std::size_t rank = kernel.size();
    SONDE_ASSIGN(window.stride, spread(stride, rank, -1));
    for (std::size_t i = 0; i < rank; ++i) {
        if (window.stride[i] == -1) window.stride[i] = window.kernel[i];
    }
    SONDE_ASSIGN(window.dilation, spread(dilation, rank, 1));
    if (padding.kind() == tensor::ValueKind::String) {
        window.padBegin.assign(rank, 0);
        window.padEnd.assign(rank, 0);
        for (std::size_t i = 0; i < rank && padding.toString() == "same"; ++i) {
            const std::int64_t total = window.span(i) - 1;
            window.padBegin[i] = total / 2;
            window.padEnd[i] = total - total / 2;
        }
    } else {
        SONDE_ASSIGN(window.padBegin, spread(padding, rank, 0));
        window.padEnd = window.padBegin;
    }
    window.ceilMode = ceilMode;
    SONDE_TRY(window.validate());
    return window;
}

std::vector<std::int64_t> dimSizesFrom(const Dims& dims, std::size_t first) {
    std::vector<std::int64_t> dimSizes;
    for (std::size_t i = first; i < dims.size(); ++i) dimSizes.push_back(dims[i].value);
    return dimSizes;
}

namespace {

/// The formula of Window::outputExtent on a dimension that is not known.
tensor::Symbolic symbolicDimSize(const Window& window, std::size_t axis, const tensor::Symbolic& in) {
    using tensor::Symbolic;
    const Symbolic stride = Symbolic::of(window.stride[axis]);
    if (window.same) return ceilDiv(in, stride);
    const Symbolic free = in + Symbolic::of(window.padBegin[axis] + window.padEnd[axis] - window.span(axis));
    const Symbolic one = Symbolic::of(std::int64_t{1});
    if (!window.ceilMode) return floorDiv(free, stride) + one;
    // With these, no window begins in the end padding.
    const bool certain = window.padEnd[axis] + window.stride[axis] <= window.span(axis);
    return certain ? ceilDiv(free, stride) + one : Symbolic();
}

}  // namespace

Dims windowDims(const Window& window, const Dims& input, tensor::Dim channels) {
    Dims result{input[0], std::move(channels)};
    for (std::size_t i = 0; i < window.rank(); ++i) {
        const tensor::Dim& in = input[i + 2];
        if (in.known()) {
            result.push_back(tensor::Dim::of(window.outputDimSize(i, in.value)));
        } else {
            result.push_back(symbolicDimSize(window, i, tensor::Symbolic::of(in)).dim());
        }
    }
    return result;
}

}  // namespace sonde::ops
