#pragma once

#include "core/document/trace_request.h"

namespace sonde::document {

/// CustomTracer (custom-trace.md), with the passes that make its graph pure.
base::Result<TracedGraph> traceCustom(const TraceRequest& request);

}  // namespace sonde::document
