#pragma once

#include <cstdint>

#include "core/passes/rewrite.h"

namespace sonde::passes {

/// Takes out (reference 3, c3): `slice.Tensor(x, axis, start, end)` with just these four arguments that takes everything
/// (start 0 or None, end 2^63-1 or None); and, from the last to the first, a used `copy_(a, b)` whose shapes are recorded
/// and equal and whose `a` nobody reads later: its uses read `b`. How many were taken out.
std::size_t removeUnnecessarySlices(Rewrite& rewrite);
std::size_t removeUnnecessarySlices(InternalGraph& graph);

/// Erases an operation that nobody reads, then goes on to its first argument while that is read only there and all other
/// arguments are numbers (reference 3, c5). Inputs of the program and writes stay. How many exprs went.
/// Usage error: the operation still has users.
base::Result<std::size_t> eraseChain(Rewrite& rewrite, ExprId id);
base::Result<std::size_t> graphEraseNode(InternalGraph& graph, NodeId node);

struct RemoveInplaceOptions {
    bool fail = true;       ///< false: -1 instead of an error, and the graph as it was
    bool recursive = true;  ///< bodies of calls and control flow, too; their counts are added
};

/// Makes every write a value (reference 3, c4): after it no operation changes a tensor that another one reads, so every
/// node can be watched. Dead operations go as well. Returns the number of operations that nobody read and that were
/// handled, plus used writes that had an effect elsewhere; 0: nothing to do, the graph is as it was.
///
/// A write to a whole tensor (`add_`, `setitem` …): later uses read the result. `copy_` over a clone: later uses read
/// `expand_as(value, clone)`. A write through slices, selections and indices of a fresh tensor (clone, zeros …): later
/// uses read `setitem(root, index, value)`, one index for each axis, or nested setitems where an axis is cut twice.
/// `exp_`, `sigmoid_` there: `setitem_with_transformation(root, index, (("exp", ()),))`. Views taken before a write and
/// read after it are taken again.
///
/// Errors (Run, naming node and position): a write through a view that cannot be undone (`view`, `transpose` …) to a
/// value that is read later; through slices of a value that is not fresh; inside a body, to a value that is read outside.
base::Result<std::int64_t> removeInplace(InternalGraph& graph, const RemoveInplaceOptions& options = {}, Notes* notes = nullptr);

}  // namespace sonde::passes
