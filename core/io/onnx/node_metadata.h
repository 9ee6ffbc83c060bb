#pragma once

#include <string_view>

namespace sonde::io::onnx {

/// Key in NodeProto.metadata_props of operations that do an edit (graph::editedNodeOf()): the value is the edited node.
inline constexpr std::string_view kEditKey = "sonde.edit";

}  // namespace sonde::io::onnx
