#pragma once

#include <vector>

#include "core/exec/edits.h"

namespace sonde::exec {

/// By node: whether edits may give it another value. Closer than Dependants, which has what must run again, and that is
/// all of a branch or loop: here the values inside of one, and its results, are each followed by what they are computed
/// from, from one iteration to the next. All of it counts where the condition or the count of iterations may differ,
/// and where something inside writes or is opaque code. Linear in the graph, times the depth of bodies in bodies.
std::vector<bool> differingValues(const InternalGraph& graph, const Edits& edits);

}  // namespace sonde::exec
