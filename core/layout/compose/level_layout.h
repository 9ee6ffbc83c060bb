#pragma once

#include <memory>

#include "core/layout/compose/layout_draft.h"
#include "core/layout/engine/wrap.h"

namespace sonde::layout::compose {

/// The picture of one level and how it is in its box.
struct LevelLayout {
    std::shared_ptr<const BoxLayout> layout;
    std::shared_ptr<const WrappedLayout> wrapped;  ///< null: in one column
    Point origin;                                  ///< of the layout within the box
    Size size;                                     ///< of the box
};

/// A level in columns, as `view` asks for; null if it stays as it is.
std::shared_ptr<const WrappedLayout> wrappedOrNull(const ViewState& view, const BoxGraph& graph,
                                                   const BoxLayout& layout);

/// Adds where lines of a level go from column to column. `origin`: of the level's picture; the edges of `scene` are
/// there, and its strokes, those of the level from `firstStroke` on.
void addJumps(SceneLayout& scene, const Level& level, const LevelLayout& inside, Point origin, std::size_t firstStroke);

}  // namespace sonde::layout::compose
