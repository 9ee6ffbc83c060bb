#include "core/tensor/cast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/base/number_text.h"
#include "core/tensor/dispatch.h"
#include "core/tensor/half_floats.h"

namespace sonde::tensor {

namespace {

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;
template <typename T>
inline constexpr bool kIsNarrowFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Truncates toward zero; numbers outside 64 bits (and NaN) become the lowest, as the processor does.
template <typename To, typename Float>
To floatToInteger(Float value) {
    constexpr Float kTwo63 = static_cast<Float>(9223372036854775808.0);
    if constexpr (std::is_same_v<To, std::uint64_t>) {
        if (value >= kTwo63 && value < 2 * kTwo63) {
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(value - kTwo63)) + (std::uint64_t{1} << 63);
        }
    }
    if (!(value >= -kTwo63 && value < kTwo63)) return static_cast<To>(std::numeric_limits<std::int64_t>::min());
    return static_cast<To>(static_cast<std::int64_t>(value));
}

template <typename From, typename To>
To convert(From value) {
    if constexpr (std::is_same_v<From, To>) {
        return value;
    } else if constexpr (kIsComplex<From> && kIsComplex<To>) {
        return To(static_cast<typename To::value_type>(value.real()),
                  static_cast<typename To::value_type>(value.imag()));
    } else if constexpr (kIsComplex<From>) {
        if constexpr (std::is_same_v<To, bool>) return value != From{};
        else return convert<typename From::value_type, To>(value.real());
    } else if constexpr (kIsComplex<To>) {
        return To(convert<From, typename To::value_type>(value));
    } else if constexpr (kIsNarrowFloat<From>) {
        return convert<float, To>(static_cast<float>(value));
    } else if constexpr (std::is_same_v<To, bool>) {
        return value != From{};
    } else if constexpr (kIsNarrowFloat<To>) {
        return To(static_cast<float>(value));
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        return floatToInteger<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

template <typename From, typename To>
void convertAll(const void* source, void* target, std::size_t count) {
    const auto* from = static_cast<const From*>(source);
    auto* to = static_cast<To*>(target);
    // The casts around every product of float16 and bfloat16; both are their bits.
    if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>)
        return halfToFloat(static_cast<const std::uint16_t*>(source), to, count);
    if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Half>)
        return floatToHalf(from, static_cast<std::uint16_t*>(target), count);
    if constexpr (std::is_same_v<From, BFloat16> && std::is_same_v<To, float>)
        return bfloat16ToFloat(static_cast<const std::uint16_t*>(source), to, count);
    if constexpr (std::is_same_v<From, float> && std::is_same_v<To, BFloat16>)
        return floatToBFloat16(from, static_cast<std::uint16_t*>(target), count);
    for (std::size_t i = 0; i < count; ++i) to[i] = convert<From, To>(from[i]);
}

bool isTiny(DType dtype) {
    return dtype == DType::Int4 || dtype == DType::UInt4 || dtype == DType::Int2 || dtype == DType::UInt2;
}
bool isOneByteFloat(DType dtype) { return isFloating(dtype) && itemSize(dtype) == 1; }

/// The C++-typed dtype that a byte-stored one is read or written through.
DType carrier(DType dtype) {
    if (isTiny(dtype)) return isSigned(dtype) ? DType::Int8 : DType::UInt8;
    return isOneByteFloat(dtype) ? DType::Float32 : dtype;
}

void castPlain(DType from, const void* source, DType to, void* target, std::size_t count) {
    dispatchAll(from, [&](auto f) {
        dispatchAll(to, [&](auto t) {
            convertAll<typename decltype(f)::type, typename decltype(t)::type>(source, target, count);
        });
    });
}

/// Keeps the low bits of each byte, with the sign for signed ones.
void wrapTiny(DType dtype, std::uint8_t* bytes, std::size_t count) {
    const int unused = 8 - static_cast<int>(bitsInFile(dtype));
    for (std::size_t i = 0; i < count; ++i) {
        const auto shifted = static_cast<std::uint8_t>(bytes[i] << unused);
        bytes[i] = isSigned(dtype) ? static_cast<std::uint8_t>(static_cast<std::int8_t>(shifted) >> unused)
                                   : static_cast<std::uint8_t>(shifted >> unused);
    }
}

}  // namespace

void castElements(DType from, const void* source, DType to, void* target, std::size_t count, bool saturate) {
    if (from == to) {
        std::memcpy(target, source, count * itemSize(from));
        return;
    }
    if (!isOneByteFloat(from) && !isOneByteFloat(to)) {
        castPlain(carrier(from), source, carrier(to), target, count);
        if (isTiny(to)) wrapTiny(to, static_cast<std::uint8_t*>(target), count);
        return;
    }
    // One-byte floats go through float, in pieces that stay in the cache.
    std::array<float, 1024> piece;
    const auto* in = static_cast<const std::uint8_t*>(source);
    auto* out = static_cast<std::uint8_t*>(target);
    for (std::size_t done = 0; done < count; done += piece.size()) {
        const std::size_t n = std::min(piece.size(), count - done);
        const std::uint8_t* pieceIn = in + done * itemSize(from);
        std::uint8_t* pieceOut = out + done * itemSize(to);
        if (isOneByteFloat(from)) {
            for (std::size_t i = 0; i < n; ++i) piece[i] = narrowToFloat(from, pieceIn[i]);
        } else {
            castPlain(carrier(from), pieceIn, DType::Float32, piece.data(), n);
        }
        if (isOneByteFloat(to)) {
            for (std::size_t i = 0; i < n; ++i) pieceOut[i] = floatToNarrow(to, piece[i], saturate);
        } else {
            castPlain(DType::Float32, piece.data(), carrier(to), pieceOut, n);
            if (isTiny(to)) wrapTiny(to, pieceOut, n);
        }
    }
}

namespace {

/// ONNX Cast's names for what is no number.
template <typename T>
std::string shortest(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value)) return "NaN";
        if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
        return base::shortestText(value);
    } else {
        return std::to_string(value);
    }
}

}  // namespace

std::string numberText(DType dtype, const void* element) {
    if (dtype == DType::Bool) return *static_cast<const bool*>(element) ? "True" : "False";
    std::string text;
    dispatchAll(carrier(dtype), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T value{};
        castElements(dtype, element, carrier(dtype), &value, 1);
        if constexpr (kIsComplex<T>) {
            text =
                "(" + shortest(value.real()) + (std::signbit(value.imag()) ? "" : "+") + shortest(value.imag()) + "j)";
        } else if constexpr (kIsNarrowFloat<T>) {
            text = shortest(static_cast<float>(value));
        } else if constexpr (std::is_same_v<T, bool>) {
            text = value ? "True" : "False";
        } else {
            text = shortest(value);
        }
    });
    return text;
}

bool parseNumber(std::string_view text, DType dtype, void* element) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    if (const auto whole = base::parseNumber<std::int64_t>(text); whole && isInteger(dtype)) {
        castElements(DType::Int64, &*whole, dtype, element, 1);
        return true;
    }
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const std::optional<double> value = base::parseNumber<double>(text);
    if (!value) return false;
    castElements(DType::Float64, &*value, dtype, element, 1);
    return true;
}

}  // namespace sonde::tensor
