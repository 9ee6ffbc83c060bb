#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/progress.h"
#include "core/document/document_types.h"
#include "core/io/dump/export_options.h"

namespace sonde::exporting {

using document::Document;

/// The options without those that need a static form.
io::dump::InferenceOptions withoutStaticForms(const io::dump::InferenceOptions& options);
/// Layouts, precisions and fusions are written in ONNX operators of known shapes; other options leave the model's own.
bool needsStaticForm(const io::dump::InferenceOptions& options);
/// The document in ONNX operators, run on `inputs` (one value for each of document.inputs) where it is in others.
/// Inputs that are numbers are fixed. Errors: those of onnxGraph.
base::Result<Document> staticForm(const Document& document, std::span<const tensor::Value> inputs,
                                  const base::WorkContext& work);

/// What options did: their names, in the order of the rewrites, and the number of operations that each changed.
using AppliedOptions = std::vector<std::pair<std::string, std::size_t>>;
/// The only one of them that needs no static form.
inline constexpr std::string_view kFuseGrain = "enable_fuse_grain";

/// A copy of the graph after what is always done (from `optLevel` 1 on arithmetic; batch norms, identities, constants,
/// duplicates, dead code) and what the options ask for, in the order of dump.md, "Inference options": float16, layout,
/// fusions.
base::Result<std::shared_ptr<graph::InternalGraph>> optimisedForInference(const graph::InternalGraph& graph,
                                                                          const io::dump::InferenceOptions& options,
                                                                          int optLevel, const base::WorkContext& work,
                                                                          AppliedOptions* applied = nullptr);

}  // namespace sonde::exporting
