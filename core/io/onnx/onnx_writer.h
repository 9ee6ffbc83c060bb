#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/mapped_file.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::io {

/// Who wrote the file, as it says itself.
inline constexpr std::string_view kOnnxProducer = "sonde";

struct OnnxWriteOptions {
    std::int64_t irVersion = 10;  ///< raised where a dtype needs a newer one
    bool keepModules = true;      ///< qualnames and classes as node metadata, in the form of torch's exporter
    /// Weights of at least this many bytes go into FILE.data beside the model when all of them together are larger than
    /// `inlineLimitBytes` (a protobuf message may have 2 GiB).
    std::int64_t externalFromBytes = 1024;
    std::int64_t inlineLimitBytes = std::int64_t{1} << 30;
    /// Files that weights are read from: should one change meanwhile, that is an error and no file is left.
    base::MappedFiles sources;
};

/// Saves a graph whose operators are ONNX's (or of any ONNX domain) as a valid ONNX file: names, attributes, subgraphs,
/// weights, opset imports, and the modules that the nodes came from. Reading it gives the same graph; the same graph
/// gives the same bytes. Errors (Usage): exprs that are no operators (calls with a body, opaque calls, tracer-only
/// operators of domain aten), all of them counted and the first named; one domain in two versions. Errors (Run): the
/// file cannot be written.
base::Result<void> writeOnnx(const std::filesystem::path& path, const graph::InternalGraph& graph,
                             const OnnxWriteOptions& options = {}, const base::WorkContext& work = {});

}  // namespace sonde::io
