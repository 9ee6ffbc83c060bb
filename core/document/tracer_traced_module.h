#pragma once

#include "core/document/tracers.h"

namespace sonde::document {

/// TracedModule (reference 1): runs the model on an example (options.inputData, else random values of the known types) and
/// records what was done. options.leaves are built-in classes, options.flatten removes the hierarchy.
base::Result<TracedGraph> traceAsTracedModule(const TraceRequest& request);

}  // namespace sonde::document
