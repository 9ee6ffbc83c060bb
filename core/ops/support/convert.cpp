#include "core/ops/support/convert.h"

#include <algorithm>
#include <cmath>

#include "core/ops/support/shapes.h"
#include "core/tensor/cast.h"

namespace sonde::ops {

namespace {

/// 2^e with e rounded as asked; the bits are e + 127.
std::uint8_t e8m0Bits(float value, const CastOptions& options) {
    if (!(value > 0) || std::isinf(value) || options.roundMode == "nearest")
        return tensor::floatToNarrow(DType::Float8E8M0, value, options.saturate);
    int exponent = 0;
    const float fraction = std::frexp(value, &exponent);  // value = fraction · 2^exponent, fraction in [0.5, 1)
    const int rounded = options.roundMode == "up" && fraction > 0.5F ? exponent : exponent - 1;
    if (rounded > 127) return options.saturate ? 0xfe : 0xff;
    return static_cast<std::uint8_t>(std::max(rounded, -127) + 127);
}

}  // namespace

base::Result<void> convertTo(KernelContext& context, const Tensor& x, DType to, const CastOptions& options) {
    if (x.dtype() == to) {
        context.setOutput(Value(x));
        return {};
    }
    if (x.dtype() == DType::String || to == DType::String) {
        SONDE_ASSIGN(Tensor result, x.cast(to));
        context.setOutput(Value(std::move(result)));
        return {};
    }
    SONDE_ASSIGN(Tensor out, context.output(to, x.shape()));
    if (to == DType::Float8E8M0) {
        SONDE_ASSIGN(const Tensor wide, x.cast(DType::Float32));
        for (std::int64_t i = 0; i < x.numel(); ++i)
            out.mutableData<std::uint8_t>()[i] = e8m0Bits(wide.data<float>()[i], options);
        return {};
    }
    const std::size_t from = tensor::itemSize(x.dtype()), into = tensor::itemSize(to);
    context.pool().parallelFor(static_cast<std::size_t>(x.numel()), 16384, [&](std::size_t begin, std::size_t end) {
        tensor::castElements(x.dtype(), x.bytes() + begin * from, to, out.mutableBytes() + begin * into, end - begin,
                             options.saturate);
    });
    return {};
}

}  // namespace sonde::ops
