#pragma once

#include <string>

#include "core/ops/support/eager.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/quantization.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

// What the operators of com.microsoft share (docs/ContribOperators.md of ONNX Runtime says what each does).

/// A row of that domain; there is only version 1.
inline Row contribRow(std::string_view name, std::string_view summary, Category category) {
    Row row(name, 1, summary, category);
    row.domain("com.microsoft");
    return row;
}

inline constexpr DTypeSet kContribFloats = bit(DType::Float16) | bit(DType::BFloat16) | bit(DType::Float32);
inline constexpr DTypeSet kInt32 = bit(DType::Int32);
inline constexpr DTypeSet kInt4s = bit(DType::Int4) | bit(DType::UInt4);

/// Half precision as float32: what is a sum of several operators rounds once, at the end.
inline Tensor widened(const Eager& e, const Tensor& x) {
    return itemSize(x.dtype()) == 2 && tensor::isFloating(x.dtype()) ? e.as(x, DType::Float32) : x;
}
inline Tensor widened(const Eager& e, Name input) { return widened(e, e.tensor(input)); }

/// Number `i` of a row of packed numbers of 2, 4 or 8 bits, the first in the lowest bits.
inline std::uint32_t packedNumber(const std::uint8_t* row, std::int64_t i, std::int64_t bits) {
    const std::int64_t perByte = 8 / bits;
    return (row[i / perByte] >> (i % perByte * bits)) & ((1U << bits) - 1);
}

/// f(x) for the activations that fused operators name (Relu, LeakyRelu, Clip …). Parameters by their ONNX names.
inline Tensor activated(Eager& e, const Tensor& x, const std::string& name, const Attributes& parameters) {
    if (name.empty()) return x;
    for (std::string_view known : {"Relu", "LeakyRelu", "Tanh", "Sigmoid", "HardSigmoid", "Elu", "Selu", "Softplus",
                                   "Softsign", "ThresholdedRelu", "Gelu", "HardSwish"}) {
        if (name == known) return e.onnx(name, {Value(x)}, parameters);
    }
    e.fail("activation '" + name + "' is not supported");
}

}  // namespace sonde::ops
