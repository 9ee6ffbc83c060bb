#include "core/layout/first_view.h"

#include <algorithm>
#include <cmath>
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

/// A first picture is drawn in columns if these are so much larger than it is, and not much too small to be read.
constexpr double kMuchLarger = 1.5;
constexpr double kAlmostLegible = 0.5;
/// A picture that is fitted is drawn in columns if it becomes so much larger.
constexpr double kLarger = 1.15;
/// More items are not legible in columns either, and each try would take long.
constexpr std::size_t kMaxWrapped = 4000;
/// Width by height of a picture in columns for paper or a page of a report.
constexpr double kPageRatio = 1.4;
/// A picture that is no longer than this, in scene units, can be read on a page: the smallest text on it has 9 units,
/// which are printed in 5 points.
constexpr double kPageLength = 1300;
/// Of the length of columns, to find those that fill the room.
constexpr int kTries = 3;
constexpr double kMinColumn = 200;
/// Further tries around the best one, for pictures with no more items than this.
constexpr double kTuning[] = {0.65, 0.8, 1.25, 1.6};
constexpr std::size_t kMaxTuned = 600;

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

/// At which all of a picture is in the room.
double fitScale(const SceneLayout& scene, const Legibility& legibility) {
    return std::min(legibility.room.width / std::max(scene.bounds.width, 1.0),
                    legibility.room.height / std::max(scene.bounds.height, 1.0));
}

bool fits(const SceneLayout& scene, const Legibility& legibility) {
    return fitScale(scene, legibility) >= legibility.minScale;
}

/// Nothing is gained by columns.
bool isEasy(const SceneLayout& scene, const Legibility& legibility) {
    return fitScale(scene, legibility) >= legibility.columnsBelow();
}

/// What takes part in composing a picture.
struct Composing {
    const Outline& outline;
    const SceneOptions& options;
    LayoutWorkers& workers;
    LayoutCache& cache;
    const base::WorkContext& work;
    base::Result<std::shared_ptr<const SceneLayout>> operator()(const ViewState& view) const {
        return composeScene(outline, view, options, workers, cache, work);
    }
};

/// `plain` in columns such that the picture has the shape of the room; `plain` itself if none makes it larger.
base::Result<FirstView> inColumns(const FirstView& plain, const Legibility& legibility, const Composing& compose) {
    FirstView best = plain;
    if (plain.scene->items.size() > kMaxWrapped || legibility.room.width <= 0 || legibility.room.height <= 0)
        return best;
    const bool across = plain.view.direction == Direction::LeftRight;
    const auto shape = [across](Size size) { return across ? size.width / size.height : size.height / size.width; };
    const Size size{std::max(plain.scene->bounds.width, 1.0), std::max(plain.scene->bounds.height, 1.0)};
    const double room = shape(legibility.room);
    ViewState view = plain.view;
    double excess = 1;  // of the length
    const auto tryHeight = [&](double height) -> base::Result<void> {
        view.columnHeight = std::max(kMinColumn, std::round(height));
        SONDE_ASSIGN(auto scene, compose(view));
        excess = shape(scene->bounds.size()) / room;
        if (fitScale(*scene, legibility) > fitScale(*best.scene, legibility)) best = {view, std::move(scene)};
        return {};
    };
    double height = std::sqrt(size.width * size.height * room);
    for (int i = 0; i < kTries; ++i) {
        SONDE_TRY(tryHeight(height));
        if (!std::isfinite(excess) || std::abs(std::log(excess)) < 0.1) break;
        height = view.columnHeight / std::sqrt(excess);
    }
    // Boxes fill columns in steps: a little more or less may leave much less room empty.
    const double found = best.view.columnHeight > 0 ? best.view.columnHeight : height;
    if (plain.scene->items.size() > kMaxTuned) return best;
    for (const double factor : kTuning) SONDE_TRY(tryHeight(found * factor));
    return best;
}

/// A first picture that is not read with ease, in columns if that is much better.
base::Result<FirstView> firstInColumns(FirstView plain, const Legibility& legibility, const Composing& compose) {
    if (plain.view.wrapping != Wrapping::Automatic || isEasy(*plain.scene, legibility)) return plain;
    SONDE_ASSIGN(FirstView wrapped, inColumns(plain, legibility, compose));
    const double scale = fitScale(*wrapped.scene, legibility);
    const bool isBetter =
        scale >= kAlmostLegible * legibility.minScale && scale >= kMuchLarger * fitScale(*plain.scene, legibility);
    return isBetter ? std::move(wrapped) : std::move(plain);
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
    SceneOptions quiet = options;  // no part of a picture that may not be taken is shown
    quiet.onPartial = {};
    const Composing composing{outline, quiet, workers, cache, work};
    const Outline::Group& root = outline.group(outline.root());
    if (root.exprs - root.constants <= kSmallGraph) {
        FirstView whole{view, {}};
        openToDepth(outline, whole.view, greatestDepth(outline));
        SONDE_ASSIGN(whole.scene, composeScene(outline, whole.view, options, workers, cache, work));
        return firstInColumns(std::move(whole), legibility, composing);
    }
    std::vector<Level> levels = levelsOf(outline, view);
    const SceneOptions& told = levels.size() == 1 ? options : quiet;
    const auto compose = [&](std::size_t level) -> base::Result<void> {
        if (levels[level].scene) return {};
        SONDE_ASSIGN(levels[level].scene, composeScene(outline, levels[level].deepest, told, workers, cache, work));
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
            return firstInColumns({next.shallowest, next.scene}, legibility, composing);
        break;
    }
    Level& found = levels[best];
    const bool isLegible = fits(*found.scene, legibility);
    return firstInColumns({std::move(isLegible ? found.deepest : found.shallowest), std::move(found.scene)}, legibility,
                          composing);
}

base::Result<FirstView> composeFitted(const Outline& outline, const ViewState& view, const Legibility& legibility,
                                      const SceneOptions& options, LayoutWorkers& workers, LayoutCache& cache,
                                      const base::WorkContext& work) {
    FirstView plain{view, {}};
    if (view.wrapping == Wrapping::Automatic) plain.view.columnHeight = 0;
    SONDE_ASSIGN(plain.scene, composeScene(outline, plain.view, options, workers, cache, work));
    if (view.wrapping != Wrapping::Automatic || isEasy(*plain.scene, legibility)) return plain;
    SceneOptions quiet = options;
    quiet.onPartial = {};
    SONDE_ASSIGN(FirstView wrapped, inColumns(plain, legibility, {outline, quiet, workers, cache, work}));
    const bool isBetter = fitScale(*wrapped.scene, legibility) >= kLarger * fitScale(*plain.scene, legibility);
    return isBetter ? std::move(wrapped) : std::move(plain);
}

base::Result<FirstView> composePicture(const Outline& outline, const ViewState& view, const SceneOptions& options,
                                       LayoutWorkers& workers, LayoutCache& cache, const base::WorkContext& work) {
    // Of no size at which anything can be read: only its shape counts.
    const Legibility page{{kPageRatio, 1}, 1};
    FirstView plain{view, {}};
    if (view.wrapping == Wrapping::Automatic) plain.view.columnHeight = 0;  // those that suit a window
    SONDE_ASSIGN(plain.scene, composeScene(outline, plain.view, options, workers, cache, work));
    const Size size = plain.scene->bounds.size();
    const double length = std::max(size.width, size.height);
    const bool isLong = length > kPageLength && length > kMaxRatio * std::min(size.width, size.height);
    if (view.wrapping == Wrapping::Off || plain.view.columnHeight > 0) return plain;
    if (view.wrapping == Wrapping::Automatic && !isLong) return plain;
    return inColumns(plain, page, {outline, options, workers, cache, work});
}

double columnHeightFor(const ViewState& view, const Legibility& legibility) {
    const double room = view.direction == Direction::LeftRight ? legibility.room.width : legibility.room.height;
    return std::max(kMinColumn, std::round(room / legibility.minScale));
}

}  // namespace sonde::layout
