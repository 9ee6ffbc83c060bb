#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "core/analysis/mask_values.h"
#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// What an element a may be apart from r: |a - r| <= absolute + relative * |r| + ofLargest * (largest finite |r| of the
/// tensor). Mask values do not count as largest: elements that are equal in both and beyond maskMagnitude(), and those
/// of maskValues(). The largest of what is below such a mask is taken to be 1 at least.
struct Tolerance {
    double relative = 1e-3;
    double absolute = 1e-4;
    double ofLargest = 0;

    bool operator==(const Tolerance&) const = default;
};

/// The tolerance of a value by its element type: a part of the largest magnitude in it. Integers, booleans and strings
/// must be equal. `fixed` takes the place of all of that, except for integers and booleans where `integers` is given.
struct Tolerances {
    static constexpr double kFloat32 = 1e-4;
    double float32 =
        kFloat32;  ///< the others keep their ratio to it: float16 1e-2, bfloat16 8e-2, float64 1e-10, float8 0.25
    std::optional<Tolerance> fixed;
    std::optional<Tolerance> integers;  ///< of values that are integers or booleans in both

    Tolerances() = default;
    Tolerances(const Tolerance& tolerance)
        : fixed(tolerance) {}  // NOLINT(google-explicit-constructor): one for all is a set of them

    bool operator==(const Tolerances&) const = default;

    Tolerance of(tensor::DType dtype) const;
    /// The coarser of both: of a value that has another element type in the reference.
    Tolerance of(tensor::DType a, tensor::DType b) const;
    /// Which of both decides.
    tensor::DType deciding(tensor::DType a, tensor::DType b) const;
};

/// Equal elements of at least this magnitude are taken for mask values, as finfo(dtype).min in attention: 1/16 of the
/// largest finite number of the narrower of both element types. Infinite for types other than float16, bfloat16,
/// float32, float64 and complex numbers of these.
double maskMagnitude(tensor::DType a, tensor::DType b);

/// The magnitude from which elements of a tensor are mask values by themselves: maskMagnitude(), or less where the
/// tensor has constants far above all others (maskValues).
double smallestMask(const tensor::Tensor& tensor);

/// How far a tensor is from what is expected of it.
struct Difference {
    double maxAbsolute = 0;  ///< infinite if one is NaN or infinite where the other is not
    /// Largest |a - r| / |r| where r is not 0; infinite if a differs only where r is 0.
    double maxRelative = 0;
    bool ok = true;
    /// Of the elements that are finite in both: Σ a·r / (|a|·|r|), 1 if both are all zero; NaN if there are none, if
    /// either holds NaN or one is infinite where the other is not, or it is not known.
    double cosine = std::numeric_limits<double>::quiet_NaN();
    /// 10·log10(Σ r² / Σ (a - r)²) in dB, infinite if they are equal; NaN if it is not known, or maxAbsolute is
    /// infinite.
    double snr = std::numeric_limits<double>::quiet_NaN();
    /// Set if the elements below these are too far apart, and would not be if the masks counted as largest.
    std::optional<MaskValues> masks;
};

/// Element by element, of one shape: NaN equals NaN, an infinity itself. Complex numbers by their modulus, integers
/// exactly.
Difference difference(const tensor::Tensor& actual, const tensor::Tensor& expected, const Tolerance& tolerance);

}  // namespace sonde::analysis
