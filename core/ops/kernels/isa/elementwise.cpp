// Element-wise loops over float32. Every expression rounds step by step, so that all instruction sets agree.

#include <cstdint>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/vector_math.h"
#include "core/ops/kernels/isa/vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

template <typename F>
inline __attribute__((always_inline)) void map(const float* x, float* y, std::size_t n, F f) {
    for (std::size_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

// y = f(x; a, b). NaN stays NaN in every one of them.
void relu(const float* x, float* y, std::size_t n, float, float) {
    map(x, y, n, [](float v) { return v < 0 ? 0.0F : v; });
}
void leakyRelu(const float* x, float* y, std::size_t n, float a, float) {
    map(x, y, n, [a](float v) { return v < 0 ? a * v : v; });
}
void clip(const float* x, float* y, std::size_t n, float a, float b) {
    map(x, y, n, [a, b](float v) {
        const float low = v < a ? a : v;
        return low > b ? b : low;
    });
}
void sigmoid(const float* x, float* y, std::size_t n, float, float) { map(x, y, n, sigmoidOf); }
void tanh(const float* x, float* y, std::size_t n, float, float) { map(x, y, n, tanhOf); }
void exp(const float* x, float* y, std::size_t n, float, float) { map(x, y, n, expOf); }
void sqrt(const float* x, float* y, std::size_t n, float, float) {
    map(x, y, n, [](float v) { return __builtin_sqrtf(v); });
}
void abs(const float* x, float* y, std::size_t n, float, float) {
    map(x, y, n, [](float v) { return __builtin_fabsf(v); });
}
void neg(const float* x, float* y, std::size_t n, float, float) {
    map(x, y, n, [](float v) { return -v; });
}
void reciprocal(const float* x, float* y, std::size_t n, float, float) {
    map(x, y, n, [](float v) { return 1.0F / v; });
}
/// clip(a·x + b, 0, 1)
void hardSigmoid(const float* x, float* y, std::size_t n, float a, float b) {
    map(x, y, n, [a, b](float v) {
        const float line = a * v + b;
        const float low = line < 0 ? 0.0F : line;
        return low > 1 ? 1.0F : low;
    });
}
/// x · clip(x/6 + 1/2, 0, 1)
void hardSwish(const float* x, float* y, std::size_t n, float, float) {
    map(x, y, n, [](float v) {
        const float line = v * (1.0F / 6.0F) + 0.5F;
        const float low = line < 0 ? 0.0F : line;
        return v * (low > 1 ? 1.0F : low);
    });
}
void erf(const float* x, float* y, std::size_t n, float, float) { map(x, y, n, erfOf); }
void gelu(const float* x, float* y, std::size_t n, float, float) { map(x, y, n, geluOf); }
/// x/2 · (1 + tanh(√(2/π)·(x + 0.044715 x³)))
void geluTanh(const float* x, float* y, std::size_t n, float, float) {
    map(x, y, n, [](float v) { return 0.5F * v * (1.0F + tanhOf(0.7978845608028654F * (v + 0.044715F * v * v * v))); });
}
/// x · sigmoid(a·x)
void silu(const float* x, float* y, std::size_t n, float a, float) {
    map(x, y, n, [a](float v) { return v / (1.0F + expOf(-a * v)); });
}
/// x, or a·(e^x − 1) below 0
void elu(const float* x, float* y, std::size_t n, float a, float) {
    map(x, y, n, [a](float v) {
        const float below = a * (expOf(v) - 1.0F);
        return v < 0 ? below : v;
    });
}
void scale(const float* x, float* y, std::size_t n, float a, float b) {
    map(x, y, n, [a, b](float v) { return v * a + b; });
}
void square(const float* x, float* y, std::size_t n, float, float) {
    map(x, y, n, [](float v) { return v * v; });
}

template <typename F>
inline __attribute__((always_inline)) void zip(const float* x, bool xRepeated, const float* y, bool yRepeated, float* z,
                                               std::size_t n, F f) {
    if (!xRepeated && !yRepeated) {
        for (std::size_t i = 0; i < n; ++i) z[i] = f(x[i], y[i]);
    } else if (yRepeated) {
        const float right = *y;
        if (xRepeated) {
            const float both = f(*x, right);
            for (std::size_t i = 0; i < n; ++i) z[i] = both;
        } else {
            for (std::size_t i = 0; i < n; ++i) z[i] = f(x[i], right);
        }
    } else {
        const float left = *x;
        for (std::size_t i = 0; i < n; ++i) z[i] = f(left, y[i]);
    }
}

#define SONDE_BINARY(NAME, EXPRESSION)                                                     \
    void NAME(const float* x, bool xr, const float* y, bool yr, float* z, std::size_t n) { \
        zip(x, xr, y, yr, z, n, [](float a, float b) { return EXPRESSION; });              \
    }
SONDE_BINARY(add, a + b)
SONDE_BINARY(sub, a - b)
SONDE_BINARY(mul, a* b)
SONDE_BINARY(div, a / b)
SONDE_BINARY(maxTwo, maxOf(a, b))
SONDE_BINARY(minTwo, minOf(a, b))
#undef SONDE_BINARY

void scaleShift(const float* x, float scale, float shift, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = x[i] * scale + shift;
}

/// What scaleShift, add and clip (or relu) do one after the other, with the same roundings: three passes in one. The
/// exponent of NaN and infinity is all ones: one more makes it a sign. Lanes behind the end are of x = 0: they are bad
/// only where factor or shift is, and then all others are too.
template <bool scales, bool adds>
bool finishRow(const float* x, const AffinePass& pass, const float* other, float* y, std::size_t n) {
    constexpr std::uint32_t kExponent = 0x7F800000U, kOne = 0x00800000U;
    const Vector factor = pass.factor - Vector{}, shift = pass.shift - Vector{}, low = pass.low - Vector{},
                 high = pass.high - Vector{};
    Bits bad = {};
    const auto one = [&](const Vector& v, const Vector& o) __attribute__((always_inline)) {
        Vector sum = v;
        if constexpr (scales) sum = sum * factor + shift;
        if constexpr (adds) sum = sum + o;
        bad |= (reinterpret_cast<Bits>(sum) & kExponent) + kOne;
        const Vector above = sum < low ? low : sum;
        return above > high ? high : above;
    };
    std::size_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        const Vector v = *reinterpret_cast<const Vector*>(x + i);
        *reinterpret_cast<Vector*>(y + i) = one(v, adds ? *reinterpret_cast<const Vector*>(other + i) : v);
    }
    if (i < n) {
        const Vector v = loadFirst(x + i, n - i);
        storeFirst(y + i, one(v, adds ? loadFirst(other + i, n - i) : v), n - i);
    }
    std::uint32_t all = 0;
    for (std::size_t l = 0; l < kWidth; ++l) all |= bad[l];
    return !(all & 0x80000000U);
}

bool affinePass(const float* x, const AffinePass& pass, const float* other, float* y, std::size_t n) {
    if (pass.scales)
        return other ? finishRow<true, true>(x, pass, other, y, n) : finishRow<true, false>(x, pass, other, y, n);
    return other ? finishRow<false, true>(x, pass, other, y, n) : finishRow<false, false>(x, pass, other, y, n);
}

void normalizeRow(const float* x, float mean, float inverse, const float* scale, const float* bias, float* y,
                  std::size_t n) {
    if (bias) {
        for (std::size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * scale[i] + bias[i];
    } else {
        for (std::size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * scale[i];
    }
}

}  // namespace

void addElementwise(FloatKernels& table) {
    const auto set = [&](Unary which, UnaryLoop loop) { table.unary[static_cast<std::size_t>(which)] = loop; };
    set(Unary::Relu, relu);
    set(Unary::LeakyRelu, leakyRelu);
    set(Unary::Clip, clip);
    set(Unary::Sigmoid, sigmoid);
    set(Unary::Tanh, tanh);
    set(Unary::Exp, exp);
    set(Unary::Sqrt, sqrt);
    set(Unary::Abs, abs);
    set(Unary::Neg, neg);
    set(Unary::Reciprocal, reciprocal);
    set(Unary::HardSigmoid, hardSigmoid);
    set(Unary::HardSwish, hardSwish);
    set(Unary::Erf, erf);
    set(Unary::Gelu, gelu);
    set(Unary::GeluTanh, geluTanh);
    set(Unary::Silu, silu);
    set(Unary::Elu, elu);
    set(Unary::Scale, scale);
    set(Unary::Square, square);
    const auto setTwo = [&](Binary which, BinaryLoop loop) { table.binary[static_cast<std::size_t>(which)] = loop; };
    setTwo(Binary::Add, add);
    setTwo(Binary::Sub, sub);
    setTwo(Binary::Mul, mul);
    setTwo(Binary::Div, div);
    setTwo(Binary::Max, maxTwo);
    setTwo(Binary::Min, minTwo);
    table.scaleShift = scaleShift;
    table.affinePass = affinePass;
    table.normalizeRow = normalizeRow;
}

}  // namespace sonde::ops::kernels::SONDE_ISA
