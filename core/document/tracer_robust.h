#pragma once

#include <string>

#include "core/document/trace_request.h"

namespace sonde::document {

/// RobustTracer and recursive_trace (robust-trace.md): the root's graph, and as parts those of the children of what
/// failed. A root that fails becomes one call that runs it on values. The tree says what failed and what was never
/// reached.
base::Result<TracedGraph> traceRobust(const TraceRequest& request);

/// Adds the parts of a robust trace to what another tracer made of the same model.
base::Result<void> addParts(TracedGraph& traced, const TraceRequest& request);

/// All graphs of a robust trace as text: "Graph of MODULE", and below it why there is none, which modules are leaves
/// because they fail, and the listing of the nodes. The listing alone if nothing failed.
std::string collectionListing(const Document& document);
/// What the trace left out: a paragraph for each module that failed, with what was tried, and a line with the reason
/// for each that was never called. Empty if there are none.
std::string collectionNotes(const Document& document);

}  // namespace sonde::document
