#include "core/analysis/tensor_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/kernels/float_kernels.h"

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

// Of finite float32 both passes take vectors: several sums side by side, as each addition waits for the one before it.
// One loop has counts, extremes and sum: with Eigen they would be six reductions of masked arrays, each a pass of its
// own.
typedef float Floats __attribute__((vector_size(16), aligned(sizeof(float)), may_alias));
typedef double Doubles __attribute__((vector_size(32)));
typedef std::int32_t Ints __attribute__((vector_size(16)));
constexpr std::int64_t kLanes = 4;

/// Counts, extremes and sum so far.
struct Moments {
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
    std::int64_t nans = 0, infs = 0, zeros = 0;

    void add(double x) {
        if (!std::isfinite(x)) {
            std::isnan(x) ? ++nans : ++infs;
            return;
        }
        zeros += x == 0 ? 1 : 0;
        low = std::min(low, x);
        high = std::max(high, x);
        sum += x;
    }

    void addFinite(const float* x, std::int64_t count) {
        Doubles sums[2] = {};
        Floats lows = Floats{} + std::numeric_limits<float>::infinity(), highs = -lows;
        Ints isZero = {};
        std::int64_t i = 0;
        for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
            const Floats a = *reinterpret_cast<const Floats*>(x + i),
                         b = *reinterpret_cast<const Floats*>(x + i + kLanes);
            sums[0] += __builtin_convertvector(a, Doubles);
            sums[1] += __builtin_convertvector(b, Doubles);
            lows = a < lows ? a : lows, highs = a > highs ? a : highs;
            lows = b < lows ? b : lows, highs = b > highs ? b : highs;
            isZero += (a == 0) + (b == 0);  // -1 each
        }
        for (std::int64_t lane = 0; i > 0 && lane < kLanes; ++lane) {
            sum += sums[0][lane] + sums[1][lane];
            low = std::min<double>(low, lows[lane]), high = std::max<double>(high, highs[lane]);
            zeros -= isZero[lane];
        }
        for (; i < count; ++i) add(x[i]);
    }
};

/// Σ (x − mean)².
double squaresOfFinite(const float* x, std::int64_t count, double mean) {
    Doubles sums[2] = {};
    std::int64_t i = 0;
    for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
        const Doubles a = __builtin_convertvector(*reinterpret_cast<const Floats*>(x + i), Doubles) - mean;
        const Doubles b = __builtin_convertvector(*reinterpret_cast<const Floats*>(x + i + kLanes), Doubles) - mean;
        sums[0] += a * a, sums[1] += b * b;
    }
    double sum = 0;
    for (std::int64_t lane = 0; lane < kLanes; ++lane) sum += sums[0][lane] + sums[1][lane];
    for (; i < count; ++i) sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

/// Calls use(data, count, whether all are finite) for each piece of a float32 tensor. The order of the sums depends on
/// the elements alone: those of a view are put side by side, all of them if they are not too many.
template <typename Use>
void forPieces(const Tensor& given, const std::stop_token& stop, const Use& use) {
    constexpr std::int64_t kMaxCopied = 1 << 24;
    Tensor tensor = given;
    if (!given.isContiguous() && given.numel() <= kMaxCopied) {
        if (auto together = given.contiguous()) tensor = std::move(*together);
    }
    std::vector<float> gathered(tensor.isContiguous() ? 0 : static_cast<std::size_t>(kStatsPiece));
    for (std::int64_t begin = 0; begin < tensor.numel() && !stop.stop_requested(); begin += kStatsPiece) {
        const std::int64_t count = std::min(tensor.numel() - begin, kStatsPiece);
        for (std::int64_t i = 0; !gathered.empty() && i < count; ++i)
            gathered[static_cast<std::size_t>(i)] = static_cast<float>(tensor.toDouble(begin + i));
        const float* const data = gathered.empty() ? tensor.data<float>() + begin : gathered.data();
        use(data, count, ops::kernels::floatKernels().allFinite(data, static_cast<std::size_t>(count)));
    }
}

/// Σ (x − mean)² of the finite elements.
double squaresOf(const Tensor& tensor, double mean, const std::stop_token& stop) {
    double squares = 0;
    const auto one = [&](double x) {
        if (std::isfinite(x)) squares += (x - mean) * (x - mean);
    };
    if (tensor.dtype() == DType::Float32) {
        forPieces(tensor, stop, [&](const float* x, std::int64_t count, bool areFinite) {
            if (areFinite) squares += squaresOfFinite(x, count, mean);
            else std::for_each(x, x + count, one);
        });
    } else {
        visitElements(tensor, stop, one);
    }
    return squares;
}

Moments momentsOf(const Tensor& tensor, const std::stop_token& stop) {
    Moments moments;
    if (tensor.dtype() == DType::Float32) {
        forPieces(tensor, stop, [&](const float* x, std::int64_t count, bool areFinite) {
            if (areFinite) moments.addFinite(x, count);
            else std::for_each(x, x + count, [&](float each) { moments.add(each); });
        });
    } else {
        visitElements(tensor, stop, [&](double x) { moments.add(x); });
    }
    return moments;
}

bool hasNumbers(const Tensor& tensor) { return tensor.defined() && tensor.dtype() != DType::String; }

}  // namespace

TensorStats tensorStats(const Tensor& tensor, const std::stop_token& stop) {
    TensorStats stats;
    if (!tensor.defined()) return stats;
    stats.count = tensor.numel();
    if (!hasNumbers(tensor)) return stats;
    const Moments moments = momentsOf(tensor, stop);
    stats.nanCount = moments.nans, stats.infCount = moments.infs, stats.zeroCount = moments.zeros;
    const std::int64_t finite = stats.finiteCount();
    if (finite == 0) return stats;
    stats.minimum = moments.low;
    stats.maximum = moments.high;
    stats.mean = moments.sum / static_cast<double>(finite);
    stats.deviation = std::sqrt(squaresOf(tensor, stats.mean, stop) / static_cast<double>(finite));
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
