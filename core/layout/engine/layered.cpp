#include "core/layout/engine/layered.h"

#include "core/layout/engine/align_equal.h"
#include "core/layout/engine/layered/proper_graph.h"
#include "core/layout/engine/pack.h"

namespace sonde::layout {

namespace {

int sweepsFor(std::size_t vertices) { return vertices <= 5'000 ? 16 : vertices <= 30'000 ? 6 : 3; }

/// A connected graph, top-down.
base::Result<BoxLayout> layOutPart(const BoxGraph& graph, const base::WorkContext& work) {
    const char* const kWhere = "laying out";
    layered::ProperGraph proper = layered::makeProper(graph);
    if (work.cancelled()) return base::cancelled(kWhere);
    layered::reduceCrossings(proper, sweepsFor(proper.vertexCount()));
    if (work.cancelled()) return base::cancelled(kWhere);
    const std::vector<double> x = layered::placeAcross(proper);
    if (work.cancelled()) return base::cancelled(kWhere);
    BoxLayout layout = layered::route(proper, x);
    alignEqual(graph, layout);
    frame(layout);
    return layout;
}

}  // namespace

base::Result<BoxLayout> layoutLayered(const BoxGraph& graph, const base::WorkContext& work) {
    SONDE_TRY(validate(graph));
    return layoutParts(graph, [&](const BoxGraph& part) -> base::Result<BoxLayout> {
        if (part.direction == Direction::TopDown) return layOutPart(part, work);
        SONDE_ASSIGN(BoxLayout layout, layOutPart(transposed(part), work));
        transpose(layout);
        return layout;
    });
}

std::size_t layoutEffort(const BoxGraph& graph) {
    if (graph.direction == Direction::LeftRight) return layoutEffort(transposed(graph));
    return layered::effort(graph);
}

std::vector<std::uint32_t> layoutRanks(const BoxGraph& graph) { return layered::ranksOf(graph); }

}  // namespace sonde::layout
