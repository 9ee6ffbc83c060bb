#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/document/document_types.h"
#include "core/ort/helper.h"
#include "core/ort/work_folder.h"

namespace sonde::session {

/// What another engine gave for the nodes of a document.
struct EngineValues {
    ort::WorkFolder folder;
    std::string
        file;  ///< in it: "onnxruntime-1.30.0.npz" with in.NAME, node.NAME and out.NAME, for Comparison::withFile()
    std::string version;                                        ///< of the library
    std::unordered_map<graph::NodeId, std::int64_t> elapsedNs;  ///< by the first node of an operation
    std::vector<std::string> notes;
};

/// Runs a document in ONNX Runtime and keeps every value as a reference file that goes with the result. `inputs`: one
/// for each of the graph's inputs. Errors: those of ort::engineReference(); no file can be written (Run).
base::Result<std::shared_ptr<const EngineValues>> engineValues(const document::Document& document,
                                                               const std::vector<tensor::Value>& inputs,
                                                               const ort::EngineOptions& options,
                                                               const base::WorkContext& work = {});

}  // namespace sonde::session
