#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

// Whole tensors between quantised and real numbers: real = (quantised − zero point)·scale.

inline bool isByte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }
/// The elements of a contiguous tensor of int8 or uint8.
inline const std::uint8_t* bytesOf(const Tensor& x) { return reinterpret_cast<const std::uint8_t*>(x.bytes()); }
inline std::uint8_t* mutableBytesOf(Tensor& x) { return reinterpret_cast<std::uint8_t*>(x.mutableBytes()); }

/// Zero points as a tensor has them; {0} where there are none.
std::vector<std::int32_t> zeroPoints(const Value& zeros);

/// round(x / scale) + zero, clipped, for float32 x and a target of int8 or uint8. False if some x or x / scale is NaN:
/// then the target is not to be used. The scale goes with the whole stretch.
bool quantiseBytes(std::span<const float> x, float scale, std::int32_t zero, DType to, std::uint8_t* target,
                   base::ThreadPool& pool);
/// (x − zero)·scale.
void dequantiseBytes(const std::uint8_t* x, DType from, std::int32_t zero, float scale, std::span<float> target,
                     base::ThreadPool& pool);

/// Extends low and high to the numbers of x.
void extendRange(std::span<const float> x, float& low, float& high);
/// a + b or a · b of quantised tensors, broadcast, in the order of float32 operations that ONNX Runtime has: a sum is
/// rounded twice, what is repeated along rows being added first (isRepeatedInRows), else b. Nothing where types are
/// others or a number is NaN. Errors: shapes, scales.
struct QuantizedOperand {
    const Tensor &values, &scale;
    const Value& zero;
};
base::Result<std::optional<Tensor>> quantizedBinary(KernelContext& context, bool isSum, const QuantizedOperand& a,
                                                    const QuantizedOperand& b, const Tensor& scale, const Value& zero);

/// Where sums of products are quantised again, with what is known of the result's bytes.
Requantisation requantisationTo(DType to, std::int32_t zero);
void requantiseBytes(const std::int32_t* sums, const Requantisation& by, std::uint8_t* y, std::int64_t count);

/// (x − zero point)·scale in float32 with one scale and zero point (None: 0) for all.
base::Result<Tensor> dequantized(const Tensor& x, const Tensor& scale, const Value& zero, base::ThreadPool& pool);
/// The float32 tensor in the dtype, with one scale and zero point (None: 0): round(x/scale) + zero point.
base::Result<Tensor> quantizedTo(const Tensor& x, const Tensor& scale, const Value& zero, DType dtype,
                                 base::ThreadPool& pool);

}  // namespace sonde::ops::kernels
