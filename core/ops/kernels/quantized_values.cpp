#include "core/ops/kernels/quantized_values.h"

#include <algorithm>
#include <atomic>
#include <cmath>

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

std::vector<std::int32_t> zeroPoints(const Value& zeros) {
    if (!zeros.isTensor()) return {0};
    std::vector<std::int32_t> result;
    for (std::int64_t i = 0; i < zeros.tensor().numel(); ++i)
        result.push_back(static_cast<std::int32_t>(zeros.tensor().toDouble(i)));
    return result;
}

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

namespace {

/// x + y or x * y with one scale and zero point each. Of a sum, y is what is added first.
QuantizedPair quantizedPair(bool isSum, const QuantizedScale& x, const QuantizedScale& y,
                            const QuantizedScale& result) {
    QuantizedPair by;
    if (isSum) {
        by.ratioX = x.scale / result.scale, by.ratioY = y.scale / result.scale;
        const float zeros = std::fma(by.ratioX, static_cast<float>(x.zero), by.ratioY * static_cast<float>(y.zero));
        by.shift = static_cast<float>(result.zero) - zeros;
    } else {
        by.ratioX = x.scale * y.scale / result.scale;
        by.zeroX = x.zero, by.zeroY = y.zero;
        by.shift = static_cast<float>(result.zero);
    }
    return by;
}

base::Result<QuantizedScale> scaleOf(const Tensor& scale, const Value& zero) {
    SONDE_ASSIGN(const double z, zeroOf(scale, zero));
    return QuantizedScale{static_cast<float>(scale.toDouble(0)), static_cast<std::int32_t>(z)};
}

}  // namespace

base::Result<std::optional<Tensor>> quantizedBinary(KernelContext& context, bool isSum, const QuantizedOperand& a,
                                                    const QuantizedOperand& b, const Tensor& scale, const Value& zero) {
    const DType dtype = a.values.dtype();
    if (!isByte(dtype) || b.values.dtype() != dtype) return std::optional<Tensor>();
    const std::optional<Shape> broadcast = tensor::broadcastShapes(a.values.shape(), b.values.shape());
    if (!broadcast) return opError(a.values.typeText() + " and " + b.values.typeText() + " do not match");
    const Shape& shape = *broadcast;
    SONDE_ASSIGN(const QuantizedScale scaleA, scaleOf(a.scale, a.zero));
    SONDE_ASSIGN(const QuantizedScale scaleB, scaleOf(b.scale, b.zero));
    SONDE_ASSIGN(const QuantizedScale scaleY, scaleOf(scale, zero));
    SONDE_ASSIGN(const Tensor wideA, a.values.expanded(shape));
    SONDE_ASSIGN(const Tensor wideB, b.values.expanded(shape));
    SONDE_ASSIGN(const Tensor left, wideA.contiguous());
    SONDE_ASSIGN(const Tensor right, wideB.contiguous());
    SONDE_ASSIGN(Tensor y, context.output(dtype, shape));
    const bool turns = isSum && isRepeatedInRows(a.values.shape(), shape);
    QuantizedPair by =
        turns ? quantizedPair(isSum, scaleB, scaleA, scaleY) : quantizedPair(isSum, scaleA, scaleB, scaleY);
    const QuantizedRange range = *quantizedRange(dtype);
    by.low = static_cast<float>(range.low), by.high = static_cast<float>(range.high);
    const auto loop = isSum ? floatKernels().quantized.add : floatKernels().quantized.multiply;
    const std::uint8_t *const first = bytesOf(turns ? right : left), *const second = bytesOf(turns ? left : right);
    std::uint8_t* const target = mutableBytesOf(y);
    std::atomic<bool> isNumber{true};
    context.pool().parallelFor(
        static_cast<std::size_t>(shape.numel()), kPiece, [&](std::size_t begin, std::size_t end) {
            if (!loop(first + begin, second + begin, dtype == DType::Int8, by, target + begin, end - begin))
                isNumber.store(false, std::memory_order_relaxed);
        });
    if (!isNumber.load(std::memory_order_relaxed)) return std::optional<Tensor>();
    return std::optional<Tensor>(std::move(y));
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
