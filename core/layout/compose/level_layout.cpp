#include "core/layout/compose/level_layout.h"

#include <algorithm>
#include <utility>

namespace sonde::layout::compose {

namespace {

/// A level with a box that is about as long as a column may be longer than it by this part of one, so that what is
/// before and after it needs no column of its own.
constexpr double kBesideLong = 0.35;

}  // namespace

std::shared_ptr<const WrappedLayout> wrappedOrNull(const ViewState& view, const BoxGraph& graph,
                                                   const BoxLayout& layout) {
    if (!(view.columnHeight > 0)) return nullptr;
    double longest = 0;
    for (const Box& box : graph.boxes)
        longest = std::max(longest, graph.direction == Direction::LeftRight ? box.width : box.height);
    const double height = std::max(view.columnHeight, longest + kBesideLong * view.columnHeight);
    WrappedLayout wrapped = layout::wrapped(graph, layout, height);
    if (wrapped.column.empty() || *std::max_element(wrapped.column.begin(), wrapped.column.end()) == 0) return nullptr;
    return std::make_shared<const WrappedLayout>(std::move(wrapped));
}

void addJumps(SceneLayout& scene, const Level& level, const LevelLayout& inside, Point origin,
              std::size_t firstStroke) {
    if (!inside.wrapped) return;
    const auto by = [&](Point p) { return Point{p.x + origin.x, p.y + origin.y}; };
    for (const WrapJump& jump : inside.wrapped->jumps) {
        const LevelEdge& edge = level.edges[jump.edge];
        const SceneStroke& stroke = scene.strokes[firstStroke + jump.edge];
        if (stroke.edges.empty()) continue;
        SceneJump found{by(jump.leaves), by(jump.arrives), {}, {}, {}, stroke.edges};
        const SceneEdge& line = scene.edges[stroke.edges.front()];
        found.from = edge.from < level.members.size() ? ItemId(level.members[edge.from]) : line.from;
        found.to = edge.to < level.members.size() ? ItemId(level.members[edge.to]) : line.to;
        found.values = line.values;
        scene.jumps.push_back(std::move(found));
    }
}

}  // namespace sonde::layout::compose
