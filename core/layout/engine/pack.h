#pragma once

#include <functional>

#include "core/base/result.h"
#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Lays out the parts of a graph that nothing connects one by one and puts them side by side in a shape near a
/// window's, the tallest first. Parts with First or Last boxes are one, as the border around them is. A connected graph
/// goes to `layOut` as it is. Fails as `layOut` does; the graph must be valid.
base::Result<BoxLayout> layoutParts(const BoxGraph& graph,
                                    const std::function<base::Result<BoxLayout>(const BoxGraph&)>& layOut);

/// Calls visit(part) for each of these parts; for a connected graph with itself.
void forEachPart(const BoxGraph& graph, const std::function<void(const BoxGraph&)>& visit);

}  // namespace sonde::layout
