#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/layout/cache.h"
#include "core/layout/engine/geometry.h"
#include "core/layout/outline.h"
#include "core/layout/view_state.h"
#include "core/layout/workers.h"

namespace sonde::layout {

using ItemId = base::Id<struct ItemTag>;  ///< index in SceneLayout::items; of one scene only, see ItemKey

enum class ItemKind : std::uint8_t {
    Input,   ///< an input of the graph or of a body
    Output,  ///< an output of the graph or a result of a body
    Expr,    ///< one operation
    Module,  ///< a module call, closed or open
    Body,    ///< a branch or loop body inside an open operation
    Stub,    ///< stands for a value that is made elsewhere, beside its consumer
};

/// What an item stands for: the same in every scene of the same graph, so that pictures can be compared and animated.
struct ItemKey {
    ItemKind kind = ItemKind::Expr;
    ExprId expr;    ///< Input, Expr, Output (if it is an expr); Stub: its consumer, if that is an operation
    ScopeId scope;  ///< Module; Stub: its consumer, if that is a module
    BodyId body;    ///< Module, Body, Output
    NodeId value;   ///< Stub: the value; Output that is no expr: the value
    auto operator<=>(const ItemKey&) const = default;
};

/// What the text metrics are asked about.
struct ItemDescription {
    ItemKind kind = ItemKind::Expr;
    bool open = false;  ///< asks for the least size of the title bar of an open box
    bool expandable = false;
    ExprId expr;    ///< Input, Output, Expr
    ScopeId scope;  ///< Module: the call. Others: the scope that they are in
    BodyId body;    ///< Body
    std::vector<NodeId>
        values;  ///< Stub: what it stands for, more than one if folded. Output that is no expr: its value
    std::uint32_t hiddenExprs = 0;      ///< inside a closed box, constants not counted
    std::uint32_t hiddenConstants = 0;  ///< hidden inside a closed box, or read by a drawn operation
    std::uint32_t shapeExprs = 0;       ///< that compute shapes for it and are folded into it
    std::uint32_t repeat = 0;           ///< Module: how many equal blocks it stands for; 0: itself alone
    std::uint32_t instance = 0;         ///< which of them it shows
    ExprId layer;  ///< closed Module, or an Expr that calls one: the operation that tells what it is (MainLayer)
    std::uint32_t blocks = 0;       ///< Module: how many modules of one class it consists of, if of any
    std::uint32_t modules = 0;      ///< the same where the file does not say their classes
    std::uint32_t period = 1;       ///< with `repeat`: so many modules repeat in turn, and this is …
    std::uint32_t turn = 0;         ///< … which of them
    ScopeId firstBlock, lastBlock;  ///< with `repeat`: the scopes of the first and the last
};

/// The size of an item, from its text. Called on the thread that composes. Widths are rounded up a little, so that
/// repeated blocks with names of almost equal length share one layout.
using ItemMetrics = std::function<Size(const ItemDescription&)>;

struct SceneItem {
    ItemDescription what;
    ItemKey key;
    ItemId parent;                 ///< the open box around it; none at the top
    std::vector<ItemId> children;  ///< of an open box, in the order of execution, stubs last
    GroupId group;                 ///< Module, Body, and Expr with bodies: what setOpen wants
    Rect rect;                     ///< absolute
    double titleHeight = 0;        ///< of an open box
    ItemId source;                 ///< Stub: the visible item that makes the value or hides its producer; may be none
    std::uint32_t stubs = 0;       ///< how many stubs stand for values made here
    std::uint32_t rank = 0;        ///< position along the flow among its siblings
};

/// One line from a border to a border; several lines may share stretches where values fan out.
struct SceneEdge {
    Path path;    ///< absolute, the arrow's tip at its end
    ItemId from;  ///< never an open box, unless the value has no other visible producer
    ItemId to;
    std::vector<NodeId> values;  ///< that it carries, in the order of the reader's arguments
    Point labelAt;               ///< where text may stand: half way along
    bool fromStub = false;
};

/// A stretch of one or more edges within one open box. All strokes together are all edges, with no stretch twice: draw
/// these, and the path of an edge only to set it off.
struct SceneStroke {
    Path path;
    bool arrow = false;  ///< ends at a reader and not at a border
    bool fromStub = false;
    std::vector<std::uint32_t> edges;  ///< indices in SceneLayout::edges
};

/// Where a line of a flow in columns leaves one column and goes on in another. The names of what it leads to and of
/// where it comes from may stand at these places, on its path.
struct SceneJump {
    Point leaves;  ///< lines of one value that share their lane have the same
    Point arrives;
    ItemId from;  ///< what is in the columns: an open box, where its inside is one of many
    ItemId to;
    std::vector<NodeId> values;
    std::vector<std::uint32_t> edges;  ///< indices in SceneLayout::edges
};

struct SceneLayout {
    std::vector<SceneItem> items;  ///< parents before children, stubs last
    std::vector<SceneEdge> edges;
    std::vector<SceneStroke> strokes;
    std::vector<SceneJump> jumps;  ///< of ViewState::columnHeight
    std::vector<ItemId> top;       ///< items without a parent
    Rect bounds;
    Direction direction = Direction::TopDown;
    std::uint32_t hiddenExprs = 0;      ///< inside closed boxes
    std::uint32_t hiddenConstants = 0;  ///< because of ViewState::hideConstants
    std::uint32_t foldedExprs = 0;      ///< in equal blocks that another one stands for; constants not counted
    std::uint32_t foldedBlocks = 0;     ///< how many such blocks
    std::uint32_t filteredExprs = 0;    ///< because of ViewState::filtered
    std::uint32_t shapeExprs = 0;       ///< because of ViewState::foldShapes
    std::vector<std::string> notes;     ///< about engines: "layer3: laid out by the layered engine: …"
    std::uint32_t piecesLaidOut = 0;    ///< levels that had to be laid out …
    std::uint32_t piecesFromCache = 0;  ///< … and levels that were known already

    const SceneItem& item(ItemId id) const { return items[id.index()]; }
    /// The item that shows an expr: itself, the closed box that hides it, its counterpart in the block that stands for
    /// its own, or the reader that stands for a hidden constant or for what computes its shapes; none for an erased,
    /// unread or filtered one.
    ItemId itemOf(ExprId expr) const { return expr.index() < exprItems.size() ? exprItems[expr.index()] : ItemId(); }
    /// The item of a scope, open or closed or inlined, or the closed box that hides it; none for the root.
    ItemId itemOf(ScopeId scope) const {
        return scope.index() < scopeItems.size() ? scopeItems[scope.index()] : ItemId();
    }
    ItemId find(const ItemKey& key) const;
    /// The innermost item at a place; none on empty background. Linear in the children of the boxes there.
    ItemId itemAt(Point p) const;

    std::vector<ItemId> exprItems;   ///< by ExprId
    std::vector<ItemId> scopeItems;  ///< by ScopeId
};

/// Steps of the arrow keys, in terms of the flow: along edges, and among siblings of about the same rank.
enum class Move : std::uint8_t { Forward, Backward, Previous, Next };
/// Where a step leads; none if there is nothing. Forward out of a stub leads to its consumer, backward to its source.
ItemId neighbour(const SceneLayout& scene, ItemId from, Move move);
/// Edges that end or begin at an item or, if it is an open box, inside it and outside it at once.
std::vector<std::size_t> edgesAt(const SceneLayout& scene, ItemId item);

struct SceneOptions {
    ItemMetrics metrics;                                               ///< must be set
    std::chrono::milliseconds budget = LayoutWorkers::kDefaultBudget;  ///< for one level
    /// Of Graphviz for all levels together, as it is expected to take, summed over the helpers; the layered engine does
    /// the rest, and says so.
    std::chrono::milliseconds allowance{250};
    /// Told a picture with some levels laid out coarsely, when the whole takes longer than `partialAfter`; may be
    /// empty.
    std::function<void(std::shared_ptr<const SceneLayout>)> onPartial;
    std::chrono::milliseconds partialAfter{200};
};

/// Lays out what a view shows. Each open box's inside is laid out alone, from the innermost outwards, taken from the
/// cache where its structure is known; boxes are then composed, and edges joined at the borders that they cross. Edges
/// of values read in many places are drawn as stubs. Deterministic but for time budgets. Fails only with Cancelled.
base::Result<std::shared_ptr<const SceneLayout>> composeScene(const Outline& outline, const ViewState& view,
                                                              const SceneOptions& options, LayoutWorkers& workers,
                                                              LayoutCache& cache, const base::WorkContext& work = {});

}  // namespace sonde::layout
