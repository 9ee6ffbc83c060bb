#pragma once

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// x[index] = value as the method of Python, which a trace records before any operator is chosen for it. It has no
/// operator and so no traits; it writes to x.
inline bool isSetItem(const Expr& expr) { return expr.kind == ExprKind::CallMethod && expr.target == "__setitem__"; }

}  // namespace sonde::graph
