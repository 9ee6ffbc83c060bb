#pragma once

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// A guard is where a concrete trace followed the value of a node: its one argument is that node, its output what was
/// asked for (a bool, a number, a length), and a run fails at it unless that is what it was in the trace. Everything
/// recorded after it in its body depends on it.
inline constexpr const char* kGuardDomain = "sonde";
inline constexpr const char* kGuardName = "guard";

// Attributes of a guard.
inline constexpr const char* kGuardKind = "kind";             ///< "bool", "int", "float", "length" or "iteration"
inline constexpr const char* kGuardExpected = "expected";     ///< int (a bool is 0 or 1), or float
inline constexpr const char* kGuardDescription = "sentence";  ///< "took the branch because x.sum() > 0 was true"
inline constexpr const char* kGuardTraced =
    "traced";  ///< "traced with size(0) = 1 of x", where a size decided; else empty
inline constexpr const char* kGuardSource = "source";  ///< qualname of the module that decided; "" is the root
inline constexpr const char* kGuardClass = "class";    ///< class of that module

inline bool isGuard(const Expr& expr) { return expr.op.name == kGuardName && expr.op.domain == kGuardDomain; }

}  // namespace sonde::graph
