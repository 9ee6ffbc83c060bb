#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::io::onnx {

/// Key in NodeProto.metadata_props of operations that do an edit (graph::editedNodeOf()): the value is the edited node.
/// In TensorProto.metadata_props of weights that have an edit (graph::editedWeightOf()): the value is the weight's
/// name.
inline constexpr std::string_view kEditKey = "sonde.edit";

/// The fields metadata_props.
inline constexpr std::uint32_t kNodeMetadata = 9, kTensorMetadata = 16;

}  // namespace sonde::io::onnx
