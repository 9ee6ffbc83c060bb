#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/layout/engine/box_graph.h"
#include "core/layout/outline.h"

namespace sonde::layout {

/// Who decides whether a long flow is drawn in columns.
enum class Wrapping : std::uint8_t {
    Automatic,  ///< in columns where the whole could not be read otherwise
    On,
    Off,
};

/// What of a graph is to be seen, and how. A value: cheap to copy and compare.
struct ViewState {
    std::set<ScopeId> openScopes;  ///< module calls shown from inside; the root always is
    std::set<ExprId> openExprs;    ///< operations with bodies shown from inside
    Direction direction = Direction::TopDown;
    bool hideConstants = true;  ///< weights, constants and attribute reads are not drawn (but counted)
    bool foldShapes = false;    ///< what only computes shapes (shapeMath) is part of its consumer (and counted)
    bool inlineSingles = true;  ///< a module that is one operation is drawn as that operation

    /// A value read by at least this many items, on average far away, is drawn as named stubs at its consumers; 0:
    /// never.
    std::size_t hubReaders = 6;
    /// An edge over more ranks than this is drawn as a stub; 0: never.
    std::size_t longSpan = 24;

    /// At least this many equal blocks in a row (Outline::Run) are drawn as one box "× 24"; 0: never.
    std::size_t foldFrom = 0;
    /// Runs that are drawn out all the same, and which instance stands for a folded one (0 if not listed): both by the
    /// scope of the run's first instance.
    std::set<ScopeId> unfolded;
    std::map<ScopeId, std::uint32_t> shownInstance;

    /// By ExprId: operations that are not drawn (but counted), because the user hid or isolated something. May be null.
    std::shared_ptr<const std::vector<bool>> filtered;

    /// The inside of a box, or of the whole, that is longer than this along the flow is drawn in columns of about this
    /// length, rows if LeftRight (wrapped()); 0: never.
    double columnHeight = 0;
    Wrapping wrapping = Wrapping::Automatic;  ///< for those who choose columnHeight

    double nodeSep = 24;  ///< least distance of items side by side
    double rankSep = 40;  ///< least distance of items after one another
    double padding = 16;  ///< between an open box's border and what is in it

    bool operator==(const ViewState&) const = default;
};

/// Whether a group is shown from inside in a view. Bodies are as open as their operation.
bool isOpen(const Outline& outline, const ViewState& view, GroupId group);
/// The single operation that a group is drawn as (see ViewState::inlineSingles); none if it is drawn as a box.
ExprId inlined(const Outline& outline, const ViewState& view, GroupId group);

/// Whether a view leaves an expr out.
inline bool isFiltered(const ViewState& view, ExprId expr) {
    return view.filtered && expr.index() < view.filtered->size() && (*view.filtered)[expr.index()];
}

/// The scope by which a view knows a run.
ScopeId scopeOf(const Outline& outline, std::uint32_t run);
/// Whether a run is drawn as one box.
bool isFolded(const Outline& outline, const ViewState& view, std::uint32_t run);
/// Which instance stands for a folded run.
std::uint32_t shownInstance(const Outline& outline, const ViewState& view, std::uint32_t run);
/// Lets another instance stand for a run; it is as open as the one before was.
void showInstance(const Outline& outline, ViewState& view, std::uint32_t run, std::uint32_t instance);
void setFolded(const Outline& outline, ViewState& view, std::uint32_t run, bool folded);

/// Opens all that hides an expr, or all around a scope.
void reveal(const Outline& outline, ViewState& view, ExprId expr);
void reveal(const Outline& outline, ViewState& view, ScopeId scope);
/// Opens exactly the groups less than `depth` levels below the top: 0 closes all. Calls of leaf modules stay closed.
void openToDepth(const Outline& outline, ViewState& view, std::size_t depth);
/// The least depth at which openToDepth shows all that it can.
std::size_t greatestDepth(const Outline& outline);
/// Opens or closes an item's group; closing leaves what is open further inside as it is.
void setOpen(const Outline& outline, ViewState& view, GroupId group, bool open);

}  // namespace sonde::layout
