#pragma once

#include <cstdint>
#include <vector>

#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Where an edge leaves one column and goes on in another: the places for a name at either end, on its path.
struct WrapJump {
    std::uint32_t edge = 0;
    Point leaves;   ///< in the column of BoxEdge::from
    Point arrives;  ///< in the column of BoxEdge::to
    bool operator==(const WrapJump&) const = default;
};

struct WrappedLayout {
    BoxLayout layout;
    std::vector<WrapJump> jumps;        ///< by edge; empty: the picture is as it was
    std::vector<std::uint32_t> column;  ///< by box, in the order of the flow
};

/// Cuts a picture across the flow and places the pieces side by side, as a newspaper does with its columns: rows that
/// follow one another if LeftRight. Columns are of about equal length, none longer than `columnHeight` unless a part of
/// it cannot be cut, with as few edges as possible at the cuts: these run below their column, up between two columns,
/// over the heads of others and down into where they went before. Edges that leave one port in one column share that
/// lane, others never do. Boxes keep their order, no edge passes through a box that it did not pass before; First
/// boxes are at the head of the first column, Last ones in the last. `layout` must answer `graph`. Linear but for the
/// sorting.
WrappedLayout wrapped(const BoxGraph& graph, const BoxLayout& layout, double columnHeight);

}  // namespace sonde::layout
