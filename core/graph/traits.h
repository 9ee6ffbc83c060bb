#pragma once

#include "core/graph/internal_graph.h"
#include "core/operators/traits.h"

namespace sonde::graph {

/// What the operator of an expr is. An expr without one (a called module, an input) has no traits.
inline const operators::Traits& traitsOf(const Expr& expr) { return operators::traitsOf(expr.op.domain, expr.op.name); }

}  // namespace sonde::graph
