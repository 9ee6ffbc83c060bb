#pragma once

#include <vector>

#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// A place where a picture may be cut: between the rows that end at `above` and begin at `below`.
struct WrapCut {
    double above = 0;
    double below = 0;
    double y() const { return (above + below) / 2; }
};

/// The cuts that make the best columns of a top-down picture, from the top downwards; none if it is not longer than
/// `columnHeight` or cannot be cut. Every edge passes a cut at most once.
std::vector<WrapCut> wrapCuts(const BoxGraph& graph, const BoxLayout& layout, double columnHeight);

}  // namespace sonde::layout
