#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Sonde's own layered layout (after Sugiyama, Tagawa, Toda 1981), in time and memory linear in boxes and edges but for
/// the sorting: cycles are broken by a depth-first search, ranks are longest paths, crossings are reduced by
/// barycentres, and places across the flow are least-squares fits that keep the order of each rank. Edges run through
/// the gaps between ranks and through places kept free for them inside ranks, so none crosses a box; edges too long to
/// keep a place in every rank run in lanes beside the picture.
///
/// Deterministic. Fails only for an invalid graph, or with Cancelled.
base::Result<BoxLayout> layoutLayered(const BoxGraph& graph, const base::WorkContext& work = {});

/// Boxes, edges, and the ranks that edges pass, in a valid graph: what the time of Graphviz grows with. Linear.
std::size_t layoutEffort(const BoxGraph& graph);

/// The rank of each box as the layered engine gives them, by position only; sizes do not matter.
std::vector<std::uint32_t> layoutRanks(const BoxGraph& graph);

}  // namespace sonde::layout
