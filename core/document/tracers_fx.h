#pragma once

#include "core/document/tracers.h"
#include "core/trace/module_path_tracer.h"

namespace sonde::document {

/// What can be traced is, the rest becomes opaque calls, so that every model opens and runs; the graphs of what is
/// inside of those are parts.
base::Result<TracedGraph> traceWhatCanBe(const TraceRequest& request);
/// fx's symbolic trace with the originating module of every node (symbolic-trace.md).
base::Result<TracedGraph> traceModulePath(const TraceRequest& request);

/// Leaf classes as the options name them.
void setLeaves(trace::ModulePathTracer& tracer, const OpenOptions& options);
/// A graph with the module tree of its trace, and a finding for each module that runs as one opaque call.
TracedGraph tracedGraph(const trace::Tracer& tracer, trace::Tracer::GraphPtr graph);
/// The root as one call that runs it on values, with the reason as a finding.
base::Result<TracedGraph> opaqueRoot(trace::Tracer& tracer, const TraceRequest& request, const std::string& failure);

}  // namespace sonde::document
