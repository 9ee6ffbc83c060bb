#pragma once

#include <cstdint>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// What an operator takes a stored tensor for, by the position of its input.
enum class WeightPosition : std::uint8_t {
    None,              ///< a shape, an axis, a limit, a scale of quantisation, a mask: never trained
    Weight,            ///< kernels, matrices, biases, scales of a normalisation
    Embedding,         ///< rows that are looked up: a weight if it has two dimensions or more
    Quantized,         ///< a weight that is stored as integers
    Statistic,         ///< running mean and variance: a buffer
    ChannelStatistic,  ///< subtracted or divided by: a statistic if it is one number for each channel, else as Operand
    Affine,            ///< added or multiplied: bias and scale where an operator has no input for them
    Operand,  ///< any other operand: trained if the file lists it among its weights (class tokens, position embeddings)
    Through,  ///< passed on as it is: what is made of it decides
};

/// What `expr` takes its input `index` for; `name` is the keyword of one that is not given by position, else empty. One
/// table for all operators (operators::Traits::inputs); inputs of operators that it does not list are operands.
WeightPosition weightPosition(const graph::Expr& expr, std::size_t index, std::string_view name = {});

/// How many weights `elements` stored ones are at input `index`: operators with weights of few bits pack several into a
/// byte, and pad them to whole blocks. `dtype` is that of the stored tensor.
std::int64_t weightsIn(const graph::Expr& expr, std::size_t index, tensor::DType dtype, std::int64_t elements);

/// Whether the model file holds the value of `expr`.
inline bool isStored(const graph::Expr& expr) {
    return expr.kind == graph::ExprKind::Constant || expr.kind == graph::ExprKind::GetAttr;
}

}  // namespace sonde::analysis
