#pragma once

#include <optional>
#include <vector>

#include "core/passes/rewrite.h"

namespace sonde::passes {

/// How a written node hangs on the tensor whose memory it shares: views from the inside out.
struct ViewChain {
    std::vector<ExprId> views;  ///< the producer of the written node first; empty: the node has memory of its own
    NodeId root;                ///< what the outermost view is taken of
};
ViewChain viewChainOf(const Rewrite& rewrite, NodeId node);

/// The expr cuts a part out of its first argument that a setitem can write: slice, select, getitem with a basic index.
bool cutsPart(const InternalGraph& graph, const Expr& expr);
/// The index of a slice, select or getitem as getitem takes it.
/// None: an axis counted from the end of a tensor whose rank is not known.
std::optional<Argument> indexOf(const InternalGraph& graph, const Expr& expr);
/// One index for all views of a chain, in the axes of the root; axes that no view cuts are taken whole.
/// None: an axis is cut twice, or a getitem stands among several views.
std::optional<Argument> mergedIndex(const InternalGraph& graph, const ViewChain& chain);

}  // namespace sonde::passes
