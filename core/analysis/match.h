#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// For each node of `from` (by its index) the node of `to` that stands for the same value, or none. Two graphs of one
/// model, made by different exporters or passes, or of two similar models: in this order
///  1. the same name and the same operator;
///  2. the same module, operator, output and number among those of its module, if both have equally many of them;
///  3. the same name, whatever makes it, unless both operator and shape are known to be others;
///  4. inputs by their position, if both graphs have equally many;
///  5. what a call of a module gives, by its name and the number of the call: its one value that is read outside of it.
///     Where the one graph has a module that the other has not, as its exporter folded it into the module before it (a
///     batch normalisation into a convolution), what that gives stands for what the one before it gives. Not if both
///     ranks are known and differ;
///  6. outputs by their position, if both graphs have equally many.
/// Values that only checks read are pairs only if they ask the same: the same operators on the same numbers.
/// Where the one layer has taken in what follows the other (see equalResults()), what that gives stands for it, and the
/// plain layer for nothing.
/// Each node of `to` is used once. Linear in the number of nodes, but for the ordering of names.
std::vector<graph::NodeId> matchNodes(const graph::InternalGraph& from, const graph::InternalGraph& to);

}  // namespace sonde::analysis
