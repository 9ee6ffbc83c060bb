#pragma once

#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/ort/helper.h"

namespace sonde::ort {

/// What ONNX Runtime gives for a document, under the names that the document has.
struct EngineReference {
    std::string version;
    /// in.NAME, node.NAME and out.NAME, as `sonde check` reads them.
    std::vector<io::NamedTensor> arrays;
    /// By the name of the first node that an operation makes.
    std::vector<std::pair<std::string, std::int64_t>> elapsedNs;
    std::vector<std::string> notes;
};

/// Whether the ONNX file that a document was read from is the model: no session or pass changed the graph after that.
bool isItsFile(const document::Document& document);

/// Runs a document in ONNX Runtime, with every value of its main graph as an output and without ONNX Runtime's
/// optimisations. An ONNX file is given as it is, so that mistakes in reading it show; other models, and those that
/// passes changed, as `sonde save` writes them. `inputs`: one value for each of the graph's inputs. Errors: those of
/// exporting::writeExport() and of runInEngine().
base::Result<EngineReference> engineReference(const document::Document& document,
                                              const std::vector<tensor::Value>& inputs, const EngineOptions& options,
                                              const base::WorkContext& work = {});

/// Of one of document.inputs; none if it has none.
tensor::Value valueOf(const document::Document& document, std::size_t input, const std::vector<tensor::Value>& inputs);

}  // namespace sonde::ort
