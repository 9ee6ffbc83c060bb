#pragma once

#include "core/document/trace_request.h"

namespace sonde::document {

/// What can be traced is, the rest becomes opaque calls, so that every model opens and runs; the graphs of what is
/// inside of those are parts.
base::Result<TracedGraph> traceWhatCanBe(const TraceRequest& request);
/// fx's symbolic trace with the originating module of every node (symbolic-trace.md).
base::Result<TracedGraph> traceModulePath(const TraceRequest& request);

}  // namespace sonde::document
