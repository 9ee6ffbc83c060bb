#pragma once

#include "core/document/tracers.h"

namespace sonde::document {

/// What can be traced is, the rest becomes opaque calls, so that every model opens and runs.
base::Result<TracedGraph> traceWhatCanBe(const TraceRequest& request);
/// fx's symbolic trace with the originating module of every node (reference 4).
base::Result<TracedGraph> traceModulePath(const TraceRequest& request);
/// RobustTracer (reference 2).
base::Result<TracedGraph> traceRobust(const TraceRequest& request);

}  // namespace sonde::document
