#pragma once

#include "core/base/id.h"

namespace sonde::graph {

using NodeId = base::Id<struct NodeTag>;    ///< a value
using ExprId = base::Id<struct ExprTag>;    ///< an operation
using ScopeId = base::Id<struct ScopeTag>;  ///< one call of one module
using BodyId = base::Id<struct BodyTag>;    ///< a list of exprs: the main program, a branch, a loop's body

}  // namespace sonde::graph
