#include "core/ops/support/quantization.h"

#include <algorithm>
#include <cmath>

#include "core/ops/support/wide.h"

namespace sonde::ops {

std::optional<QuantizedRange> quantizedRange(DType dtype) {
    if (!tensor::isInteger(dtype)) return std::nullopt;
    const auto bits = static_cast<int>(tensor::bitsInFile(dtype));
    if (tensor::isSigned(dtype)) return QuantizedRange{-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
    return QuantizedRange{0, std::ldexp(1.0, bits) - 1};
}

bool isRepeatedInRows(const Shape& operand, const Shape& result) {
    for (std::size_t back = 1; back <= result.rank(); ++back) {
        if (result[result.rank() - back] == 1) continue;
        return back > operand.rank() || operand[operand.rank() - back] == 1;
    }
    return true;  // one element
}

double quantized(double ratio, double zero, const QuantizedRange& range) {
    return std::clamp(std::nearbyint(ratio) + zero, range.low, range.high);
}

base::Result<Tensor> centred(const Tensor& x, const Value& zero, std::int64_t axis) {
    SONDE_ASSIGN(const Tensor values, wide(x));
    SONDE_ASSIGN(Tensor result, values.clone());
    if (zero.isNone()) return result;
    const Tensor& z = zero.tensor();
    if (z.numel() == 1) {
        for (double& v : result.mutableSpan<double>()) v -= z.toDouble(0);
        return result;
    }
    SONDE_ASSIGN(const std::size_t at, axisOf(axis, x.rank()));
    if (z.numel() < x.dim(at) || z.numel() % std::max<std::int64_t>(x.dim(at), 1) != 0 || z.numel() > x.numel())
        return opError("zero point " + z.typeText() + " does not match " + x.typeText());
    std::int64_t inner = 1;
    for (std::size_t i = at + 1; i < x.rank(); ++i) inner *= x.dim(i);
    for (std::int64_t i = 0; i < x.numel(); ++i) result.mutableData<double>()[i] -= z.toDouble(i / inner % x.dim(at));
    return result;
}

}  // namespace sonde::ops
