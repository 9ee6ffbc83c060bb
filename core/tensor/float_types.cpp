// One-byte floating point types; float16 and bfloat16 are in half_floats.cpp.

#include "core/tensor/float_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sonde::tensor {

namespace {

/// What tells one-byte float formats apart.
struct Format {
    int mantissaBits;
    int bias;
    float largest;      ///< largest finite value
    std::uint8_t top;   ///< its bits
    std::uint8_t sign;  ///< sign bit
    std::uint8_t nan;   ///< bits of NaN; 0: the format has none
    std::uint8_t inf;   ///< bits of +Inf; 0: the format has none
    bool negativeZero;
};

constexpr Format kE4M3FN{3, 7, 448.0F, 0x7e, 0x80, 0x7f, 0, true};
constexpr Format kE4M3FNUZ{3, 8, 240.0F, 0x7f, 0x80, 0x80, 0, false};
constexpr Format kE5M2{2, 15, 57344.0F, 0x7b, 0x80, 0x7e, 0x7c, true};
constexpr Format kE5M2FNUZ{2, 16, 57344.0F, 0x7f, 0x80, 0x80, 0, false};
constexpr Format kE2M1{1, 1, 6.0F, 0x07, 0x08, 0, 0, true};

const Format& format(DType dtype) {
    switch (dtype) {
        case DType::Float8E4M3FN: return kE4M3FN;
        case DType::Float8E4M3FNUZ: return kE4M3FNUZ;
        case DType::Float8E5M2: return kE5M2;
        case DType::Float8E5M2FNUZ: return kE5M2FNUZ;
        default: return kE2M1;
    }
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

float decode(const Format& f, std::uint8_t bits) {
    const bool negative = (bits & f.sign) != 0;
    const std::uint8_t magnitude = bits & static_cast<std::uint8_t>(f.sign - 1);
    if (f.nan && !f.negativeZero && bits == f.nan) return kNaN;
    if (f.inf && magnitude == f.inf) return negative ? -kInf : kInf;
    if (f.negativeZero && f.nan && magnitude > f.top) return kNaN;
    const int exponent = magnitude >> f.mantissaBits;
    const int mantissa = magnitude & ((1 << f.mantissaBits) - 1);
    const float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissaBits)
                                      : std::ldexp(static_cast<float>(mantissa + (1 << f.mantissaBits)),
                                                   exponent - f.bias - f.mantissaBits);
    return negative ? -value : value;
}

std::uint8_t encode(const Format& f, float value, bool saturate) {
    const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? f.sign : 0);
    if (std::isnan(value)) {
        if (!f.nan) return sign ? static_cast<std::uint8_t>(f.sign) : std::uint8_t{0};
        return f.negativeZero ? static_cast<std::uint8_t>(f.nan | sign) : f.nan;
    }
    const double magnitude = std::fabs(static_cast<double>(value));
    int exponent = 0;
    if (magnitude > 0 && !std::isinf(value)) exponent = std::ilogb(magnitude);
    const int lowest = 1 - f.bias;  // exponent of the smallest normal number
    const int quantumExponent = std::max(exponent, lowest) - f.mantissaBits;
    // Scaling by a power of two is exact, so one rounding to nearest even happens here.
    const double rounded = std::isinf(value)
                               ? magnitude
                               : std::ldexp(std::nearbyint(std::ldexp(magnitude, -quantumExponent)), quantumExponent);
    if (rounded > static_cast<double>(f.largest)) {
        if (saturate || (!f.nan && !f.inf)) return static_cast<std::uint8_t>(f.top | sign);
        if (f.inf) return static_cast<std::uint8_t>(f.inf | sign);
        return f.negativeZero ? static_cast<std::uint8_t>(f.nan | sign) : f.nan;
    }
    if (rounded == 0) return f.negativeZero ? sign : std::uint8_t{0};
    const int e = std::ilogb(rounded);
    if (e < lowest) {
        return static_cast<std::uint8_t>(static_cast<int>(std::ldexp(rounded, f.mantissaBits - lowest)) | sign);
    }
    const int mantissa = static_cast<int>(std::ldexp(rounded, f.mantissaBits - e)) - (1 << f.mantissaBits);
    return static_cast<std::uint8_t>((((e + f.bias) << f.mantissaBits) + mantissa) | sign);
}

/// 2^(bits - 127); no sign, no zero.
float decodeE8M0(std::uint8_t bits) { return bits == 0xff ? kNaN : std::ldexp(1.0F, bits - 127); }

std::uint8_t encodeE8M0(float value, bool saturate) {
    if (std::isnan(value) || value < 0) return 0xff;
    if (std::isinf(value)) return saturate ? 0xfe : 0xff;
    if (value < std::ldexp(1.0F, -127)) return 0;
    const int exponent = std::ilogb(value);
    const double fraction = static_cast<double>(value) / std::ldexp(1.0, exponent);
    const int nearest = fraction > 1.5 || (fraction == 1.5 && (exponent & 1)) ? exponent + 1 : exponent;
    if (nearest > 127) return saturate ? 0xfe : 0xff;
    return static_cast<std::uint8_t>(std::max(nearest, -127) + 127);
}

using Table = std::array<float, 256>;

Table makeTable(DType dtype) {
    Table table{};
    for (int i = 0; i < 256; ++i) {
        const auto bits = static_cast<std::uint8_t>(i);
        table[static_cast<std::size_t>(i)] =
            dtype == DType::Float8E8M0 ? decodeE8M0(bits) : decode(format(dtype), bits);
    }
    return table;
}

const Table& table(DType dtype) {
    static const Table e4m3fn = makeTable(DType::Float8E4M3FN);
    static const Table e4m3fnuz = makeTable(DType::Float8E4M3FNUZ);
    static const Table e5m2 = makeTable(DType::Float8E5M2);
    static const Table e5m2fnuz = makeTable(DType::Float8E5M2FNUZ);
    static const Table e2m1 = makeTable(DType::Float4E2M1);
    static const Table e8m0 = makeTable(DType::Float8E8M0);
    switch (dtype) {
        case DType::Float8E4M3FN: return e4m3fn;
        case DType::Float8E4M3FNUZ: return e4m3fnuz;
        case DType::Float8E5M2: return e5m2;
        case DType::Float8E5M2FNUZ: return e5m2fnuz;
        case DType::Float8E8M0: return e8m0;
        default: return e2m1;
    }
}

}  // namespace

float narrowToFloat(DType dtype, std::uint8_t bits) {
    return table(dtype)[dtype == DType::Float4E2M1 ? bits & 0x0f : bits];
}

std::uint8_t floatToNarrow(DType dtype, float value, bool saturate) {
    if (dtype == DType::Float8E8M0) return encodeE8M0(value, saturate);
    return encode(format(dtype), value, saturate);
}

}  // namespace sonde::tensor
