#include "core/ops/kernels/quantized_values.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "core/ops/support/quantization.h"

namespace sonde::ops::kernels {

namespace {

constexpr std::size_t kPiece = 16384;

base::Result<double> zeroOf(const Tensor& scale, const Value& zero) {
    if (scale.numel() != 1 || (zero.isTensor() && zero.tensor().numel() != 1))
        return opError("expected one scale and one zero point for all, but found " + scale.typeText());
    return zero.isTensor() ? zero.tensor().toDouble(0) : 0.0;
}

}  // namespace

Requantisation requantisationTo(DType to, std::int32_t zero) {
    const QuantizedRange range = *quantizedRange(to);
    Requantisation result;
    result.low = static_cast<float>(range.low - zero), result.high = static_cast<float>(range.high - zero);
    result.zero = zero;
    return result;
}

void requantiseBytes(const std::int32_t* sums, const Requantisation& by, std::uint8_t* y, std::int64_t count) {
    floatKernels().quantized.requantise(sums, by, y, static_cast<std::size_t>(count));
}

void requantiseBytes(const float* sums, const Requantisation& by, std::uint8_t* y, std::int64_t count) {
    floatKernels().quantized.requantiseFloats(sums, by, y, static_cast<std::size_t>(count));
}

bool quantiseBytes(std::span<const float> x, float scale, std::int32_t zero, DType to, std::uint8_t* target,
                   base::ThreadPool& pool) {
    const Requantisation bounds = requantisationTo(to, zero);
    const Quantisation by{scale, bounds.low, bounds.high, zero};
    std::atomic<bool> isNumber{true};
    pool.parallelFor(x.size(), kPiece, [&](std::size_t begin, std::size_t end) {
        if (!floatKernels().quantized.quantise(x.data() + begin, by, target + begin, end - begin))
            isNumber.store(false, std::memory_order_relaxed);
    });
    return isNumber.load(std::memory_order_relaxed);
}

void dequantiseBytes(const std::uint8_t* x, DType from, std::int32_t zero, float scale, std::span<float> target,
                     base::ThreadPool& pool) {
    pool.parallelFor(target.size(), kPiece, [&](std::size_t begin, std::size_t end) {
        floatKernels().quantized.dequantise(x + begin, from == DType::Int8, static_cast<float>(zero), scale,
                                            target.data() + begin, end - begin);
    });
}

void extendRange(std::span<const float> x, float& low, float& high) {
    floatKernels().quantized.range(x.data(), &low, &high, x.size());
}

std::optional<base::Result<Tensor>> quantizedBinary(KernelContext& context, Binary operation, const QuantizedOperand& a,
                                                    const QuantizedOperand& b, const Tensor& scale, const Value& zero) {
    const DType dtype = a.values.dtype();
    if (!isByte(dtype) || b.values.dtype() != dtype || a.values.shape() != b.values.shape()) return std::nullopt;
    if (!a.values.isContiguous() || !b.values.isContiguous()) return std::nullopt;
    const auto zeroA = zeroOf(a.scale, a.zero), zeroB = zeroOf(b.scale, b.zero), zeroY = zeroOf(scale, zero);
    if (!zeroA || !zeroB || !zeroY) return std::nullopt;
    base::Result<Tensor> y = context.output(dtype, a.values.shape());
    if (!y) return y;
    const Requantisation bounds = requantisationTo(dtype, static_cast<std::int32_t>(*zeroY));
    const Quantisation by{static_cast<float>(scale.toDouble(0)), bounds.low, bounds.high, bounds.zero};
    const auto scaleA = static_cast<float>(a.scale.toDouble(0)), scaleB = static_cast<float>(b.scale.toDouble(0));
    const bool isSigned = dtype == DType::Int8;
    const FloatKernels& loops = floatKernels();
    std::uint8_t* const target = mutableBytesOf(*y);
    std::atomic<bool> isNumber{true};
    const auto count = static_cast<std::size_t>(a.values.numel());
    context.pool().parallelFor(count, kPiece, [&](std::size_t begin, std::size_t end) {
        constexpr std::size_t kBlock = 1024;
        std::array<float, kBlock> left, right;
        for (std::size_t i = begin; i < end; i += kBlock) {
            const std::size_t n = std::min(kBlock, end - i);
            loops.quantized.dequantise(bytesOf(a.values) + i, isSigned, static_cast<float>(*zeroA), scaleA, left.data(),
                                       n);
            loops.quantized.dequantise(bytesOf(b.values) + i, isSigned, static_cast<float>(*zeroB), scaleB,
                                       right.data(), n);
            loops.binary[static_cast<std::size_t>(operation)](left.data(), false, right.data(), false, left.data(), n);
            if (!loops.quantized.quantise(left.data(), by, target + i, n))
                isNumber.store(false, std::memory_order_relaxed);
        }
    });
    if (!isNumber.load(std::memory_order_relaxed)) return std::nullopt;
    return y;
}

base::Result<Tensor> dequantized(const Tensor& x, const Tensor& scale, const Value& zero, base::ThreadPool& pool) {
    SONDE_ASSIGN(const double z, zeroOf(scale, zero));
    SONDE_ASSIGN(const Tensor values, x.contiguous());
    SONDE_ASSIGN(Tensor y, Tensor::allocate(DType::Float32, x.shape()));
    const auto factor = static_cast<float>(scale.toDouble(0)), offset = static_cast<float>(z);
    if (isByte(x.dtype())) {
        dequantiseBytes(bytesOf(values), x.dtype(), static_cast<std::int32_t>(z), factor, y.mutableSpan<float>(), pool);
        return y;
    }
    SONDE_ASSIGN(const Tensor real, values.cast(DType::Float32));
    for (std::int64_t i = 0; i < y.numel(); ++i) y.mutableData<float>()[i] = (real.data<float>()[i] - offset) * factor;
    return y;
}

base::Result<Tensor> quantizedTo(const Tensor& x, const Tensor& scale, const Value& zero, DType dtype,
                                 base::ThreadPool& pool) {
    SONDE_ASSIGN(const double z, zeroOf(scale, zero));
    const std::optional<QuantizedRange> range = quantizedRange(dtype);
    if (!range) return opError("cannot quantise to " + std::string(tensor::name(dtype)));
    const auto divisor = static_cast<float>(scale.toDouble(0));
    if (isByte(dtype)) {
        SONDE_ASSIGN(Tensor bytes, Tensor::allocate(dtype, x.shape()));
        if (quantiseBytes(x.span<float>(), divisor, static_cast<std::int32_t>(z), dtype, mutableBytesOf(bytes), pool))
            return bytes;
    }
    SONDE_ASSIGN(Tensor y, Tensor::allocate(DType::Float32, x.shape()));
    for (std::int64_t i = 0; i < y.numel(); ++i) {
        y.mutableData<float>()[i] =
            static_cast<float>(quantized(static_cast<double>(x.data<float>()[i] / divisor), z, *range));
    }
    return y.cast(dtype);
}

}  // namespace sonde::ops::kernels
