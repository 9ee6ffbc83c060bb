#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

/// The module that an operation is in; "": none that the file tells of.
std::string moduleOf(const graph::InternalGraph& graph, graph::ExprId id);

/// Bodies of branches and loops in which no operation has a counterpart: the other graph has none of that.
std::set<graph::BodyId> ownBranches(const GraphSide& side);

/// A convolution, a matrix product or attention.
bool isProduct(const graph::Expr& expr);

/// By ExprId of `side`: operations without a counterpart of the innermost module that the other graph has, too, if some
/// in there have counterparts, and both have as many products, or products are left over on both sides or on neither.
/// Also a convolution and the normalisation behind it, one of which has the counterpart.
std::vector<bool> inPairedModules(const GraphSide& side, const GraphSide& other);

}  // namespace sonde::session::diff
