#include "core/ops/kernels/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/half_sums.h"
#include "core/ops/kernels/move.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"
#include "core/tensor/half_floats.h"

namespace sonde::ops::kernels {

namespace {

/// What integers add up to wraps; 0 for what is no number.
template <typename Sum>
Sum wholeOf(double value) {
    constexpr double kLimit = std::is_signed_v<Sum> ? 0x1p63 : 0x1p64;
    if (std::isnan(value)) return 0;
    if (value >= kLimit) return std::numeric_limits<Sum>::max();
    return value <= (std::is_signed_v<Sum> ? -kLimit : 0.0) ? std::numeric_limits<Sum>::min() : static_cast<Sum>(value);
}
template <typename Sum>
Sum numberOf(double value) {
    if constexpr (std::is_floating_point_v<Sum>) return static_cast<Sum>(value);
    else return wholeOf<Sum>(value);
}

/// Σ f(i) for i < n; integers wrap.
template <typename Sum, typename F>
Sum added(std::int64_t n, const F& f) {
    if constexpr (std::is_floating_point_v<Sum>) {
        Sum sum{};
        for (std::int64_t i = 0; i < n; ++i) sum += f(i);
        return sum;
    } else {
        std::uint64_t sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += static_cast<std::uint64_t>(f(i));
        return static_cast<Sum>(sum);
    }
}
template <typename Sum>
Sum product(Sum a, Sum b) {
    if constexpr (std::is_floating_point_v<Sum>) return a * b;
    else return static_cast<Sum>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// One line of `n` elements that lie `step` apart, added up in Sum's type.
template <typename T, typename Sum>
Sum reduceLine(Reduce kind, const T* x, std::int64_t n, std::int64_t step) {
    const auto at = [&](std::int64_t i) { return static_cast<Sum>(x[i * step]); };
    switch (kind) {
        case Reduce::Sum:
        case Reduce::Mean:
        case Reduce::LogSum: {
            const Sum sum = added<Sum>(n, at);
            if (kind == Reduce::LogSum) return numberOf<Sum>(std::log(static_cast<double>(sum)));
            return kind == Reduce::Mean ? (n ? sum / static_cast<Sum>(n) : std::numeric_limits<Sum>::quiet_NaN()) : sum;
        }
        case Reduce::Max:
        case Reduce::Min: {
            const bool max = kind == Reduce::Max;
            Sum best = max ? (std::is_floating_point_v<Sum> ? -std::numeric_limits<Sum>::infinity()
                                                            : static_cast<Sum>(std::numeric_limits<T>::lowest()))
                           : (std::is_floating_point_v<Sum> ? std::numeric_limits<Sum>::infinity()
                                                            : static_cast<Sum>(std::numeric_limits<T>::max()));
            for (std::int64_t i = 0; i < n; ++i) {
                const Sum v = at(i);
                if (isNaN(best)) break;
                if (isNaN(v) || (max ? v > best : v < best)) best = v;
            }
            return best;
        }
        case Reduce::Prod: {
            Sum result{1};
            for (std::int64_t i = 0; i < n; ++i) result = product(result, at(i));
            return result;
        }
        case Reduce::L1:
            return added<Sum>(n,
                              [&](std::int64_t i) { return at(i) < 0 ? product(at(i), static_cast<Sum>(-1)) : at(i); });
        case Reduce::L2:
        case Reduce::SumSquare: {
            const Sum sum = added<Sum>(n, [&](std::int64_t i) { return product(at(i), at(i)); });
            return kind == Reduce::L2 ? numberOf<Sum>(std::sqrt(static_cast<double>(sum))) : sum;
        }
        case Reduce::LogSumExp: {
            double largest = -std::numeric_limits<double>::infinity();
            for (std::int64_t i = 0; i < n; ++i) {
                const auto v = static_cast<double>(at(i));
                if (std::isnan(v)) return numberOf<Sum>(v);
                largest = std::max(largest, v);
            }
            if (std::isinf(largest)) return numberOf<Sum>(largest);
            const double sum =
                added<double>(n, [&](std::int64_t i) { return std::exp(static_cast<double>(at(i)) - largest); });
            return numberOf<Sum>(largest + std::log(sum));
        }
        case Reduce::All:
        case Reduce::Any: {
            for (std::int64_t i = 0; i < n; ++i) {
                if ((at(i) != Sum{}) == (kind == Reduce::Any)) return kind == Reduce::Any ? Sum{1} : Sum{};
            }
            return kind == Reduce::All ? Sum{1} : Sum{};
        }
    }
    return Sum{};
}

/// x seen as [outer, n, inner] after the reduced axes were brought together.
struct Lines {
    Tensor x;
    std::int64_t outer = 1, n = 1, inner = 1;
};

base::Result<Lines> linesOf(base::ThreadPool& pool, const Tensor& x, std::span<const std::size_t> axes) {
    std::vector<std::size_t> sorted(axes.begin(), axes.end());
    std::ranges::sort(sorted);
    Lines lines{x};
    for (std::size_t axis : sorted) lines.n *= x.dim(axis);
    const bool adjacent = sorted.empty() || sorted.back() - sorted.front() + 1 == sorted.size();
    if (adjacent) {
        const std::size_t first = sorted.empty() ? x.rank() : sorted.front(),
                          last = sorted.empty() ? x.rank() : sorted.back() + 1;
        for (std::size_t i = 0; i < first; ++i) lines.outer *= x.dim(i);
        for (std::size_t i = last; i < x.rank(); ++i) lines.inner *= x.dim(i);
        return lines;
    }
    // Scattered axes: bring them to the end.
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (!std::ranges::binary_search(sorted, i)) {
            order.push_back(i);
            lines.outer *= x.dim(i);
        }
    }
    order.insert(order.end(), sorted.begin(), sorted.end());
    SONDE_ASSIGN(lines.x, packed(pool, x.permuted(order)));
    return lines;
}

template <typename T, typename Sum>
void reduceLines(base::ThreadPool& pool, Reduce kind, const Lines& lines, Tensor& out) {
    const T* in = lines.x.data<T>();
    T* to = out.mutableData<T>();
    const std::int64_t count = lines.outer * lines.inner;
    pool.parallelFor(
        static_cast<std::size_t>(count), static_cast<std::size_t>(16384 / std::max<std::int64_t>(lines.n, 1) + 1),
        [&](std::size_t begin, std::size_t end) {
            for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
                const T* line = in + i / lines.inner * lines.n * lines.inner + i % lines.inner;
                if constexpr (std::is_same_v<T, float>) {
                    if (lines.inner == 1 && lines.n >= 16 &&
                        (kind == Reduce::Sum || kind == Reduce::Mean || kind == Reduce::Max)) {
                        const auto n = static_cast<std::size_t>(lines.n);
                        to[i] = kind == Reduce::Max ? floatKernels().maximum(line, n)
                                                    : floatKernels().sum(line, n) /
                                                          (kind == Reduce::Mean ? static_cast<float>(lines.n) : 1.0F);
                        continue;
                    }
                }
                to[i] = static_cast<T>(
                    static_cast<std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, Sum, float>>(
                        reduceLine<T, Sum>(kind, line, lines.n, lines.inner)));
            }
        });
}

bool isSum(Reduce kind) {
    switch (kind) {
        case Reduce::Sum:
        case Reduce::Mean:
        case Reduce::L1:
        case Reduce::L2:
        case Reduce::Prod:
        case Reduce::SumSquare:
        case Reduce::LogSum: return true;
        default: return false;
    }
}

/// One line of `n` float16 numbers (as float) that lie `step` apart, each operation rounded; of what isSum() names.
float reduceInHalf(Reduce kind, const float* x, std::int64_t n, std::int64_t step) {
    float sum = kind == Reduce::Prod ? 1.0F : 0.0F;
    for (std::int64_t i = 0; i < n; ++i) {
        const float value = x[i * step];
        if (kind == Reduce::Prod) sum = nearestHalf(sum * value);
        else if (kind == Reduce::L1) sum = nearestHalf(sum + std::abs(value));
        else if (kind == Reduce::L2 || kind == Reduce::SumSquare) sum = nearestHalf(sum + nearestHalf(value * value));
        else sum = nearestHalf(sum + value);
    }
    if (kind == Reduce::Mean) return nearestHalf(sum / static_cast<float>(n));
    if (kind == Reduce::L2) return nearestHalf(std::sqrt(sum));
    return kind == Reduce::LogSum ? nearestHalf(std::log(sum)) : sum;
}

/// float16, every step rounded.
base::Result<void> reduceLinesInHalf(base::ThreadPool& pool, Reduce kind, const Lines& lines, Tensor& out) {
    SONDE_ASSIGN(const Tensor x, lines.x.cast(DType::Float32));
    const auto* in = x.data<float>();
    std::vector<float> results(static_cast<std::size_t>(out.numel()));
    pool.parallelFor(results.size(), 64, [&](std::size_t begin, std::size_t end) {
        for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
            const float* line = in + i / lines.inner * lines.n * lines.inner + i % lines.inner;
            results[static_cast<std::size_t>(i)] = reduceInHalf(kind, line, lines.n, lines.inner);
        }
    });
    tensor::floatToHalf(results.data(), static_cast<std::uint16_t*>(static_cast<void*>(out.mutableBytes())),
                        results.size());
    return {};
}

Shape reducedShape(const Shape& shape, std::span<const std::size_t> axes, bool keepDims) {
    Shape result;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        if (std::ranges::find(axes, i) == axes.end()) result.push_back(shape[i]);
        else if (keepDims) result.push_back(1);
    }
    return result;
}

}  // namespace

base::Result<void> reduce(KernelContext& context, Reduce kind, const Tensor& x, std::span<const std::size_t> axes,
                          bool keepDims) {
    SONDE_ASSIGN(Tensor out, context.output(x.dtype(), reducedShape(x.shape(), axes, keepDims)));
    if (out.numel() == 0) return {};
    SONDE_ASSIGN(const Lines lines, linesOf(context.pool(), x, axes));
    if (isSum(kind) && sumsInHalf(context)) return reduceLinesInHalf(context.pool(), kind, lines, out);
    bool done = tensor::dispatchFloating(x.dtype(), [&](auto tag) {
        reduceLines<typename decltype(tag)::type, double>(context.pool(), kind, lines, out);
    });
    done = done || tensor::dispatchIntegers(x.dtype(), [&](auto tag) {
               using T = typename decltype(tag)::type;
               reduceLines<T, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(context.pool(),
                                                                                                    kind, lines, out);
           });
    if (!done && x.dtype() == DType::Bool) {
        // max is any, min is all.
        const Reduce logic =
            kind == Reduce::Max || kind == Reduce::Any || kind == Reduce::Sum ? Reduce::Any : Reduce::All;
        const auto* in = lines.x.data<std::uint8_t>();
        for (std::int64_t i = 0; i < out.numel(); ++i) {
            out.mutableData<bool>()[i] =
                reduceLine<std::uint8_t, std::int64_t>(
                    logic, in + i / lines.inner * lines.n * lines.inner + i % lines.inner, lines.n, lines.inner) != 0;
        }
        done = true;
    }
    if (!done) return opError("a reduction is not defined for " + x.typeText());
    return {};
}

base::Result<void> argReduce(KernelContext& context, const Tensor& x, std::size_t axis, bool keepDims, bool smallest,
                             bool lastIndex, std::size_t output) {
    const std::size_t axes[] = {axis};
    if (x.dim(axis) == 0) return opError("an empty axis has no largest element");
    SONDE_ASSIGN(Tensor out, context.output(output, DType::Int64, reducedShape(x.shape(), axes, keepDims)));
    SONDE_ASSIGN(const Lines lines, linesOf(context.pool(), x, axes));
    const bool done = tensor::dispatchNumbers(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = 0; i < out.numel(); ++i) {
            const T* line = lines.x.data<T>() + i / lines.inner * lines.n * lines.inner + i % lines.inner;
            std::int64_t best = 0;
            for (std::int64_t j = 1; j < lines.n; ++j) {
                const T v = line[j * lines.inner], b = line[best * lines.inner];
                if (isNaN(b)) break;  // the first NaN wins, as it does in Max and Min
                if (isNaN(v) || (smallest ? v < b : v > b)) best = j;
                else if (lastIndex && v == b) best = j;
            }
            out.mutableData<std::int64_t>()[i] = best;
        }
    });
    if (!done) return opError("is not defined for " + x.typeText());
    return {};
}

}  // namespace sonde::ops::kernels
