#pragma once

// What the tracers in the manner of torch.fx have in common.

#include <string>
#include <vector>

#include "core/document/trace_request.h"
#include "core/trace/attempt.h"
#include "core/trace/module_path_tracer.h"

namespace sonde::document {

/// Leaf classes as the options name them.
void setLeaves(trace::ModulePathTracer& tracer, const OpenOptions& options);
/// A graph with the module tree of its trace, and a finding for each module that runs as one opaque call.
TracedGraph tracedGraph(const trace::Tracer& tracer, trace::Tracer::GraphPtr graph);
/// The root as one call that runs it on values, with the reason as a finding. `tried`: before it; a finding each, as is
/// what was tried to make the call.
base::Result<TracedGraph> opaqueRoot(trace::Tracer& tracer, const TraceRequest& request, const std::string& failure,
                                     const std::vector<trace::Attempt>& tried);

}  // namespace sonde::document
