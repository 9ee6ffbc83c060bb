#include "core/tensor/exact_cast.h"

#include <cmath>

namespace sonde::tensor {

namespace {

/// An integer of int64 or uint64.
struct WideInteger {
    bool isNegative = false;
    std::uint64_t magnitude = 0;

    bool operator==(const WideInteger&) const = default;
};

/// Nothing for fractions, NaN and numbers of 2^64 and more.
std::optional<WideInteger> integerAt(const Tensor& tensor, std::int64_t index) {
    constexpr double kTwo64 = 18446744073709551616.0;
    if (isFloating(tensor.dtype())) {
        const double value = tensor.toDouble(index);
        if (!(std::abs(value) < kTwo64) || value != std::trunc(value)) return std::nullopt;
        return WideInteger{value < 0, static_cast<std::uint64_t>(std::abs(value))};
    }
    const std::int64_t value = tensor.toInt64(index);
    const auto bits = static_cast<std::uint64_t>(value);
    if (tensor.dtype() == DType::UInt64 || value >= 0) return WideInteger{false, bits};
    return WideInteger{true, ~bits + 1};
}

bool isLost(const Tensor& before, const Tensor& after, std::int64_t index) {
    if (isFloating(before.dtype()) && isFloating(after.dtype()))
        return std::isfinite(before.toDouble(index)) && !std::isfinite(after.toDouble(index));
    const std::optional<WideInteger> number = integerAt(before, index);
    return !number || number != integerAt(after, index);
}

Loss lossAt(const Tensor& before, const Tensor& after, std::int64_t index) {
    if (after.dtype() == DType::Bool) return Loss::NotBool;
    const double value = before.toDouble(index);
    if (!isFloating(after.dtype()))
        return !std::isfinite(value) || value != std::trunc(value) ? Loss::Fraction : Loss::Range;
    return !isFloating(before.dtype()) && std::isfinite(after.toDouble(index)) ? Loss::Precision : Loss::Range;
}

}  // namespace

std::string lossText(Loss loss, DType dtype) {
    switch (loss) {
        case Loss::Fraction: return "not an integer";
        case Loss::Precision: return "which " + std::string(name(dtype)) + " does not hold exactly";
        case Loss::NotBool: return "neither 0 nor 1";
        case Loss::Range: break;
    }
    return "outside of the range of " + std::string(name(dtype));
}

std::optional<LostElement> firstLost(const Tensor& before, const Tensor& after) {
    if (before.dtype() == after.dtype()) return std::nullopt;
    for (std::int64_t i = 0; i < before.numel(); ++i) {
        if (isLost(before, after, i)) return LostElement{i, lossAt(before, after, i)};
    }
    return std::nullopt;
}

}  // namespace sonde::tensor
