#include "core/layout/first_view.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

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

/// About the area that an item takes in a picture of boxes, edges and the room between them, in scene units. Only for
/// where the search begins.
constexpr double kAreaOfItem = 25'000;

/// What a group shows.
struct Visible {
    std::size_t items = 0;  ///< about how many; its own box is not counted
    std::size_t open = 0;   ///< groups seen from inside
    bool operator==(const Visible&) const = default;
};

/// Adds what a group shows; no more than a little above `limit` items.
void addVisible(const Outline& outline, const ViewState& view, GroupId id, std::size_t limit, Visible& seen) {
    for (const Outline::Member& member : outline.group(id).members) {
        if (seen.items > limit) return;
        const GroupId inner = member.group;
        if (!inner.valid()) {
            seen.items += view.hideConstants && Outline::isConstant(outline.graph().expr(member.expr)) ? 0 : 1;
            continue;
        }
        const std::uint32_t run = outline.runOf(inner);
        if (isFolded(outline, view, run) && outline.instanceOf(inner) != shownInstance(outline, view, run)) continue;
        if (!isOpen(outline, view, inner)) {
            ++seen.items;
            continue;
        }
        ++seen.open;
        addVisible(outline, view, inner, limit, seen);
    }
}

bool fits(const SceneLayout& scene, const Legibility& legibility) {
    return scene.bounds.width * legibility.minScale <= legibility.room.width &&
           scene.bounds.height * legibility.minScale <= legibility.room.height;
}

/// A picture that may be the first, and the views that give it: opening modules that nobody sees changes nothing.
struct Level {
    ViewState shallowest, deepest;
    Visible seen;
    std::shared_ptr<const SceneLayout> scene;  ///< null until it is composed
};

/// `view` and what it becomes with more and more levels open, as long as it has few enough items.
std::vector<Level> levelsOf(const Outline& outline, const ViewState& view) {
    const std::size_t last = std::min(greatestDepth(outline), kMaxLevels);
    std::vector<Level> levels;
    for (std::size_t depth = 0; depth <= last; ++depth) {
        ViewState opened = view;
        if (depth > 0) openToDepth(outline, opened, depth);
        Visible seen;
        addVisible(outline, opened, outline.root(), kMaxItems, seen);
        if (!levels.empty() && seen == levels.back().seen && seen.items <= kMaxItems) {
            levels.back().deepest = std::move(opened);
            continue;
        }
        if (!levels.empty() && seen.items > kMaxItems) break;
        levels.push_back({opened, opened, seen, {}});
        if (seen.items > kMaxItems) break;
    }
    return levels;
}

}  // namespace

base::Result<FirstView> composeFirstView(const Outline& outline, const ViewState& view, const Legibility& legibility,
                                         const SceneOptions& options, LayoutWorkers& workers, LayoutCache& cache,
                                         const base::WorkContext& work) {
    const Outline::Group& root = outline.group(outline.root());
    if (root.exprs - root.constants <= kSmallGraph) {
        FirstView whole{view, {}};
        openToDepth(outline, whole.view, greatestDepth(outline));
        SONDE_ASSIGN(whole.scene, composeScene(outline, whole.view, options, workers, cache, work));
        return whole;
    }
    std::vector<Level> levels = levelsOf(outline, view);
    SceneOptions quiet = options;  // no part of a picture that may not be taken is shown
    if (levels.size() > 1) quiet.onPartial = {};
    const auto compose = [&](std::size_t level) -> base::Result<void> {
        if (levels[level].scene) return {};
        SONDE_ASSIGN(levels[level].scene, composeScene(outline, levels[level].deepest, quiet, workers, cache, work));
        return {};
    };

    // A level more makes a picture larger. To compose one takes most of the time, so that the search begins where the
    // number of items says that it may end.
    const double area = legibility.room.width * legibility.room.height / (legibility.minScale * legibility.minScale);
    std::size_t best = 0;
    while (best + 1 < levels.size() && static_cast<double>(levels[best + 1].seen.items) * kAreaOfItem <= area) ++best;
    SONDE_TRY(compose(best));
    while (best > 0 && !fits(*levels[best].scene, legibility)) SONDE_TRY(compose(--best));
    while (best + 1 < levels.size() && fits(*levels[best].scene, legibility)) {
        const Level &now = levels[best], &next = levels[best + 1];
        SONDE_TRY(compose(best + 1));
        if (fits(*next.scene, legibility)) {
            ++best;
            continue;
        }
        if (now.seen.items <= kFewItems && next.seen.items <= kMaxScrolled)
            return FirstView{next.shallowest, next.scene};
        break;
    }
    Level& found = levels[best];
    const bool isLegible = fits(*found.scene, legibility);
    return FirstView{std::move(isLegible ? found.deepest : found.shallowest), std::move(found.scene)};
}

}  // namespace sonde::layout
