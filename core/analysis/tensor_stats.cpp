#include "core/analysis/tensor_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/kernels/finite.h"
#include "core/ops/kernels/moments.h"

namespace sonde::analysis {

using ops::kernels::momentsOf;
using tensor::DType;
using tensor::Tensor;
using Part = ops::kernels::ElementMoments;

namespace {

constexpr std::int64_t kStatsPiece = 1 << 15;  ///< elements between two looks at the stop token

/// The element as the asNumber that statistics are made of.
template <typename T>
double asNumber(const T& element) {
    return static_cast<double>(static_cast<float>(element));
}
template <>
double asNumber(const float& element) {
    return element;
}
template <>
double asNumber(const double& element) {
    return element;
}
template <>
double asNumber(const std::int32_t& element) {
    return element;
}
template <>
double asNumber(const std::uint32_t& element) {
    return element;
}
template <>
double asNumber(const std::int64_t& element) {
    return static_cast<double>(element);
}
template <>
double asNumber(const std::uint64_t& element) {
    return static_cast<double>(element);
}
template <>
double asNumber(const std::complex<float>& element) {
    return std::abs(element);
}
template <>
double asNumber(const std::complex<double>& element) {
    return std::abs(element);
}

template <typename T, typename Visit>
void visitContiguous(const Tensor& tensor, const std::stop_token& stop, Visit&& visit) {
    const T* data = tensor.data<T>();
    for (std::int64_t begin = 0; begin < tensor.numel() && !stop.stop_requested(); begin += kStatsPiece) {
        const std::int64_t end = std::min(tensor.numel(), begin + kStatsPiece);
        for (std::int64_t i = begin; i < end; ++i) visit(asNumber(data[i]));
    }
}

template <typename Visit>
void visitSlowly(const Tensor& tensor, const std::stop_token& stop, Visit&& visit) {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        if (i % kStatsPiece == 0 && stop.stop_requested()) return;
        visit(tensor.toDouble(i));
    }
}

/// Calls visit(double) for every element in row-major order.
template <typename Visit>
void visitElements(const Tensor& tensor, const std::stop_token& stop, Visit&& visit) {
    if (!tensor.isContiguous()) return visitSlowly(tensor, stop, visit);
    switch (tensor.dtype()) {
        case DType::Float32: return visitContiguous<float>(tensor, stop, visit);
        case DType::Float64: return visitContiguous<double>(tensor, stop, visit);
        case DType::Int32: return visitContiguous<std::int32_t>(tensor, stop, visit);
        case DType::UInt32: return visitContiguous<std::uint32_t>(tensor, stop, visit);
        case DType::Int64: return visitContiguous<std::int64_t>(tensor, stop, visit);
        case DType::UInt64: return visitContiguous<std::uint64_t>(tensor, stop, visit);
        case DType::UInt8:
        case DType::Bool: return visitContiguous<std::uint8_t>(tensor, stop, visit);
        case DType::Float16: return visitContiguous<tensor::Half>(tensor, stop, visit);
        case DType::BFloat16: return visitContiguous<tensor::BFloat16>(tensor, stop, visit);
        case DType::Complex64: return visitContiguous<std::complex<float>>(tensor, stop, visit);
        case DType::Complex128: return visitContiguous<std::complex<double>>(tensor, stop, visit);
        default: return visitSlowly(tensor, stop, visit);
    }
}

/// Of a float32 tensor, in the order of the memory where its elements lie side by side: a transposed one need not be
/// turned. Those of other views are put side by side, all of them if they are not too many.
Part partOfFloats(const Tensor& given, const std::stop_token& stop, base::ThreadPool* pool) {
    constexpr std::int64_t kMaxCopied = 1 << 24;
    Tensor tensor = given;
    auto start = ops::kernels::denseStart(tensor);
    if (!start && given.numel() <= kMaxCopied) {
        if (auto together = given.contiguous()) tensor = std::move(*together), start = 0;
    }
    const std::int64_t numel = tensor.numel();
    std::vector<Part> parts(static_cast<std::size_t>((numel + kStatsPiece - 1) / kStatsPiece));
    const auto one = [&](std::size_t at) {
        if (stop.stop_requested()) return;
        const std::int64_t begin = static_cast<std::int64_t>(at) * kStatsPiece;
        const std::int64_t count = std::min(numel - begin, kStatsPiece);
        if (start) {
            parts[at] = momentsOf(tensor.data<float>() + *start + begin, count);
            return;
        }
        std::vector<float> gathered(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i)
            gathered[static_cast<std::size_t>(i)] = static_cast<float>(tensor.toDouble(begin + i));
        parts[at] = momentsOf(gathered.data(), count);
    };
    if (pool && parts.size() > 1)
        pool->parallelFor(parts.size(), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t at = begin; at < end; ++at) one(at);
        });
    else
        for (std::size_t at = 0; at < parts.size(); ++at) one(at);
    Part sum;
    for (const Part& part : parts) sum.add(part);
    return sum;
}

Part partOf(const TensorStats& stats) {
    const std::int64_t finite = stats.finiteCount();
    if (finite == 0) return {.nans = stats.nanCount, .infs = stats.infCount};
    return {
        finite,        stats.nanCount, stats.infCount, stats.zeroCount,
        stats.minimum, stats.maximum,  stats.mean,     stats.deviation * stats.deviation * static_cast<double>(finite)};
}

TensorStats statsOf(const Part& part, std::int64_t count) {
    TensorStats stats;
    stats.count = count;
    stats.nanCount = part.nans, stats.infCount = part.infs, stats.zeroCount = part.zeros;
    if (part.finite == 0) return stats;
    stats.minimum = part.low, stats.maximum = part.high, stats.mean = part.mean;
    stats.deviation = std::sqrt(part.squares / static_cast<double>(part.finite));
    return stats;
}

bool hasNumbers(const Tensor& tensor) { return tensor.defined() && tensor.dtype() != DType::String; }

}  // namespace

TensorStats tensorStats(const Tensor& tensor, const std::stop_token& stop, base::ThreadPool* pool) {
    if (!tensor.defined()) return {};
    if (!hasNumbers(tensor)) return {.count = tensor.numel()};
    const Part part = tensor.dtype() == DType::Float32
                          ? partOfFloats(tensor, stop, pool)
                          : momentsOf([&](const auto& visit) { visitElements(tensor, stop, visit); });
    return statsOf(part, tensor.numel());
}

TensorStats tensorStats(const Part& moments) { return statsOf(moments, moments.count()); }

TensorStats together(const TensorStats& a, const TensorStats& b) {
    Part sum = partOf(a);
    sum.add(partOf(b));
    return statsOf(sum, a.count + b.count);
}

std::vector<std::int64_t> histogram(const Tensor& tensor, double low, double high, std::size_t bins,
                                    const std::stop_token& stop) {
    std::vector<std::int64_t> counts(bins, 0);
    if (!hasNumbers(tensor) || bins == 0 || !std::isfinite(low) || !std::isfinite(high)) return counts;
    const double width = high > low ? (high - low) / static_cast<double>(bins) : 1.0;
    visitElements(tensor, stop, [&](double x) {
        if (!std::isfinite(x)) return;
        const double place = std::clamp(std::floor((x - low) / width), 0.0, static_cast<double>(bins - 1));
        ++counts[static_cast<std::size_t>(place)];
    });
    return counts;
}

}  // namespace sonde::analysis
