#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/layout/scene.h"

namespace sonde::layout::compose {

inline constexpr std::uint32_t kNone = 0xffffffff;

/// A value on its path from the item that produces it to one that consumes it.
struct Connection {
    NodeId value;
    std::uint32_t from = kNone;  ///< index of an item
    std::uint32_t to = kNone;
    std::uint32_t order = 0;  ///< among all: by the consumers' execution, then by their arguments
};

/// Marks the index of a port in a level's border.
inline constexpr std::uint32_t kPortIn = 0x80000000, kPortOut = 0x40000000;

/// A segment of connections within one level: between two of its members, or from or to a port in the level's border
/// (kPortIn or kPortOut, and an index into Level::portsIn or portsOut).
struct LevelEdge {
    std::uint32_t from = kNone;
    std::uint32_t to = kNone;
    NodeId fromPort;  ///< the value by whose port it leaves an open member; none: the member itself is the end
    NodeId toPort;
    /// By which port it enters or leaves a closed member, in the order of arguments or of outputs.
    struct Place {
        std::uint32_t index = 0;
        std::uint32_t count = 1;
    };
    Place fromPlace, toPlace;
    NodeId value;             ///< the first one that it carries
    std::uint32_t order = 0;  ///< minimum Connection::order of those that it carries
    bool atStub = false;
};

/// The inside of one open box (or the top level), which is laid out separately.
struct Level {
    std::uint32_t container = kNone;  ///< item; none: the top
    std::uint32_t depth = 0;
    std::vector<std::uint32_t> members;  ///< items
    std::vector<NodeId> portsIn,
        portsOut;  ///< in the order of arguments inside; of first use outside, or of production
    std::vector<LevelEdge> edges;
};

/// Where a connection runs: an edge of a level.
struct Step {
    std::uint32_t level = 0;
    std::uint32_t edge = 0;
};

/// A line of the future scene: the connections that share all steps.
struct Line {
    std::uint32_t from = kNone;
    std::uint32_t to = kNone;
    std::vector<NodeId> values;
    std::vector<Step> steps;
    bool fromStub = false;
};

/// A block of a folded run. Exprs in it have the same items as those of the block that is shown.
struct FoldedBlock {
    std::uint32_t run = 0;
    std::uint32_t instance = 0;
    bool shown = false;
    std::uint32_t parent = kNone;  ///< the block around it, index in LayoutDraft::blocks
    std::uint32_t depth = 0;
};

/// A scene before it has geometry.
struct LayoutDraft {
    const Outline* outline = nullptr;
    const ViewState* view = nullptr;
    std::vector<SceneItem> items;          ///< without rectangles; parents before children, except for stubs at the end
    std::vector<std::uint32_t> itemDepth;  ///< by item: 0 at the top
    std::vector<std::uint32_t> levelOf;    ///< by item: its inside, if it is open
    std::vector<std::uint32_t> slot;       ///< by item: its index in its parent's level
    std::vector<ItemId> exprItems, scopeItems;
    std::vector<Level> levels;  ///< the top first
    std::vector<Line> lines;
    std::vector<FoldedBlock> blocks;
    std::vector<bool> shapes;            ///< by ExprId: operations that are folded into their consumers; empty: none
    std::vector<std::uint32_t> blockOf;  ///< by ExprId: the innermost folded block; empty if nothing is folded
    std::uint32_t hiddenExprs = 0, hiddenConstants = 0;
    std::uint32_t foldedExprs = 0, foldedBlocks = 0, filteredExprs = 0, shapeExprs = 0;

    bool isShape(ExprId expr) const { return expr.index() < shapes.size() && shapes[expr.index()]; }
    std::uint32_t parentOf(std::uint32_t item) const {
        return items[item].parent.valid() ? items[item].parent.value : kNone;
    }
    std::uint32_t levelAround(std::uint32_t item) const {
        const std::uint32_t parent = parentOf(item);
        return parent == kNone ? 0 : levelOf[parent];
    }
};

/// Which items a view shows, and what each hides.
void findItems(LayoutDraft& draft);
/// Connects producers and consumers: what is drawn as stubs, and the levels with their edges.
void connectItems(LayoutDraft& draft);
/// Measures the items, lays out all levels from the innermost outwards, and composes the scene.
base::Result<std::shared_ptr<const SceneLayout>> arrange(const LayoutDraft& draft, const SceneOptions& options,
                                                         LayoutWorkers& workers, LayoutCache& cache,
                                                         const base::WorkContext& work);

}  // namespace sonde::layout::compose
