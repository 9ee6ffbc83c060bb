// Loops between quantised and real numbers: q = clip(round(x / scale), low, high) + zero, x = (q − zero)·scale. They
// are exact, so that all instruction sets give the same. Rounding is that of the processor: halves to the even number.

#include <cmath>
#include <cstdint>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/integer_vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

inline std::uint8_t rounded(float value, float low, float high, std::int32_t zero) {
    value = value < low ? low : value;
    value = value > high ? high : value;
    return static_cast<std::uint8_t>(__builtin_bit_cast(std::uint32_t, value + kRoundNarrow) +
                                     static_cast<std::uint32_t>(zero));
}

/// Modulo 2^32.
inline float sumOf(std::int32_t sum, std::uint32_t added) {
    return static_cast<float>(static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + added));
}

void requantise(const std::int32_t* __restrict sums, const Requantisation& by, std::uint8_t* __restrict y,
                std::size_t n) {
    const Requantisation r = by;
    const std::uint32_t added = static_cast<std::uint32_t>(r.offset) + static_cast<std::uint32_t>(r.bias);
    if (r.factors) {
        for (std::size_t i = 0; i < n; ++i) y[i] = rounded(sumOf(sums[i], added) * r.factors[i], r.low, r.high, r.zero);
    } else {
        for (std::size_t i = 0; i < n; ++i) y[i] = rounded(sumOf(sums[i], added) * r.factor, r.low, r.high, r.zero);
    }
}

bool quantise(const float* __restrict x, const Quantisation& by, std::uint8_t* __restrict y, std::size_t n) {
    const Quantisation q = by;
    int isNaN = 0;
    for (std::size_t i = 0; i < n; ++i) {
        float value = x[i] / q.scale;
        isNaN |= value != value ? 1 : 0;
        value = value > q.low ? value : q.low;
        value = value < q.high ? value : q.high;
        y[i] = static_cast<std::uint8_t>(__builtin_bit_cast(std::uint32_t, value + kRoundNarrow) +
                                         static_cast<std::uint32_t>(q.zero));
    }
    return isNaN == 0;
}

void dequantise(const std::uint8_t* __restrict x, bool isSigned, float zero, float scale, float* __restrict y,
                std::size_t n) {
    if (isSigned) {
        const auto* const s = reinterpret_cast<const std::int8_t*>(x);
        for (std::size_t i = 0; i < n; ++i) y[i] = (static_cast<float>(s[i]) - zero) * scale;
    } else {
        for (std::size_t i = 0; i < n; ++i) y[i] = (static_cast<float>(x[i]) - zero) * scale;
    }
}

/// x·y + z, rounded once. The product of a byte and a float32 is exact in float64, where the processor has no such sum.
inline float fusedSum(float x, float y, float z) {
#if defined(__FMA__) || defined(__AVX512F__)
    return __builtin_fmaf(x, y, z);
#else
    return static_cast<float>(static_cast<double>(x) * static_cast<double>(y) + static_cast<double>(z));
#endif
}

struct FusedSum {
    template <typename Byte>
    float operator()(const QuantizedPair& p, Byte x, Byte y) const {
        return fusedSum(static_cast<float>(x), p.ratioX, fusedSum(static_cast<float>(y), p.ratioY, p.shift));
    }
};

struct ScaledProduct {
    template <typename Byte>
    float operator()(const QuantizedPair& p, Byte x, Byte y) const {
        const std::int32_t product = (std::int32_t{x} - p.zeroX) * (std::int32_t{y} - p.zeroY);
        return static_cast<float>(product) * p.ratioX + p.shift;
    }
};

/// Of x and y, by pairs.
template <typename Byte, typename Combine>
bool combine(const Byte* __restrict x, const Byte* __restrict y, const QuantizedPair& by, std::uint8_t* __restrict z,
             std::size_t n, Combine each) {
    const QuantizedPair p = by;
    int isNaN = 0;
    for (std::size_t i = 0; i < n; ++i) {
        float value = each(p, x[i], y[i]);
        isNaN |= value != value ? 1 : 0;
        value = value > p.low ? value : p.low;
        value = value < p.high ? value : p.high;
        z[i] = static_cast<std::uint8_t>(__builtin_bit_cast(std::uint32_t, value + kRoundNarrow));
    }
    return isNaN == 0;
}

template <typename Combine>
bool combineBytes(const std::uint8_t* x, const std::uint8_t* y, bool isSigned, const QuantizedPair& by, std::uint8_t* z,
                  std::size_t n) {
    if (!isSigned) return combine(x, y, by, z, n, Combine{});
    return combine(reinterpret_cast<const std::int8_t*>(x), reinterpret_cast<const std::int8_t*>(y), by, z, n,
                   Combine{});
}

std::int32_t sum(const std::uint8_t* x, bool isSigned, std::size_t n) {
    std::int32_t total = 0;
    if (isSigned) {
        for (std::size_t i = 0; i < n; ++i) total += static_cast<std::int8_t>(x[i]);
    } else {
        for (std::size_t i = 0; i < n; ++i) total += x[i];
    }
    return total;
}

void shift(const std::int32_t* __restrict x, std::int32_t a, std::int32_t* __restrict y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        y[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(x[i]) + static_cast<std::uint32_t>(a));
}

void range(const float* x, float* low, float* high, std::size_t n) {
    constexpr std::size_t kLanes = 16;
    float least[kLanes], most[kLanes];
    for (std::size_t j = 0; j < kLanes; ++j) least[j] = *low, most[j] = *high;
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t j = 0; j < kLanes; ++j) {
            least[j] = x[i + j] < least[j] ? x[i + j] : least[j];
            most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
        }
    }
    for (; i < n; ++i) {
        least[0] = x[i] < least[0] ? x[i] : least[0];
        most[0] = x[i] > most[0] ? x[i] : most[0];
    }
    for (std::size_t j = 0; j < kLanes; ++j) {
        *low = least[j] < *low ? least[j] : *low;
        *high = most[j] > *high ? most[j] : *high;
    }
}

void axpy(std::int32_t a, const std::int32_t* __restrict x, std::int32_t* __restrict y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        y[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(y[i]) +
                                         static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(x[i]));
}

}  // namespace

void addQuantizedLoops(FloatKernels& table) {
    table.quantized = {requantise, quantise, dequantise, combineBytes<FusedSum>, combineBytes<ScaledProduct>, sum,
                       shift,      range,    axpy};
}

}  // namespace sonde::ops::kernels::SONDE_ISA
