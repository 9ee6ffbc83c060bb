#include "core/layout/first_view.h"

#include <algorithm>
#include <utility>

namespace sonde::layout {

namespace {

/// A graph with no more operations than this is shown with every module open.
constexpr std::uint32_t kSmallGraph = 24;
/// A picture with more items is not read at once, however small they are.
constexpr std::size_t kMaxItems = 150;
/// A picture with no more items than this says nothing of the model …
constexpr std::size_t kFewItems = 8;
/// … and one with no more than this may be larger than the room.
constexpr std::size_t kMaxScrolled = 48;
/// A hostile file may nest modules thousands deep.
constexpr std::size_t kMaxLevels = 16;

/// About how many items a group shows, its own box not counted; no more than a little above `limit`.
std::size_t itemCount(const Outline& outline, const ViewState& view, GroupId id, std::size_t limit) {
    std::size_t count = 0;
    for (const Outline::Member& member : outline.group(id).members) {
        if (count > limit) break;
        const GroupId inner = member.group;
        if (!inner.valid()) {
            count += view.hideConstants && Outline::isConstant(outline.graph().expr(member.expr)) ? 0 : 1;
            continue;
        }
        const std::uint32_t run = outline.runOf(inner);
        if (isFolded(outline, view, run) && outline.instanceOf(inner) != shownInstance(outline, view, run)) continue;
        count += isOpen(outline, view, inner) ? itemCount(outline, view, inner, limit - count) : 1;
    }
    return count;
}

bool fits(const SceneLayout& scene, const Legibility& legibility) {
    return scene.bounds.width * legibility.minScale <= legibility.room.width &&
           scene.bounds.height * legibility.minScale <= legibility.room.height;
}

}  // namespace

base::Result<FirstView> composeFirstView(const Outline& outline, const ViewState& view, const Legibility& legibility,
                                         const SceneOptions& options, LayoutWorkers& workers, LayoutCache& cache,
                                         const base::WorkContext& work) {
    SceneOptions quiet = options;  // no part of a picture that may not be taken is shown
    quiet.onPartial = {};
    const auto compose = [&](const ViewState& candidate, const SceneOptions& with) {
        return composeScene(outline, candidate, with, workers, cache, work);
    };
    const auto countOf = [&](const ViewState& candidate) {
        return itemCount(outline, candidate, outline.root(), kMaxItems);
    };
    const std::size_t deepest = greatestDepth(outline), last = std::min(deepest, kMaxLevels);
    const Outline::Group& root = outline.group(outline.root());
    FirstView best{view, {}};
    if (root.exprs - root.constants <= kSmallGraph) {
        openToDepth(outline, best.view, deepest);
        SONDE_ASSIGN(best.scene, compose(best.view, options));
        return best;
    }
    std::size_t count = countOf(view);
    SONDE_ASSIGN(best.scene, compose(view, options));
    for (std::size_t depth = 1; depth <= last && fits(*best.scene, legibility); ++depth) {
        FirstView next{view, {}};
        openToDepth(outline, next.view, depth);
        const std::size_t nextCount = countOf(next.view);
        if (nextCount > kMaxItems) break;
        SONDE_ASSIGN(next.scene, compose(next.view, quiet));
        const bool isScrolled = count <= kFewItems && nextCount <= kMaxScrolled;
        if (!fits(*next.scene, legibility) && !isScrolled) break;
        best = std::move(next);
        count = nextCount;
    }
    return best;
}

}  // namespace sonde::layout
