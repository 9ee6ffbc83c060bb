#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/ops/kernels/broadcast.h"
#include "core/ops/kernels/elementwise.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/cast.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops::kernels {

std::optional<Binary> fastOf(Arithmetic operation) {
    switch (operation) {
        case Arithmetic::Add: return Binary::Add;
        case Arithmetic::Sub: return Binary::Sub;
        case Arithmetic::Mul: return Binary::Mul;
        case Arithmetic::Div: return Binary::Div;
        case Arithmetic::Max: return Binary::Max;
        case Arithmetic::Min: return Binary::Min;
        default: return std::nullopt;
    }
}

namespace {

/// z = f(x, y) over two broadcast operands.
template <typename T, typename R, typename F>
void zip(base::ThreadPool& pool, const Tensor& a, const Tensor& b, Tensor& out, F f) {
    const BroadcastWalk<2> walk(out.shape(), {&a.shape(), &b.shape()});
    const T* x = a.data<T>();
    const T* y = b.data<T>();
    R* z = out.mutableData<R>();
    const std::int64_t xStep = walk.moves(0), yStep = walk.moves(1);
    walk.forEachRun(pool, [&](const std::array<std::int64_t, 2>& at, std::int64_t zAt, std::int64_t n) {
        const T* p = x + at[0];
        const T* q = y + at[1];
        R* r = z + zAt;
        for (std::int64_t i = 0; i < n; ++i) r[i] = f(p[i * xStep], q[i * yStep]);
    });
}

void zipFloats(base::ThreadPool& pool, Binary operation, const Tensor& a, const Tensor& b, Tensor& out) {
    const Epilogue* epilogue = Epilogue::of(out);
    const BroadcastWalk<2> walk(out.shape(), {&a.shape(), &b.shape()});
    const BinaryLoop loop = floatKernels().binary[static_cast<std::size_t>(operation)];
    const float* x = a.data<float>();
    const float* y = b.data<float>();
    float* z = out.mutableData<float>();
    const bool xRepeated = !walk.moves(0), yRepeated = !walk.moves(1);
    walk.forEachRun(pool, [&](const std::array<std::int64_t, 2>& at, std::int64_t zAt, std::int64_t n) {
        loop(x + at[0], xRepeated, y + at[1], yRepeated, z + zAt, static_cast<std::size_t>(n));
        if (epilogue) epilogue->apply(zAt, n);
    });
}

/// A narrow float is computed as float.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, tensor::Half> || std::is_same_v<T, tensor::BFloat16>, float, T>;

template <typename T>
T powerOf(T base, T exponent) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::pow(base, exponent);
    } else {
        if (exponent < 0) return base == 1 ? T{1} : base == static_cast<T>(-1) ? (exponent % 2 ? base : T{1}) : T{0};
        using U = std::make_unsigned_t<T>;
        std::uint64_t result = 1, factor = static_cast<U>(base);
        for (std::uint64_t e = static_cast<U>(exponent); e; e >>= 1) {
            if (e & 1) result *= factor;
            factor *= factor;
        }
        return static_cast<T>(result);
    }
}

template <typename T>
T quotient(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return a / b;
    } else {
        if (b == 0) return 0;
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
        }
        return static_cast<T>(a / b);
    }
}

template <typename T>
T remainderC(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::fmod(a, b);
    } else {
        if (b == 0) return 0;
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return 0;
        }
        return static_cast<T>(a % b);
    }
}

template <typename T>
T remainderPython(T a, T b) {
    const T r = remainderC(a, b);
    return r != 0 && ((r < 0) != (b < 0)) ? static_cast<T>(r + b) : r;
}

/// Of floating point numbers as Python and PyTorch have it: the quotient that goes with the remainder, so that 1 // 0.1
/// is 9.
template <typename T>
T floorQuotient(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (b == 0) return a / b;
        const T rest = std::fmod(a, b);
        T quotient = (a - rest) / b;
        if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
        if (quotient == 0) return std::copysign(T{0}, a / b);
        const T whole = std::floor(quotient);
        return quotient - whole > T(0.5) ? whole + 1 : whole;
    } else {
        const T q = quotient(a, b);
        return b != 0 && remainderC(a, b) != 0 && ((a < 0) != (b < 0)) ? static_cast<T>(q - 1) : q;
    }
}

/// Wraps where a signed integer would overflow.
template <typename T, typename F>
T wrapping(T a, T b, F f) {
    if constexpr (std::is_floating_point_v<T>) {
        return f(a, b);
    } else {
        return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    }
}

template <typename T>
T evaluate(Arithmetic operation, T a, T b) {
    switch (operation) {
        case Arithmetic::Add: return wrapping(a, b, [](auto x, auto y) { return x + y; });
        case Arithmetic::Sub: return wrapping(a, b, [](auto x, auto y) { return x - y; });
        case Arithmetic::Mul: return wrapping(a, b, [](auto x, auto y) { return x * y; });
        case Arithmetic::Div: return quotient(a, b);
        case Arithmetic::Max: return isNaN(a) ? a : isNaN(b) ? b : a > b ? a : b;
        case Arithmetic::Min: return isNaN(a) ? a : isNaN(b) ? b : a < b ? a : b;
        case Arithmetic::Pow: return powerOf(a, b);
        case Arithmetic::Mod: return remainderPython(a, b);
        case Arithmetic::FMod: return remainderC(a, b);
        case Arithmetic::FloorDiv: return floorQuotient(a, b);
        case Arithmetic::Atan2: return static_cast<T>(std::atan2(static_cast<double>(a), static_cast<double>(b)));
    }
    return a;
}

template <typename T>
void zipNumbers(base::ThreadPool& pool, Arithmetic operation, const Tensor& a, const Tensor& b, Tensor& out) {
    using W = Wide<T>;
    zip<T, T>(pool, a, b, out, [operation](const T& x, const T& y) {
        return static_cast<T>(evaluate<W>(operation, static_cast<W>(x), static_cast<W>(y)));
    });
}

/// Tensors of one shape in pieces that stay in the cache.
void zipNarrowPieces(base::ThreadPool& pool, Binary operation, const Tensor& a, const Tensor& b, Tensor& out) {
    constexpr std::size_t kPiece = 1024, kGrain = 16384;
    const BinaryLoop loop = floatKernels().binary[static_cast<std::size_t>(operation)];
    const auto *const x = a.bytes(), *const y = b.bytes();
    auto* const z = out.mutableBytes();
    const std::size_t size = tensor::itemSize(a.dtype());
    pool.parallelFor(static_cast<std::size_t>(out.numel()), kGrain, [&](std::size_t begin, std::size_t end) {
        std::array<float, kPiece> left, right;
        for (std::size_t i = begin; i < end; i += kPiece) {
            const std::size_t n = std::min(kPiece, end - i);
            tensor::castElements(a.dtype(), x + i * size, DType::Float32, left.data(), n);
            tensor::castElements(b.dtype(), y + i * size, DType::Float32, right.data(), n);
            loop(left.data(), false, right.data(), false, left.data(), n);
            tensor::castElements(DType::Float32, left.data(), out.dtype(), z + i * size, n);
        }
    });
}

/// float16 and bfloat16 by the loops for float32, which round each result once more: as element by element.
base::Result<void> zipNarrow(base::ThreadPool& pool, Binary operation, const Tensor& a, const Tensor& b, Tensor& out) {
    if (a.shape() == b.shape() && a.isContiguous() && b.isContiguous()) {
        zipNarrowPieces(pool, operation, a, b, out);
        return {};
    }
    SONDE_ASSIGN(const Tensor x, a.cast(DType::Float32));
    SONDE_ASSIGN(const Tensor y, b.cast(DType::Float32));
    SONDE_ASSIGN(Tensor z, Tensor::allocate(DType::Float32, out.shape()));
    zipFloats(pool, operation, x, y, z);
    tensor::castElements(DType::Float32, z.bytes(), out.dtype(), out.mutableBytes(),
                         static_cast<std::size_t>(z.numel()));
    return {};
}

base::Result<void> arithmeticInto(base::ThreadPool& pool, Arithmetic operation, const Tensor& a, const Tensor& b,
                                  Tensor& out) {
    const std::optional<Binary> fast = fastOf(operation);
    if (fast && a.dtype() == DType::Float32) {
        zipFloats(pool, *fast, a, b, out);
        return {};
    }
    if (fast && isNarrow(a.dtype())) return zipNarrow(pool, *fast, a, b, out);
    if (tensor::dispatchNumbers(
            a.dtype(), [&](auto tag) { zipNumbers<typename decltype(tag)::type>(pool, operation, a, b, out); })) {
        return {};
    }
    if (a.dtype() == DType::Bool && (operation == Arithmetic::Add || operation == Arithmetic::Mul ||
                                     operation == Arithmetic::Max || operation == Arithmetic::Min)) {
        const bool either = operation == Arithmetic::Add || operation == Arithmetic::Max;
        zip<bool, bool>(pool, a, b, out, [either](bool x, bool y) { return either ? x || y : x && y; });
        return {};
    }
    const auto complexZip = [&](auto zero) {
        using T = decltype(zero);
        zip<T, T>(pool, a, b, out, [operation](const T& x, const T& y) -> T {
            switch (operation) {
                case Arithmetic::Add: return x + y;
                case Arithmetic::Sub: return x - y;
                case Arithmetic::Mul: return x * y;
                case Arithmetic::Div: return x / y;
                default: return std::pow(x, y);
            }
        });
    };
    const bool complexDefined = operation <= Arithmetic::Div || operation == Arithmetic::Pow;
    if (a.dtype() == DType::Complex64 && complexDefined) {
        complexZip(std::complex<float>{});
        return {};
    }
    if (a.dtype() == DType::Complex128 && complexDefined) {
        complexZip(std::complex<double>{});
        return {};
    }
    return base::runError("arithmetic is not defined for " + std::string(tensor::name(a.dtype())));
}

}  // namespace

base::Result<Tensor> arithmetic(KernelContext& context, Arithmetic operation, const Tensor& a, const Tensor& b,
                                std::size_t index) {
    SONDE_ASSIGN(const Shape shape, broadcast(a.shape(), b.shape()));
    SONDE_ASSIGN(Tensor out, context.output(index, a.dtype(), shape));
    SONDE_TRY(arithmeticInto(context.pool(), operation, a, b, out));
    return out;
}

base::Result<Tensor> arithmeticTensor(base::ThreadPool& pool, Arithmetic operation, const Tensor& a, const Tensor& b) {
    SONDE_ASSIGN(const Shape shape, broadcast(a.shape(), b.shape()));
    SONDE_ASSIGN(Tensor out, Tensor::allocate(a.dtype(), shape));
    SONDE_TRY(arithmeticInto(pool, operation, a, b, out));
    return out;
}

namespace {

template <typename T>
bool holds(Comparison operation, const T& x, const T& y) {
    switch (operation) {
        case Comparison::Equal: return x == y;
        case Comparison::NotEqual: return x != y;
        case Comparison::Less: return x < y;
        case Comparison::LessOrEqual: return x <= y;
        case Comparison::Greater: return x > y;
        case Comparison::GreaterOrEqual: return x >= y;
    }
    return false;
}

void compareStrings(base::ThreadPool& pool, Comparison operation, const Tensor& a, const Tensor& b, Tensor& out) {
    const BroadcastWalk<2> walk(out.shape(), {&a.shape(), &b.shape()});
    const auto x = a.strings(), y = b.strings();
    bool* z = out.mutableData<bool>();
    walk.forEachRun(pool, [&](const std::array<std::int64_t, 2>& at, std::int64_t zAt, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
            const std::string& p = x[static_cast<std::size_t>(at[0] + (walk.moves(0) ? i : 0))];
            const std::string& q = y[static_cast<std::size_t>(at[1] + (walk.moves(1) ? i : 0))];
            z[zAt + i] = holds(operation, p, q);
        }
    });
}

}  // namespace

base::Result<void> compare(KernelContext& context, Comparison operation, const Tensor& a, const Tensor& b) {
    SONDE_ASSIGN(const Shape shape, broadcast(a.shape(), b.shape()));
    SONDE_ASSIGN(Tensor out, context.output(DType::Bool, shape));
    if (a.dtype() == DType::String) {
        compareStrings(context.pool(), operation, a, b, out);
        return {};
    }
    const auto run = [&](auto tag) {
        using T = typename decltype(tag)::type;
        using W = Wide<T>;
        zip<T, bool>(context.pool(), a, b, out, [operation](const T& x, const T& y) {
            return holds<W>(operation, static_cast<W>(x), static_cast<W>(y));
        });
    };
    if (tensor::dispatchNumbers(a.dtype(), run)) return {};
    if (a.dtype() == DType::Bool) {
        run(tensor::TypeTag<bool>{});
        return {};
    }
    SONDE_ASSIGN(const Tensor x, a.cast(DType::Float64));
    SONDE_ASSIGN(const Tensor y, b.cast(DType::Float64));
    zip<double, bool>(context.pool(), x, y, out, [operation](double p, double q) { return holds(operation, p, q); });
    return {};
}

namespace {

template <typename T>
T bitsOf(Bitwise operation, T x, T y) {
    constexpr int kBits = std::numeric_limits<T>::digits + (std::is_signed_v<T> ? 1 : 0);
    using U = std::make_unsigned_t<T>;
    switch (operation) {
        case Bitwise::And: return static_cast<T>(x & y);
        case Bitwise::Or: return static_cast<T>(x | y);
        case Bitwise::Xor: return static_cast<T>(x ^ y);
        case Bitwise::ShiftLeft:
            return static_cast<U>(y) >= static_cast<U>(kBits)
                       ? T{0}
                       : static_cast<T>(static_cast<std::uint64_t>(static_cast<U>(x)) << y);
        case Bitwise::ShiftRight:
            return static_cast<U>(y) >= static_cast<U>(kBits) ? static_cast<T>(x < 0 ? -1 : 0) : static_cast<T>(x >> y);
    }
    return x;
}

}  // namespace

base::Result<void> bitwise(KernelContext& context, Bitwise operation, const Tensor& a, const Tensor& b) {
    SONDE_ASSIGN(const Shape shape, broadcast(a.shape(), b.shape()));
    SONDE_ASSIGN(Tensor out, context.output(a.dtype(), shape));
    if (a.dtype() == DType::Bool && operation <= Bitwise::Xor) {
        zip<bool, bool>(context.pool(), a, b, out, [operation](bool x, bool y) {
            return operation == Bitwise::And ? x && y : operation == Bitwise::Or ? x || y : x != y;
        });
        return {};
    }
    if (tensor::dispatchIntegers(a.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            zip<T, T>(context.pool(), a, b, out, [operation](T x, T y) { return bitsOf(operation, x, y); });
        })) {
        return {};
    }
    return base::runError("bit operations are not defined for " + std::string(tensor::name(a.dtype())));
}

base::Result<void> where(KernelContext& context, const Tensor& condition, const Tensor& a, const Tensor& b) {
    SONDE_ASSIGN(const Shape both, broadcast(a.shape(), b.shape()));
    SONDE_ASSIGN(const Shape shape, broadcast(both, condition.shape()));
    SONDE_ASSIGN(Tensor out, context.output(a.dtype(), shape));
    const BroadcastWalk<3> walk(shape, {&condition.shape(), &a.shape(), &b.shape()});
    const bool* c = condition.data<bool>();
    const std::int64_t steps[3] = {walk.moves(0), walk.moves(1), walk.moves(2)};
    const auto select = [&](const auto* x, const auto* y, auto* z) {
        walk.forEachRun(context.pool(), [&](const std::array<std::int64_t, 3>& at, std::int64_t zAt, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) {
                z[zAt + i] = c[at[0] + i * steps[0]] ? x[at[1] + i * steps[1]] : y[at[2] + i * steps[2]];
            }
        });
    };
    if (a.dtype() == DType::String) {
        select(a.strings().data(), b.strings().data(), out.mutableStrings().data());
        return {};
    }
    tensor::dispatchSize(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        select(a.data<T>(), b.data<T>(), out.mutableData<T>());
    });
    return {};
}

}  // namespace sonde::ops::kernels
