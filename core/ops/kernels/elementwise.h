#pragma once

#include <optional>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// One function of one number with up to two parameters, for every dtype.
struct UnaryFunction {
    double (*real)(double x, double a, double b) = nullptr;  ///< floating point
    std::int64_t (*whole)(std::int64_t x) = nullptr;         ///< integers, where it is defined for them
    std::optional<Unary> fast = std::nullopt;                ///< vectorised for float32
};

/// output[0][i] = f(x[i]) with x's dtype; Error for dtypes that the function has no definition for.
base::Result<void> applyUnary(KernelContext& context, const UnaryFunction& function, const Tensor& x, double a = 0,
                              double b = 0);

enum class Arithmetic : std::uint8_t {
    Add,
    Sub,
    Mul,
    Div,  ///< integers: toward zero
    Max,
    Min,  ///< NaN wins
    Pow,
    Mod,   ///< sign of the divisor (Python's %)
    FMod,  ///< sign of the dividend (C's fmod)
    FloorDiv,
    Atan2
};

/// The vectorised loop for float32, if there is one.
std::optional<Binary> fastOf(Arithmetic operation);
/// output[index] = a ∘ b with numpy broadcasting; both of the same number dtype (bool: Add is or, Mul is and).
base::Result<Tensor> arithmetic(KernelContext& context, Arithmetic operation, const Tensor& a, const Tensor& b,
                                std::size_t index = 0);
/// The same into a tensor of its own.
base::Result<Tensor> arithmeticTensor(base::ThreadPool& pool, Arithmetic operation, const Tensor& a, const Tensor& b);

enum class Comparison : std::uint8_t { Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual };
base::Result<void> compare(KernelContext& context, Comparison operation, const Tensor& a, const Tensor& b);

enum class Bitwise : std::uint8_t { And, Or, Xor, ShiftLeft, ShiftRight };
/// Integers, and bool for the first three.
base::Result<void> bitwise(KernelContext& context, Bitwise operation, const Tensor& a, const Tensor& b);

/// output[0] = condition ? a : b, all three broadcast; a and b of one dtype (any, strings too).
base::Result<void> where(KernelContext& context, const Tensor& condition, const Tensor& a, const Tensor& b);

}  // namespace sonde::ops::kernels
