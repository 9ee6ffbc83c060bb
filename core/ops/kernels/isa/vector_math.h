#pragma once

// Scalar functions without branches or calls, so that the compiler vectorises the loops around them. Included only by
// the files of this folder, each time into the namespace of one instruction set.

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

inline float asFloat(int bits) { return __builtin_bit_cast(float, bits); }

/// e^x, within 2 units in the last place; Inf and NaN as they should be. x = n·ln2 + r with |r| ≤ ln2/2, then the
/// polynomial for e^r of Cephes' expf.
inline float expOf(float x) {
    x = x < -104.0F ? -104.0F : x;
    x = x > 89.0F ? 89.0F : x;
    const float n = (x * 1.44269504088896341F + 12582912.0F) - 12582912.0F;  // 1.5·2^23: rounds to the nearest integer
    float r = x - n * 0.693359375F;
    r = r - n * -2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    // Two factors, because 2^n alone may be out of range while the result is not.
    const int whole = static_cast<int>(n == n ? n : 0.0F);
    const int half = whole >> 1;
    return p * asFloat((half + 127) << 23) * asFloat((whole - half + 127) << 23);
}

inline float sigmoidOf(float x) { return 1.0F / (1.0F + expOf(-x)); }

/// Near 0 the odd polynomial of Cephes' tanhf, elsewhere 1 − 2/(e^2x + 1).
inline float tanhOf(float x) {
    const float magnitude = x < 0 ? -x : x;
    const float z = x * x;
    float p = -5.70498872745e-3F;
    p = p * z + 2.06390887954e-2F;
    p = p * z - 5.37397155531e-2F;
    p = p * z + 1.33314422036e-1F;
    p = p * z - 3.33332819422e-1F;
    const float small = p * z * x + x;
    const float large = 1.0F - 2.0F / (expOf(magnitude + magnitude) + 1.0F);
    const float signedLarge = x < 0 ? -large : large;
    return magnitude < 0.625F ? small : signedLarge;
}

/// erfc(x) for x ≥ 0 times e^(x²): Chebyshev fit, relative error below 1.2e-7 (Numerical Recipes, 2nd ed., 6.2).
inline float erfcScaled(float x, float& t) {
    t = 1.0F / (1.0F + 0.5F * x);
    float p = 0.17087277F;
    p = p * t - 0.82215223F;
    p = p * t + 1.48851587F;
    p = p * t - 1.13520398F;
    p = p * t + 0.27886807F;
    p = p * t - 0.18628806F;
    p = p * t + 0.09678418F;
    p = p * t + 0.37409196F;
    p = p * t + 1.00002368F;
    p = p * t - 1.26551223F;
    return p;
}

inline float erfcOf(float x) {
    const float magnitude = x < 0 ? -x : x;
    float t = 0;
    const float p = erfcScaled(magnitude, t);
    const float tail = t * expOf(p - magnitude * magnitude);
    return x < 0 ? 2.0F - tail : tail;
}

/// Within 1.5 units in the last place. Below 0.9 x + x·P(x²), above 1 − e^Q(|x|) with Q near ln erfc, both fitted for
/// the least largest error (of the result, by reweighted least squares); from 4 on erf is 1 in float32.
inline float erfOf(float x) {
    const float z = x * x;
    float p = -0.00061112916F;
    p = p * z + 0.005016228F;
    p = p * z - 0.026781958F;
    p = p * z + 0.1128223F;
    p = p * z - 0.37612534F;
    p = p * z + 0.12837915F;
    const float small = p * x + x;
    const float magnitude = x < 0 ? -x : x;
    const float m = magnitude > 4.0F ? 4.0F : magnitude;
    float q = -2.0909556e-05F;
    q = q * m + 0.000432303F;
    q = q * m - 0.004160527F;
    q = q * m + 0.025091497F;
    q = q * m - 0.10823662F;
    q = q * m - 0.6333867F;
    q = q * m - 1.1294951F;
    q = q * m + 0.00017055203F;
    const float large = 1.0F - expOf(q);
    const float signedLarge = x < 0 ? -large : large;
    return magnitude < 0.9F ? small : signedLarge;
}

inline float geluOf(float x) { return 0.5F * x * erfcOf(-0.7071067811865476F * x); }

inline float maxOf(float a, float b) {
    const float larger = a > b ? a : b;
    return a != a ? a : larger;  // b NaN: the comparison is false and b is taken
}
inline float minOf(float a, float b) {
    const float smaller = a < b ? a : b;
    return a != a ? a : smaller;
}

}  // namespace

}  // namespace sonde::ops::kernels::SONDE_ISA
