#pragma once

#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Vertical alignment of a box in its rank, top-down: small boxes beside a much taller one are aligned to the top of
/// the rank, close to their inputs, or to its bottom, close to their consumers, if they have no inputs.
enum class RankAlign : std::uint8_t { Middle, Top, Bottom };
RankAlign rankAlignOf(double boxHeight, double rankHeight, double rankSep, bool hasInputs, bool hasConsumers);

/// Refines a layout by Graphviz: routes edges to ports within the gaps between ranks, moves boxes that Graphviz has
/// centred in their ranks to their alignment together with the ends of their edges, and then routes edges around boxes
/// that are not theirs (see clearEdges). Top-down; a rank consists of the boxes with the same centre. Boxes whose edges
/// do not enter from above and leave below keep their position.
void refine(const BoxGraph& graph, BoxLayout& layout);

}  // namespace sonde::layout
