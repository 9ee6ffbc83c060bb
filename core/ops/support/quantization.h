#pragma once

#include <optional>

#include "core/ops/support/shapes.h"

namespace sonde::ops {

// Quantised tensors: real = (quantised − zero point)·scale.

inline constexpr DTypeSet kBytes = bit(DType::Int8) | bit(DType::UInt8);

struct QuantizedRange {
    double low, high;
};
/// One scale and zero point for a whole tensor.
struct QuantizedScale {
    float scale = 1;
    std::int32_t zero = 0;
};
/// Whether an operand of a result of `result` has one element for each of its rows, along the innermost axis that has
/// several: ONNX Runtime treats such an operand of a pair in a way of its own.
bool isRepeatedInRows(const Shape& operand, const Shape& result);

/// The numbers that an integer dtype holds; nothing for other dtypes.
std::optional<QuantizedRange> quantizedRange(DType dtype);
/// The nearest integer (halves to the even one) plus the zero point, held inside the range.
double quantized(double ratio, double zero, const QuantizedRange& range);

/// x − zero point as float64, exactly; None is 0; a zero point with several elements goes along `axis`.
base::Result<Tensor> centred(const Tensor& x, const Value& zero, std::int64_t axis);

}  // namespace sonde::ops
