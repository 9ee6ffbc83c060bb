#include "core/analysis/difference.h"

#include <algorithm>
#include <complex>
#include <type_traits>

namespace sonde::analysis {

using tensor::DType;
using tensor::Tensor;

namespace {

/// Of one type before rounding: bits of the fraction decide, float32 has 23.
double partOfLargest(DType dtype, double float32) {
    const double scale = float32 / Tolerances::kFloat32;
    switch (dtype) {
        case DType::Float64:
        case DType::Complex128: return 1e-10 * scale;
        case DType::Float32:
        case DType::Complex64: return float32;
        case DType::Float16: return 1e-2 * scale;
        case DType::BFloat16: return 8e-2 * scale;
        default: return tensor::isFloating(dtype) ? 0.25 * scale : 0;
    }
}

double finiteMaximum(DType dtype) {
    constexpr double kFloat16 = 65504, kBFloat16 = 0x1.FEp127;
    switch (dtype) {
        case DType::Float16: return kFloat16;
        case DType::BFloat16: return kBFloat16;
        case DType::Float32:
        case DType::Complex64: return std::numeric_limits<float>::max();
        case DType::Float64:
        case DType::Complex128: return std::numeric_limits<double>::max();
        default: return std::numeric_limits<double>::infinity();
    }
}

bool comparesExactly(DType dtype) { return tensor::isInteger(dtype) || dtype == DType::Bool; }

bool isFinite(double number) { return std::isfinite(number); }
bool isFinite(const std::complex<double>& number) {
    return std::isfinite(number.real()) && std::isfinite(number.imag());
}
bool isNan(double number) { return std::isnan(number); }
bool isNan(const std::complex<double>& number) { return std::isnan(number.real()) || std::isnan(number.imag()); }
double product(double a, double r) { return a * r; }
double product(const std::complex<double>& a, const std::complex<double>& r) { return (a * std::conj(r)).real(); }

/// What elements below the masks are apart beyond what is allowed them by themselves.
template <typename At, typename ExpectedAt>
double excessBelow(double from, std::int64_t count, const At& actualAt, const ExpectedAt& expectedAt,
                   const Tolerance& tolerance) {
    double excess = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < count; ++i) {
        const double a = actualAt(i), r = expectedAt(i), magnitude = std::abs(r);
        if (!(magnitude < from) || !isFinite(a)) continue;
        excess = std::max(excess, std::abs(a - r) - tolerance.absolute - tolerance.relative * magnitude);
    }
    return excess;
}

/// The masks without which the elements of a value would not be allowed what they are apart; none if it is not for
/// masks.
template <typename At, typename ExpectedAt>
std::optional<MaskValues> decidingMasks(std::int64_t count, const At& actualAt, const ExpectedAt& expectedAt,
                                        const Tolerance& tolerance, double maskFrom) {
    auto masks = maskValues(count, actualAt, expectedAt, maskFrom);
    if (!masks) return std::nullopt;
    const double allowed = tolerance.ofLargest * std::max(masks->largestOther, 1.0);
    return excessBelow(masks->from, count, actualAt, expectedAt, tolerance) > allowed ? masks : std::nullopt;
}

/// Elements of both tensors by a number, one after the other.
template <typename At, typename ExpectedAt>
Difference compare(std::int64_t count, const At& actualAt, const ExpectedAt& expectedAt, const Tolerance& tolerance,
                   double maskFrom) {
    Difference result;
    double largest = 0, excess = -std::numeric_limits<double>::infinity();
    double dot = 0, ofActual = 0, ofExpected = 0, noise = 0;
    bool anyFinite = count == 0, anyNan = false, isApart = false;  // apart: by something infinite
    bool isRelative = false;                                       // some reference that differs is not 0
    for (std::int64_t i = 0; i < count; ++i) {
        const auto a = actualAt(i);
        const auto r = expectedAt(i);
        const double magnitude = std::abs(r);
        const bool finite = isFinite(a) && isFinite(r);
        const bool isMask = magnitude >= maskFrom && a == r;
        if (std::isfinite(magnitude) && !isMask) largest = std::max(largest, magnitude);
        if (finite) {
            anyFinite = true;
            dot += product(a, r);
            ofActual += product(a, a);
            ofExpected += product(r, r);
        }
        anyNan = anyNan || isNan(a) || isNan(r);
        if (a == r || (isNan(a) && isNan(r))) continue;
        const double absolute = finite ? std::abs(a - r) : std::numeric_limits<double>::infinity();
        result.maxAbsolute = std::max(result.maxAbsolute, absolute);
        if (!std::isfinite(absolute)) {
            result.maxRelative = absolute;
            result.ok = false;
            isApart = true;
            continue;
        }
        noise += absolute * absolute;
        if (magnitude != 0) {
            result.maxRelative = std::max(result.maxRelative, absolute / magnitude);
            isRelative = true;
        }
        excess = std::max(excess, absolute - tolerance.absolute - tolerance.relative * magnitude);
    }
    if (result.maxAbsolute > 0 && !isRelative) result.maxRelative = std::numeric_limits<double>::infinity();
    if (excess > tolerance.ofLargest * largest) result.ok = false;
    if constexpr (std::is_same_v<std::decay_t<decltype(actualAt(0))>, double>) {
        if (result.ok && largest >= kMinMask && excess > tolerance.ofLargest)
            result.masks = decidingMasks(count, actualAt, expectedAt, tolerance, maskFrom);
        if (result.masks) result.ok = false;
    }
    const double lengths = std::sqrt(ofActual) * std::sqrt(ofExpected);
    // What the elements beside those that are no numbers say is not said of the value.
    if (anyFinite && !anyNan && !isApart)
        result.cosine = lengths > 0 ? std::clamp(dot / lengths, -1.0, 1.0) : ofActual == ofExpected ? 1 : 0;
    if (isApart) return result;
    result.snr = noise > 0   ? 10 * std::log10(ofExpected / noise)
                 : result.ok ? std::numeric_limits<double>::infinity()
                             : result.snr;
    return result;
}

template <typename T>
bool areDense(const Tensor& a, const Tensor& b) {
    return a.dtype() == tensor::dtypeOf<T> && b.dtype() == tensor::dtypeOf<T> && a.isContiguous() && b.isContiguous();
}

std::complex<double> complexAt(const Tensor& tensor, std::int64_t index) {
    const std::int64_t at = tensor.elementOffset(index);
    if (tensor.dtype() == DType::Complex64) return std::complex<double>(tensor.data<std::complex<float>>()[at]);
    if (tensor.dtype() == DType::Complex128) return tensor.data<std::complex<double>>()[at];
    return {tensor.toDouble(index), 0};
}

/// Has the 64 bits of any integer.
long double integerAt(const Tensor& tensor, std::int64_t index) {
    const std::int64_t stored = tensor.toInt64(index);
    if (tensor.dtype() == DType::UInt64) return static_cast<long double>(static_cast<std::uint64_t>(stored));
    return static_cast<long double>(stored);
}

/// Integers beyond 2^53 are not what toDouble() makes of them.
void compareIntegers(const Tensor& actual, const Tensor& expected, bool isExact, Difference& result) {
    for (std::int64_t i = 0; i < expected.numel(); ++i) {
        const long double a = integerAt(actual, i), r = integerAt(expected, i);
        if (a == r) continue;
        const long double absolute = std::abs(a - r), magnitude = std::abs(r);
        result.ok = result.ok && !isExact;
        result.maxAbsolute = std::max(result.maxAbsolute, static_cast<double>(absolute));
        const double relative =
            magnitude > 0 ? static_cast<double>(absolute / magnitude) : std::numeric_limits<double>::infinity();
        result.maxRelative = std::max(result.maxRelative, relative);
    }
}

}  // namespace

Tolerance Tolerances::of(DType dtype) const { return of(dtype, dtype); }

Tolerance Tolerances::of(DType a, DType b) const {
    if (integers && comparesExactly(a) && comparesExactly(b)) return *integers;
    return fixed ? *fixed : Tolerance{0, 0, std::max(partOfLargest(a, float32), partOfLargest(b, float32))};
}

DType Tolerances::deciding(DType a, DType b) const {
    return partOfLargest(b, float32) > partOfLargest(a, float32) ? b : a;
}

double maskMagnitude(DType a, DType b) { return std::min(finiteMaximum(a), finiteMaximum(b)) / 16; }

double smallestMask(const Tensor& tensor) {
    const double ofType = maskMagnitude(tensor.dtype(), tensor.dtype());
    if (!tensor::isFloating(tensor.dtype())) return ofType;
    const ElementAt at = [&tensor](std::int64_t i) { return tensor.toDouble(i); };
    const auto masks = maskValues(tensor.numel(), at, at, ofType);
    return masks && masks->areConstant ? std::min(ofType, masks->from) : ofType;
}

Difference difference(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
    const double maskFrom = maskMagnitude(actual.dtype(), expected.dtype());
    if (expected.dtype() == DType::String || actual.dtype() == DType::String) {
        Difference result;
        result.ok = tensor::identical(actual, expected);
        return result;
    }
    const std::int64_t count = expected.numel();
    if (areDense<float>(actual, expected)) {
        const float *a = actual.data<float>(), *r = expected.data<float>();
        return compare(
            count, [a](std::int64_t i) -> double { return a[i]; }, [r](std::int64_t i) -> double { return r[i]; },
            tolerance, maskFrom);
    }
    if (tensor::isComplex(actual.dtype()) || tensor::isComplex(expected.dtype())) {
        return compare(
            count, [&](std::int64_t i) { return complexAt(actual, i); },
            [&](std::int64_t i) { return complexAt(expected, i); }, tolerance, maskFrom);
    }
    Difference result = compare(
        count, [&](std::int64_t i) { return actual.toDouble(i); }, [&](std::int64_t i) { return expected.toDouble(i); },
        tolerance, maskFrom);
    const bool exact = tolerance.absolute == 0 && tolerance.relative == 0 && tolerance.ofLargest == 0;
    const auto isWide = [](DType dtype) { return dtype == DType::Int64 || dtype == DType::UInt64; };
    if (isWide(actual.dtype()) && isWide(expected.dtype())) compareIntegers(actual, expected, exact, result);
    return result;
}

}  // namespace sonde::analysis
