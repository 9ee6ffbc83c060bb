#pragma once

#include <vector>

#include "core/exec/edits.h"

namespace sonde::exec {

/// What other values than in the graph reach.
struct Dependants {
    /// By expr: it may have other results than without the edits. A branch or loop is one with all that is inside; a
    /// call is seen through. Opaque code after opaque code that depends on an edit does so, too: it may keep a state.
    std::vector<bool> exprs;
    /// By node: it may have another value. Edited nodes are among them, though what computes them need not be.
    std::vector<bool> nodes;
};

/// Linear in the graph.
Dependants dependantsOf(const InternalGraph& graph, const Edits& edits);

}  // namespace sonde::exec
