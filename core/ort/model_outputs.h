#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::ort {

/// An ONNX model each of whose values is an output.
struct OpenModel {
    /// The bytes of the model and, after them, the outputs that it lacks: a message that follows another one in
    /// protobuf adds to it (protobuf.dev/programming-guides/encoding, "Last One Wins").
    std::string bytes;
    std::vector<std::string> inputs;   ///< names, without those that have an initializer
    std::vector<std::string> outputs;  ///< the model's own
    std::vector<std::string> values;   ///< what the nodes of the main graph make, in their order, with the outputs
    /// For each node of the main graph what ONNX Runtime calls it in its profile, and its first output.
    std::vector<std::pair<std::string, std::string>> operations;
};

/// Errors (Unreadable): the bytes are no ONNX model.
base::Result<OpenModel> withAllOutputs(std::string_view model);

}  // namespace sonde::ort
