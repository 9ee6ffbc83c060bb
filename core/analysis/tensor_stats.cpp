#include "core/analysis/tensor_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::analysis {

using tensor::DType;
using tensor::Tensor;

namespace {

constexpr std::int64_t kStatsPiece = 1 << 16;  ///< elements between two looks at the stop token

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

bool hasNumbers(const Tensor& tensor) { return tensor.defined() && tensor.dtype() != DType::String; }

}  // namespace

TensorStats tensorStats(const Tensor& tensor, const std::stop_token& stop) {
    TensorStats stats;
    if (!tensor.defined()) return stats;
    stats.count = tensor.numel();
    if (!hasNumbers(tensor)) return stats;

    // One loop for counts, extremes and sum. With Eigen they are six reductions of masked arrays, which take 1.4 to 2
    // times as long for finite float32, and more than twice as long with NaN among it (4,096 to 4,000,000 elements, one
    // thread).
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double sum = 0;
    visitElements(tensor, stop, [&](double x) {
        if (!std::isfinite(x)) {
            std::isnan(x) ? ++stats.nanCount : ++stats.infCount;
            return;
        }
        stats.zeroCount += x == 0 ? 1 : 0;
        low = std::min(low, x);
        high = std::max(high, x);
        sum += x;
    });
    const std::int64_t finite = stats.finiteCount();
    if (finite == 0) return stats;
    stats.minimum = low;
    stats.maximum = high;
    stats.mean = sum / static_cast<double>(finite);
    double squares = 0;
    visitElements(tensor, stop, [&](double x) {
        if (std::isfinite(x)) squares += (x - stats.mean) * (x - stats.mean);
    });
    stats.deviation = std::sqrt(squares / static_cast<double>(finite));
    return stats;
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
