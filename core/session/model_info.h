#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/model_cost.h"
#include "core/analysis/model_structure.h"
#include "core/analysis/model_summary.h"
#include "core/analysis/parameters.h"
#include "core/analysis/receptive_field.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"

namespace sonde::session {

/// A file that a model was read from.
struct ModelFile {
    std::string path;
    std::uint64_t bytes = 0;
    std::string sha256;  ///< empty: not asked for
};

/// What the file says of itself.
struct FileFacts {
    std::string path, format;                                   ///< as given: "zoo:resnet18"; "ONNX"
    std::optional<ModelFile> file;                              ///< none of a built-in model
    std::vector<ModelFile> external;                            ///< further files that it has data in
    std::string producer;                                       ///< "pytorch 1.13.0"; empty: the file does not say
    std::vector<std::pair<std::string, std::int64_t>> opsets;   ///< "ai.onnx", 16
    std::vector<std::pair<std::string, std::string>> metadata;  ///< what the file's author added
    std::vector<std::string> functions;                         ///< that the file defines: "custom::Swish"
    std::vector<std::string> defaults;                          ///< stored tensors that a caller may give instead
    /// doc_string of graphs, nodes, inputs, outputs and functions of ONNX: "node 'conv1'" and its text.
    std::vector<std::pair<std::string, std::string>> docStrings;
    /// All else, as Document::properties has it: "IR version".
    std::vector<std::pair<std::string, std::string>> properties;
};

/// Bytes of stored tensors by element type.
struct DTypeBytes {
    tensor::DType dtype = tensor::DType::Undefined;
    std::int64_t tensors = 0, elements = 0, bytes = 0;
};

/// All that is said of a model without looking at its values: the model summary of the verb, the window and reports.
struct ModelInfo {
    FileFacts file;
    analysis::ModelCounts counts;
    std::vector<DTypeBytes> byDType;  ///< parameters, buffers and constants; most bytes first
    analysis::ModelSummary summary;
    analysis::ModelStructure structure;
    /// That the model leaves open, with the sizes in the graph that the cost is of.
    std::vector<analysis::DynamicDimension> dimensions;
    analysis::ModelCost cost;
    analysis::ReceptiveFields fields;  ///< of the same graph
    /// What the cost is for: "symbolic", "the given input", "a run on the given input", "what can be told without the
    /// sizes of x".
    std::string costBasis;
    std::vector<std::string> notes;  ///< why less is known than there could be: a run that failed
    /// The graph whose types the cost is of: the document's, or one with the types of the input.
    std::shared_ptr<const graph::InternalGraph> graph;
};

/// A parameter under several names, which counts once.
bool isTiedParameter(const analysis::StoredTensor& tensor);
/// No operation reads it. Buffers are not meant: a model may keep them for training alone.
bool isUnusedTensor(const analysis::StoredTensor& tensor);

struct ModelInfoRequest {
    /// Values in the order of Document::inputs that the cost is for; empty: it is symbolic in what the file leaves
    /// open. Where shapes do not tell the cost (NonZero, branches, loops), the model runs once.
    std::vector<tensor::Value> inputs;
    std::string inputsAre = "the given input";  ///< what these are, for ModelInfo::costBasis
    std::uint64_t seed = 0;
    std::size_t threads = 0;
    /// The document's graph with the types that a run gave: the cost is for these. Nothing runs.
    std::shared_ptr<const graph::InternalGraph> typed = {};
    bool hashes = true;  ///< SHA-256 of the files, which reads all of them
};

/// Blocks, on any thread. Errors: Cancelled; Unreadable if a file of the model changed or cannot be read.
base::Result<ModelInfo> modelInfo(const document::Document& document, const ModelInfoRequest& request = {},
                                  const base::WorkContext& work = {});

/// One line of the summary: what `sonde info` prints and the window shows.
struct InfoLine {
    std::string title;                 ///< "parameters"; of an operator how often it is called
    std::string text;                  ///< "11,689,512 in 62 tensors, 44.6 MiB of float32"
    std::string formula;               ///< how the figure is made, for people; may be empty
    std::vector<graph::NodeId> nodes;  ///< of ModelInfo::graph: what it is the figure of; may be empty
    bool isCount = false;              ///< `title` is a number
    std::string module = {};           ///< owner of what no operation reads, its qualname; empty: none, or the root
};
/// The first line has no title: the model's name and format.
std::vector<InfoLine> modelInfoLines(const document::Document& document, const ModelInfo& info);

/// The JSON of `sonde info --json` (sonde-info, version 1). `withNodes`: also the cost of each operation.
std::string modelInfoJson(const document::Document& document, const ModelInfo& info, bool withNodes = false);

/// The same for people. `depth`: modules with at most so many dots in their names are listed with what they take.
std::string modelInfoText(const document::Document& document, const ModelInfo& info, int depth = 0);

}  // namespace sonde::session
