#pragma once

#include "core/base/result.h"
#include "core/io/onnx/proto.h"
#include "core/io/onnx/tensor_proto.h"
#include "core/tensor/attribute.h"

namespace sonde::io::onnx {

/// The value of an attribute that holds no graph. Error for a kind that is not known.
base::Result<tensor::AttributeValue> attributeValue(Wire& wire, TensorReader& tensors, const AttributeProto& attribute);

/// The value that a Constant operator makes, from whichever of its attributes is set (ONNX Constant: value,
/// sparse_value, value_float, value_floats, value_int, value_ints, value_string, value_strings); none if it has none of
/// them.
std::optional<tensor::Tensor> constantValue(const tensor::Attributes& attributes);

}  // namespace sonde::io::onnx
