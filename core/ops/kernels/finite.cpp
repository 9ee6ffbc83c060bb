#include "core/ops/kernels/finite.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <vector>

#include "core/ops/kernels/float_kernels.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops::kernels {

using tensor::DType;
using tensor::Tensor;

namespace {

constexpr std::int64_t kGrain = 1 << 15;  ///< elements that are counted by one thread in one go

/// Floats as integers of their size: those above an exponent of all ones are NaN.
template <typename T>
struct Layout;
template <>
struct Layout<float> {
    using Bits = std::uint32_t;
    static constexpr Bits kMagnitude = 0x7fffffffU, kInfinity = 0x7f800000U;
};
template <>
struct Layout<double> {
    using Bits = std::uint64_t;
    static constexpr Bits kMagnitude = 0x7fffffffffffffffULL, kInfinity = 0x7ff0000000000000ULL;
};
template <>
struct Layout<tensor::Half> {
    using Bits = std::uint16_t;
    static constexpr Bits kMagnitude = 0x7fff, kInfinity = 0x7c00;
};
template <>
struct Layout<tensor::BFloat16> {
    using Bits = std::uint16_t;
    static constexpr Bits kMagnitude = 0x7fff, kInfinity = 0x7f80;
};

template <typename T>
BadCount countRow(const T* data, std::int64_t count, std::int64_t step) {
    using L = Layout<T>;
    if constexpr (sizeof(T) == sizeof(std::uint16_t)) {
        const auto* const bits = reinterpret_cast<const std::uint16_t*>(data);
        if (step == 1 && floatKernels().allNarrowFinite(bits, L::kInfinity, static_cast<std::size_t>(count))) return {};
    }
    BadCount found;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto magnitude =
            static_cast<typename L::Bits>(std::bit_cast<typename L::Bits>(data[i * step]) & L::kMagnitude);
        found.nan += magnitude > L::kInfinity ? 1 : 0;
        found.inf += magnitude == L::kInfinity ? 1 : 0;
    }
    return found;
}

template <typename R>
BadCount countRow(const std::complex<R>* data, std::int64_t count, std::int64_t step) {
    BadCount found;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::complex<R> value = data[i * step];
        const bool isNan = std::isnan(value.real()) || std::isnan(value.imag());
        found.nan += isNan ? 1 : 0;
        found.inf += !isNan && (std::isinf(value.real()) || std::isinf(value.imag())) ? 1 : 0;
    }
    return found;
}

template <>
BadCount countRow(const float* data, std::int64_t count, std::int64_t step) {
    if (step == 1 && floatKernels().allFinite(data, static_cast<std::size_t>(count))) return {};
    BadCount found;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(data[i * step]) & 0x7fffffffU;
        found.nan += magnitude > 0x7f800000U ? 1 : 0;
        found.inf += magnitude == 0x7f800000U ? 1 : 0;
    }
    return found;
}

/// count(begin, end) over [0, total), in parallel if that is worth it.
template <typename Count>
BadCount sum(std::int64_t total, base::ThreadPool& pool, const Count& count) {
    if (total <= kGrain) return count(0, total);
    std::atomic<std::int64_t> nan{0}, inf{0};
    pool.parallelFor(static_cast<std::size_t>(total), kGrain, [&](std::size_t begin, std::size_t end) {
        const BadCount found = count(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
        if (!found.any()) return;
        nan.fetch_add(found.nan, std::memory_order_relaxed);
        inf.fetch_add(found.inf, std::memory_order_relaxed);
    });
    return {nan.load(), inf.load()};
}

template <typename T>
BadCount countTensor(const Tensor& tensor, base::ThreadPool& pool) {
    const T* data = tensor.data<T>();
    if (const auto start = denseStart(tensor)) {
        return sum(tensor.numel(), pool, [&](std::int64_t begin, std::int64_t end) {
            return countRow(data + *start + begin, end - begin, 1);
        });
    }
    const std::int64_t length = tensor.dim(tensor.rank() - 1), step = tensor.strides()[tensor.rank() - 1];
    BadCount found;
    for (std::int64_t at = 0; at < tensor.numel(); at += length)
        found += countRow(data + tensor.elementOffset(at), length, step);
    return found;
}

}  // namespace

std::optional<std::int64_t> denseStart(const Tensor& tensor) {
    if (tensor.isContiguous()) return 0;
    std::int64_t first = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // |stride|, dimension
    for (std::size_t i = 0; i < tensor.rank(); ++i) {
        const std::int64_t stride = tensor.strides()[i], dim = tensor.dim(i);
        if (dim == 1) continue;
        if (stride < 0) first += (dim - 1) * stride;
        axes.emplace_back(std::abs(stride), dim);
    }
    std::sort(axes.begin(), axes.end());
    std::int64_t expected = 1;
    for (const auto& [stride, dim] : axes) {
        if (stride != expected) return std::nullopt;
        expected *= dim;
    }
    return first;
}

BadCount countBad(const float* data, std::int64_t count) { return countRow(data, count, 1); }

BadCount countBad(const Tensor& tensor, base::ThreadPool& pool) {
    if (!tensor.defined() || tensor.numel() == 0) return {};
    BadCount found;
    if (tensor::dispatchFloating(tensor.dtype(),
                                 [&](auto tag) { found = countTensor<typename decltype(tag)::type>(tensor, pool); }))
        return found;
    if (tensor.dtype() == DType::Complex64) return countTensor<std::complex<float>>(tensor, pool);
    if (tensor.dtype() == DType::Complex128) return countTensor<std::complex<double>>(tensor, pool);
    if (!tensor::isFloating(tensor.dtype())) return {};
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {  // floats of eight bits and fewer
        const double value = tensor.toDouble(i);
        found.nan += std::isnan(value) ? 1 : 0;
        found.inf += std::isinf(value) ? 1 : 0;
    }
    return found;
}

}  // namespace sonde::ops::kernels
