#pragma once

#include <memory>

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/tensor/type_info.h"
#include "core/tensor/value.h"

namespace sonde::io {

/// Reads a value from a file of its own (test data of ONNX: a TensorProto, SequenceProto or OptionalProto of
/// onnx.proto). The file does not say which message it holds: that follows from the type of the graph's input or
/// output.
base::Result<tensor::Value> readOnnxValue(std::shared_ptr<const base::MappedFile> file, const tensor::TypeInfo& type);

}  // namespace sonde::io
