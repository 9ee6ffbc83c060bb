#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// Attribute of a write that a run would not see: a run computes values, and something uses what was written by an
/// older name. Only graphs that were recorded with their in-place operations have it; plans refuse them.
inline constexpr const char* kWritesInPlace = "in_place";

/// What a tracer that records in-place operations as they come makes of its graph at last: slices that do nothing are
/// taken out, and, if asked for, every write becomes a value that later uses read. Else the writes that a run would not
/// see are marked. Declared here for tracers, which know no passes; core/passes has the definition. The graph given
/// stays as it is. Errors (Run): a write that cannot be made a value, by the node's name and position.
base::Result<std::shared_ptr<InternalGraph>> purified(const InternalGraph& recorded, bool removeInPlace);

}  // namespace sonde::graph
