#pragma once

#include <QImage>
#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/graph/ids.h"
#include "core/layout/scene.h"
#include "ui/canvas/coloring.h"

namespace sonde::canvas {

/// What is to be seen on an item besides its text. Bits, so that a hundred thousand of them are a small array.
using ItemFlags = std::uint32_t;
enum ItemFlag : ItemFlags {
    kWatched = 1 << 0,
    kEnd = 1 << 1,
    kFailed = 1 << 2,
    kDimmed = 1 << 3,   ///< not reached by the last run
    kCurrent = 1 << 4,  ///< computed next by a debugged run, or now by another
    kMatch = 1 << 5,    ///< found by the search
    kCurrentHit = 1 << 6,
    kBadValue = 1 << 7,  ///< the value holds NaN or Inf that nobody accepted
    kInside = 1 << 8,    ///< the mark is of something inside this closed box
    kUntraced = 1 << 9,  ///< a module that could not be traced and runs as one opaque call
    kRemoved = 1 << 10,  ///< removed by a pass, or not in the model beside this one
    kAdded = 1 << 11,    ///< added by a pass, or not in the model that this one is compared with
    kChanged = 1 << 12,  ///< other inputs, attributes, constants or weights there
    kBookmarked = 1 << 13,
    kTaken = 1 << 14,     ///< the branch that the last run took
    kDiffers = 1 << 15,   ///< the value is farther from what it is compared with than the tolerance allows
    kBreak = 1 << 16,     ///< a breakpoint or log point
    kBreakOff = 1 << 17,  ///< it is disabled
    kBreakHit = 1 << 18,  ///< the run has stopped at it
    kBreakIf = 1 << 19,   ///< it has a condition
    kBreakLog = 1 << 20,  ///< a log point
    kNote = 1 << 21,      ///< a user has written something on it
    kEdited = 1 << 22,    ///< its value is overwritten, or that of a weight that it reads and that is not drawn
    kWhy = 1 << 23,       ///< a hop of "why this value"
    kFinding = 1 << 25,   ///< an audit found something there that nobody accepted
    kBisected = 1 << 26,  ///< of the part in which another model gives other values
    kWhatIf = 1 << 24,    ///< its value in the run that is shown may be another one by edits
    kMoved = 1 << 27,     ///< the same operation is elsewhere in the model beside this one
};

/// The live value of a node, ready to be drawn.
struct Preview {
    QImage image;   ///< the thumbnail; null if the value is a number or a text
    QString big;    ///< a number or short text in place of a picture
    QString range;  ///< "-2.12 … 3.87"
    bool bad = false;
};
using Previews = std::map<graph::NodeId, Preview>;
/// The values that modules stand for, their outputs, by call.
using ModuleValues = std::map<graph::ScopeId, graph::NodeId>;

/// What watched expressions came to that are pinned on an item, in one line.
struct PinnedText {
    QString text;  ///< "max(abs(fc)) = 12.5"
    bool isError = false;
    bool operator==(const PinnedText&) const = default;
};
/// By operation, or by call of a closed module.
struct Pins {
    std::map<graph::ExprId, PinnedText> ofExpr;
    std::map<graph::ScopeId, PinnedText> ofModule;
    bool operator==(const Pins&) const = default;
};

/// Of a box that stands for repeated blocks: in how many of them there is what a mark says.
struct BlockCounts {
    std::uint32_t all = 0;
    std::map<ItemFlags, std::uint32_t> marked = {};  ///< by flag, of 1 or more

    /// 0: in all of them, or in none.
    std::uint32_t part(ItemFlags flag) const {
        const auto found = marked.find(flag);
        return found == marked.end() || found->second == all ? 0 : found->second;
    }
    bool operator==(const BlockCounts&) const = default;
};

/// By item: `flags` is empty if no item has any.
struct ItemMarks {
    std::vector<ItemFlags> flags;
    std::map<layout::ItemId, BlockCounts> blocks;

    ItemFlags of(layout::ItemId item) const { return item.index() < flags.size() ? flags[item.index()] : ItemFlags{0}; }
    /// Null where an item stands for itself alone, or nothing is marked in it.
    const BlockCounts* blocksOf(layout::ItemId item) const {
        const auto found = blocks.find(item);
        return found == blocks.end() ? nullptr : &found->second;
    }
};

/// The state of a scene's items.
struct SceneMarks : ItemMarks {
    std::shared_ptr<const Previews> previews;
    std::shared_ptr<const Coloring> coloring;  ///< null: by operator category
    ModuleValues moduleValues;                 ///< of modules whose value is watched

    Pins pins;

    const PinnedText* pinned(const layout::ItemDescription& what) const {
        if (what.kind == layout::ItemKind::Module) {
            const auto found = what.open ? pins.ofModule.end() : pins.ofModule.find(what.scope);
            return found == pins.ofModule.end() ? nullptr : &found->second;
        }
        const auto found = pins.ofExpr.find(what.expr);
        return found == pins.ofExpr.end() ? nullptr : &found->second;
    }
    const Tint* tint(const layout::ItemDescription& what) const { return coloring ? coloring->of(what) : nullptr; }
    /// The watched value of a closed module; invalid if it has none.
    graph::NodeId moduleValue(graph::ScopeId scope) const {
        const auto found = moduleValues.find(scope);
        return found == moduleValues.end() ? graph::NodeId() : found->second;
    }
    const Preview* preview(graph::NodeId node) const {
        if (!previews || !node.valid()) return nullptr;
        const auto found = previews->find(node);
        return found == previews->end() ? nullptr : &found->second;
    }
};

}  // namespace sonde::canvas
