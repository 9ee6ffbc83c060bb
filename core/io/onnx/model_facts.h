#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mapped_file.h"

namespace sonde::io {

/// What an ONNX file says of itself beside its graph (onnx.proto, ModelProto).
struct OnnxFacts {
    std::string producer, producerVersion, domain, documentation;
    std::int64_t irVersion = 0, modelVersion = 0;
    std::vector<std::pair<std::string, std::int64_t>> opsets;   ///< "ai.onnx", 16
    std::vector<std::pair<std::string, std::string>> metadata;  ///< metadata_props, in the file's order
    std::vector<std::string> functions;                         ///< of the model: "custom::Swish"
    /// Initializers that are inputs of the graph too, so that whoever runs it may give another value. Before IR version
    /// 4 every initializer had to be listed, and was none.
    std::vector<std::string> defaults;
    /// doc_string of graphs, nodes, inputs, outputs, initializers and functions, where there is one: "node 'conv1'" and
    /// its text.
    std::vector<std::pair<std::string, std::string>> docStrings;
};

/// Reads these fields and nothing else. Of a damaged file what is before the damage.
OnnxFacts onnxFacts(const base::MappedFile& file);

}  // namespace sonde::io
