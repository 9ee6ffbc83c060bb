#pragma once

#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Graphviz orders edges by fields of records and sets boxes aside by a point or two for it, each one a little further
/// than the one before. Moves boxes that are almost below their producer exactly below it, if there is room. Top-down;
/// only the boxes are looked at and moved, not the edges' paths.
void straighten(const BoxGraph& graph, BoxLayout& layout);

}  // namespace sonde::layout
