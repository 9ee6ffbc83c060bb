#pragma once

#include <cstdint>

#include "core/passes/rewrite.h"

namespace sonde::passes {

/// Removes (custom-trace.md, "Slices that take everything") `slice.Tensor(x, axis, start, end)` with just these four
/// arguments (start 0 or None, end 2^63-1 or None); and, from the last to the first, a used `copy_(a, b)` whose shapes
/// are recorded and equal and whose `a` nobody reads later: its uses read `b`. How many were taken out.
std::size_t removeUnnecessarySlices(Rewrite& rewrite);
std::size_t removeUnnecessarySlices(InternalGraph& graph);

/// Erases an operation that nobody reads, then goes on to its first argument while that is read only there and all
/// other arguments are numbers (custom-trace.md, "Erasing a chain"). Inputs of the program and writes stay. How many
/// exprs went. Usage error: the operation still has users.
base::Result<std::size_t> eraseChain(Rewrite& rewrite, ExprId id);
base::Result<std::size_t> graphEraseNode(InternalGraph& graph, NodeId node);

inline constexpr const char* kOverlapGuard = "overlap_guard";

struct RemoveInplaceOptions {
    bool fail = true;       ///< false: -1 instead of an error, and the graph as it was
    bool recursive = true;  ///< dead code of bodies as well, counted too; writes are followed into bodies in any case
    std::string program = {};  ///< what the graph was made from, any text: errors quote it
};

/// Makes every write a value (custom-trace.md, "Writes become values"): after it no operation changes a tensor that
/// another one reads, so every node can be watched. Dead operations go as well. Returns the number of operations that
/// nobody read and that were handled, plus used writes that had an effect elsewhere; 0: nothing to do, the graph is as
/// it was.
///
/// What shares memory is known for each tensor at each point of the program (InplaceWalk): through views, attributes,
/// called modules and branches. Behind a write to a whole tensor (`add_`, `setitem` …) uses read the result; behind
/// `copy_` over a clone `expand_as(value, clone)`. A write through views gives their base anew: `setitem(root, index,
/// value)` with one index for slices, selections and indices, nested ones where an axis is cut twice, the view turned
/// round for others
/// (`view_as`, `transpose` …). `exp_`, `sigmoid_` of a region: `setitem_with_transformation(root, index, (("exp",
/// ()),))`. Views taken before a write and read after it are taken again. A called module or branch gives what it has
/// written to its arguments as further outputs.
///
/// The graph given is read as PyTorch runs it. The result means the same whether its writes are taken for values or
/// not.
///
/// Errors (Run, naming the write's node and position), only if somebody reads what cannot be known: written through a
/// view that cannot be turned round (`expand`, `unfold` …), or through other than indices to an input or attribute;
/// low-level `copy_` and `fill_` through views of anything but a clone or a new tensor; memory that may or may not be
/// shared
/// (`reshape`, `to`, opaque calls); a loop that writes to a tensor from outside of it.
///
/// Where only a run can tell whether a write is one that PyTorch refuses, an operator sonde::overlap_guard
/// (kOverlapGuard) in front of it ends that run.
base::Result<std::int64_t> removeInplace(InternalGraph& graph, const RemoveInplaceOptions& options = {},
                                         Notes* notes = nullptr);

}  // namespace sonde::passes
