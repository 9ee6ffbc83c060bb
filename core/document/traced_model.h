#pragma once

#include "core/document/document_types.h"
#include "core/document/trace_request.h"
#include "core/trace/module.h"

namespace sonde::document {

/// Traces a module as the options say and makes the document's graph, module tree, inputs, outputs and diagnostics.
/// Errors: what the forward did that cannot be followed; a usage error for an unknown tracer or a bad concrete value.
base::Result<std::shared_ptr<Document>> traceModel(const std::shared_ptr<trace::Module>& root,
                                                   const OpenOptions& options, const std::vector<KnownInput>& inputs,
                                                   const base::WorkContext& work);

/// The document of what a tracer made: graph with inferred types, module tree, inputs, outputs, diagnostics.
std::shared_ptr<Document> documentOf(TracedGraph traced, const OpenOptions& options,
                                     const std::vector<KnownInput>& inputs, const base::WorkContext& work);

}  // namespace sonde::document
