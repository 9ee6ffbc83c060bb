#pragma once

#include <vector>

#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// A rank of a picture made by Graphviz: boxes with equal middles, and the heights between which all of them lie.
struct Row {
    std::size_t index = 0;
    double top = 0;
    double bottom = 0;
};

/// The row of each box, top-down. Linear but for the sorting.
std::vector<Row> rowsOf(const BoxLayout& layout);

}  // namespace sonde::layout
