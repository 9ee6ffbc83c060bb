#include "core/analysis/conformance.h"

#include <cmath>
#include <complex>

namespace sonde::analysis {

namespace {

using tensor::DType;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

bool near(double actual, double expected, const ConformanceTolerance& tolerance) {
    if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) && std::isnan(expected);
    if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
    return std::fabs(actual - expected) <= tolerance.absolute + tolerance.relative * std::fabs(expected);
}

std::optional<std::string> compareTensors(const Tensor& actual, const Tensor& expected,
                                          const ConformanceTolerance& tolerance) {
    if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape())
        return actual.typeText() + " instead of " + expected.typeText();
    if (tolerance.typesOnly) return std::nullopt;
    const bool exact =
        actual.dtype() == DType::String || actual.dtype() == DType::Bool || tensor::isInteger(actual.dtype());
    for (std::int64_t i = 0; i < expected.numel(); ++i) {
        const bool same = exact ? actual.elementText(i) == expected.elementText(i)
                                : near(actual.toDouble(i), expected.toDouble(i), tolerance);
        if (!same) {
            return "element " + std::to_string(i) + " of " + expected.typeText() + " is " + actual.elementText(i, 9) +
                   " instead of " + expected.elementText(i, 9);
        }
    }
    if (tensor::isComplex(actual.dtype()) && !identical(actual, expected)) {
        const auto a = actual.cast(DType::Complex128), e = expected.cast(DType::Complex128);
        for (std::int64_t i = 0; a && e && i < expected.numel(); ++i) {
            if (!near(a->data<std::complex<double>>()[i].imag(), e->data<std::complex<double>>()[i].imag(),
                      tolerance)) {
                return "element " + std::to_string(i) + " is " + actual.elementText(i, 9) + " instead of " +
                       expected.elementText(i, 9);
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> conformanceDifference(const Value& actual, const Value& expected,
                                                 const ConformanceTolerance& tolerance) {
    // An optional that holds something may be given as the thing itself.
    if (expected.kind() == ValueKind::Optional && actual.kind() != ValueKind::Optional) {
        if (expected.items().empty())
            return actual.isNone() ? std::nullopt : std::optional("a value where none is expected");
        return conformanceDifference(actual, expected.items()[0], tolerance);
    }
    if (actual.kind() != expected.kind()) return actual.typeText() + " instead of " + expected.typeText();
    if (expected.isTensor()) return compareTensors(actual.tensor(), expected.tensor(), tolerance);
    if (!expected.isListLike())
        return identical(actual, expected) ? std::nullopt
                                           : std::optional(actual.text() + " instead of " + expected.text());
    if (actual.items().size() != expected.items().size()) {
        return std::to_string(actual.items().size()) + " items instead of " + std::to_string(expected.items().size());
    }
    for (std::size_t i = 0; i < expected.items().size(); ++i) {
        if (auto difference = conformanceDifference(actual.items()[i], expected.items()[i], tolerance)) {
            return "item " + std::to_string(i) + ": " + *difference;
        }
    }
    return std::nullopt;
}

}  // namespace sonde::analysis
