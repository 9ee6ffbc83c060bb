#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/mapped_file.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/graph/missing_data.h"
#include "core/graph/module_tree.h"

namespace sonde::io {

/// What an ONNX file holds.
struct OnnxModel {
    graph::InternalGraph graph;
    graph::ModuleTree modules;
    std::vector<std::string> outputNames;                         ///< the file's, one for each of the graph's outputs
    std::vector<std::pair<std::string, std::string>> properties;  ///< "producer", "IR version", "opset" …
    base::Diagnostics diagnostics;
    graph::MissingFiles missing;  ///< with MissingData::Listed
};

/// What becomes of initializers in data files that cannot be opened.
enum class MissingData : std::uint8_t {
    Refused,  ///< the model cannot be read
    Listed,   ///< they are nodes without a value, and OnnxModel::missing has their names
};

/// Reads an ONNX model (github.com/onnx/onnx, docs/IR.md, onnx.proto of IR version 13).
/// Nodes have the names of the file's tensors (a name that an inner graph hides gets a suffix "~2"), exprs those of its
/// nodes. Initializers become Constant exprs with isParameter, lying in the mapped file where alignment allows.
/// Subgraphs become bodies; functions of the model are unfolded where they are called, each call in a scope of its own.
/// Operators are taken as they are, known or not. Errors name the node or the byte offset.
base::Result<OnnxModel> readOnnx(std::shared_ptr<const base::MappedFile> file, const base::WorkContext& work = {},
                                 MissingData missing = MissingData::Refused);

/// True if the beginning of a file reads as an ONNX model.
bool looksLikeOnnx(std::span<const std::byte> head, std::size_t fileSizeBytes);

}  // namespace sonde::io
