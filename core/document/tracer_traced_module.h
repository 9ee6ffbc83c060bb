#pragma once

#include "core/document/trace_request.h"

namespace sonde::document {

/// TracedModule (traced-module.md): runs the model on an example (options.inputData, else random values of the known
/// types) and records what was done. options.leaves are built-in classes, options.flatten removes the hierarchy.
base::Result<TracedGraph> traceAsTracedModule(const TraceRequest& request);

/// The graph of a traced module, without hierarchy if options.flatten says so; the module itself goes with it.
base::Result<TracedGraph> graphOfTracedModule(std::shared_ptr<trace::TracedModule> module, const OpenOptions& options);

}  // namespace sonde::document
