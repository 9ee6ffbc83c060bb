#pragma once

#include "core/graph/internal_graph.h"

namespace sonde::exec {

/// Whether an operation, or one inside of it, does something besides making its outputs: it checks a value, writes to
/// memory that others read, or is code of which that is not known. See ops::hasEffect().
bool hasEffect(const graph::InternalGraph& graph, graph::ExprId expr);

}  // namespace sonde::exec
