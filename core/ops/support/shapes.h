#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

using Dims = std::vector<tensor::Dim>;

base::Error opError(std::string what);

/// The axis counted from 0, or an Error that names it.
base::Result<std::size_t> axisOf(std::int64_t axis, std::size_t rank);
base::Result<std::vector<std::size_t>> axesOf(const std::vector<std::int64_t>& axes, std::size_t rank);

/// Integers held by a tensor of any integer dtype (a scalar or 1-D), or by a list of ints, or a single int.
base::Result<std::vector<std::int64_t>> intsOf(const Value& value);
/// One number of a tensor with one element, or a number.
base::Result<double> numberOf(const Value& value);
base::Result<std::int64_t> intOf(const Value& value);

base::Result<Shape> broadcast(const Shape& a, const Shape& b);
/// The same with unknown dimensions: unknown against 1 stays unknown, against a larger number is that number. Of two
/// symbols it is the larger one.
base::Result<Dims> broadcastDims(const Dims& a, const Dims& b);

/// A request of dimensions as inference knows it: what is negative or open stays unknown.
Dims dimsOf(const Elements& elements);
/// As many unknown dimensions as a 1-D input has elements; nothing if that is not known or absurd.
std::optional<Dims> unknownDimsFrom(const TypeInfo& request);

/// The product of dimensions if all are known.
std::optional<std::int64_t> knownProduct(const Dims& dims);
Dims dimsOf(const Shape& shape);
/// Dimensions as numbers, -1 where not known.
std::vector<std::int64_t> dimSizesOf(const Dims& dims);
/// An unknown number of dimensions of `rank`.
Dims unknownDims(std::size_t rank);

// Inference that many operators share.
base::Result<void> inferSame(InferContext& context);           ///< output 0 is like input 0
base::Result<void> inferBroadcast(InferContext& context);      ///< all inputs broadcast; dtype of input 0
base::Result<void> inferBroadcastBool(InferContext& context);  ///< the same with bool as result
/// Sets an output to the dtype of input `like` with the given shape.
void setLike(InferContext& context, Name like, std::optional<Dims> shape, std::size_t output = 0);

}  // namespace sonde::ops
