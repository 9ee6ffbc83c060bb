#pragma once

#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Where a box is in the height of its rank, top-down: small boxes beside a much taller one are at the rank's top,
/// near what they read, or at its bottom, near their readers, if they read nothing.
enum class Stand : std::uint8_t { Middle, Top, Bottom };
Stand standOf(double boxHeight, double rankHeight, double rankSep, bool reads, bool isRead);

/// Mends a picture by Graphviz: leads edges to ports within the gaps between ranks, and moves boxes that it has put in
/// the middle of their ranks to where they should stand, bending their edges there as well; then leads edges round
/// boxes that are not theirs (see clearEdges). Top-down; ranks are boxes with equal middles. Boxes whose edges do not
/// come from above and leave below stay where they are.
void settle(const BoxGraph& graph, BoxLayout& layout);

}  // namespace sonde::layout
