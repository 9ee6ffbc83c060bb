#include <algorithm>
#include <array>
#include <type_traits>

#include "core/ops/kernels/elementwise.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/numbers.h"
#include "core/tensor/cast.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops::kernels {

namespace {

constexpr std::size_t kUnaryGrain = 16384;

template <typename T, typename F>
void mapAll(KernelContext& context, const Tensor& x, Tensor& y, F f) {
    const T* in = x.data<T>();
    T* out = y.mutableData<T>();
    context.pool().parallelFor(static_cast<std::size_t>(x.numel()), kUnaryGrain,
                               [&](std::size_t begin, std::size_t end) {
                                   for (std::size_t i = begin; i < end; ++i) out[i] = f(in[i]);
                               });
}

/// float16 and bfloat16 by a loop for float32, whose results are rounded, in pieces that stay in the cache.
void mapNarrow(KernelContext& context, UnaryLoop loop, const Tensor& x, Tensor& y, float a, float b) {
    constexpr std::size_t kPiece = 2048;
    const auto* const in = reinterpret_cast<const std::uint16_t*>(x.bytes());
    auto* const out = reinterpret_cast<std::uint16_t*>(y.mutableBytes());
    context.pool().parallelFor(static_cast<std::size_t>(x.numel()), kUnaryGrain,
                               [&](std::size_t begin, std::size_t end) {
                                   std::array<float, kPiece> piece;
                                   for (std::size_t i = begin; i < end; i += kPiece) {
                                       const std::size_t n = std::min(kPiece, end - i);
                                       tensor::castElements(x.dtype(), in + i, DType::Float32, piece.data(), n);
                                       loop(piece.data(), piece.data(), n, a, b);
                                       tensor::castElements(DType::Float32, piece.data(), y.dtype(), out + i, n);
                                   }
                               });
}

}  // namespace

base::Result<void> applyUnary(KernelContext& context, const UnaryFunction& function, const Tensor& x, double a,
                              double b) {
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), x.shape()));
    if (x.dtype() == DType::Float32 && function.fast) {
        const UnaryLoop loop = floatKernels().unary[static_cast<std::size_t>(*function.fast)];
        const float* in = x.data<float>();
        float* out = y.mutableData<float>();
        const Epilogue* epilogue = Epilogue::of(y);
        context.pool().parallelFor(
            static_cast<std::size_t>(x.numel()), kUnaryGrain, [&](std::size_t begin, std::size_t end) {
                loop(in + begin, out + begin, end - begin, static_cast<float>(a), static_cast<float>(b));
                if (epilogue) epilogue->apply(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end - begin));
            });
        return {};
    }
    if (isNarrow(x.dtype()) && function.fast) {
        mapNarrow(context, floatKernels().unary[static_cast<std::size_t>(*function.fast)], x, y, static_cast<float>(a),
                  static_cast<float>(b));
        return {};
    }
    bool done = false;
    if (function.real) {
        done = tensor::dispatchFloating(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            mapAll<T>(context, x, y, [&](T v) {
                return static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(
                    function.real(static_cast<double>(v), a, b)));
            });
        });
    }
    if (!done && function.whole) {
        done = tensor::dispatchIntegers(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            mapAll<T>(context, x, y, [&](T v) { return static_cast<T>(function.whole(static_cast<std::int64_t>(v))); });
        });
    }
    if (!done) return base::runError("is not defined for " + std::string(tensor::name(x.dtype())));
    return {};
}

}  // namespace sonde::ops::kernels
