#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/layout/outline.h"
#include "core/layout/scene.h"
#include "ui/canvas/scene_marks.h"

namespace sonde::canvas {

/// Collects the flags of a scene's items, allocated once there is any.
class SceneFlags {
  public:
    SceneFlags(const layout::SceneLayout& scene, const layout::Outline& outline) : m_scene(scene), m_outline(outline) {}

    const layout::SceneLayout& scene() const { return m_scene; }
    void add(layout::ItemId item, ItemFlags flag);
    /// Of what leads to an operation: also where the item is that of the same operation in an equal block, or of one
    /// around it.
    void add(graph::ExprId expr, ItemFlags flag);
    /// Of what is true of a value: where equal blocks are drawn as one, only if it is in the block that is shown. The
    /// box counts the blocks in which it is true. A constant that is not drawn is marked where it is read.
    void addTrue(graph::ExprId expr, ItemFlags flag);
    /// The same as add(), unless something with the flag `once` is there: then whether the run has stopped there counts
    /// alone.
    template <typename Id>
    void addOnce(Id id, ItemFlags flag, ItemFlags once) {
        const layout::ItemId item = itemIdOf(id);
        if (!item) return;
        const bool isThere = item.index() < m_flags.size() && (m_flags[item.index()] & once) != 0;
        if (!isThere) add(id, flag);
        else if (flag & kBreakHit) add(item, kBreakHit);
    }
    ItemMarks take();

  private:
    layout::ItemId itemIdOf(layout::ItemId item) const { return item; }
    layout::ItemId itemIdOf(graph::ExprId expr) const { return expr.valid() ? m_scene.itemOf(expr) : layout::ItemId(); }
    void addIfShown(graph::ExprId expr, ItemFlags flag);
    bool isOfShownBlock(graph::ExprId expr, layout::ItemId item, ItemFlags flag);
    void count(layout::ItemId box, std::uint32_t instance, ItemFlags flag);
    std::optional<std::uint32_t> instanceOf(graph::ExprId expr, std::uint32_t run) const;

    const layout::SceneLayout& m_scene;
    const layout::Outline& m_outline;
    std::vector<ItemFlags> m_flags;
    std::map<std::pair<layout::ItemId, ItemFlags>, std::vector<bool>> m_blocks;  ///< by box and flag: in which it is
};

}  // namespace sonde::canvas
