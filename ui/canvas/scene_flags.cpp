#include "ui/canvas/scene_flags.h"

#include <algorithm>

namespace sonde::canvas {

using layout::ItemId;

void SceneFlags::add(ItemId item, ItemFlags flag) {
    if (m_flags.empty()) m_flags.resize(m_scene.items.size(), 0);
    m_flags[item.index()] = static_cast<ItemFlags>(m_flags[item.index()] | flag);
}

void SceneFlags::add(graph::ExprId expr, ItemFlags flag) {
    const ItemId item = itemIdOf(expr);
    if (!item) return;
    const layout::ItemDescription& what = m_scene.item(item).what;
    const bool inside =
        what.kind == layout::ItemKind::Module ? !what.open : what.kind == layout::ItemKind::Expr && what.expr != expr;
    add(item, static_cast<ItemFlags>(flag | (inside ? kInside : ItemFlags{0})));
}

void SceneFlags::addTrue(graph::ExprId expr, ItemFlags flag) {
    if (!expr.valid()) return;
    const graph::Expr& made = m_outline.graph().expr(expr);
    const ItemId item = itemIdOf(expr);
    const bool isDrawn = item && m_scene.item(item).what.expr == expr;
    bool isRead = false;
    if (layout::Outline::isConstant(made) && !isDrawn)
        for (const graph::NodeId output : made.outputs)
            for (const graph::ExprId user : m_outline.graph().node(output).users) {
                isRead = isRead || itemIdOf(user);
                addIfShown(user, flag | kInside);
            }
    if (!isRead) addIfShown(expr, flag);
}

void SceneFlags::addIfShown(graph::ExprId expr, ItemFlags flag) {
    const ItemId item = itemIdOf(expr);
    if (item && isOfShownBlock(expr, item, flag)) add(expr, flag);
}

/// Counts the block on the way: of blocks in blocks only where those around it are shown.
bool SceneFlags::isOfShownBlock(graph::ExprId expr, ItemId item, ItemFlags flag) {
    if (m_scene.foldedBlocks == 0) return true;
    std::vector<ItemId> boxes;  // from the innermost one
    for (ItemId at = item; at; at = m_scene.item(at).parent)
        if (m_scene.item(at).what.repeat > 0) boxes.push_back(at);
    std::ranges::reverse(boxes);
    for (const ItemId box : boxes) {
        const layout::SceneItem& drawn = m_scene.item(box);
        const auto instance = instanceOf(expr, m_outline.runOf(drawn.group));
        if (!instance) return true;
        count(box, *instance, flag & ~ItemFlags{kInside});
        if (*instance != drawn.what.instance) return false;
    }
    return true;
}

void SceneFlags::count(ItemId box, std::uint32_t instance, ItemFlags flag) {
    add(box, flag | kInside);
    for (ItemFlags rest = flag; rest != 0; rest &= rest - 1) {
        std::vector<bool>& in = m_blocks[{box, rest & ~(rest - 1)}];
        in.resize(std::max<std::size_t>(m_scene.item(box).what.repeat, instance + 1), false);
        in[instance] = true;
    }
}

std::optional<std::uint32_t> SceneFlags::instanceOf(graph::ExprId expr, std::uint32_t run) const {
    for (layout::GroupId at = m_outline.groupOf(expr); at.valid(); at = m_outline.group(at).parent)
        if (m_outline.runOf(at) == run) return m_outline.instanceOf(at);
    return std::nullopt;
}

ItemMarks SceneFlags::take() {
    ItemMarks marks{std::move(m_flags), {}};
    for (const auto& [key, in] : m_blocks) {
        BlockCounts& counts = marks.blocks[key.first];
        counts.all = static_cast<std::uint32_t>(in.size());
        counts.marked[key.second] = static_cast<std::uint32_t>(std::ranges::count(in, true));
    }
    return marks;
}

}  // namespace sonde::canvas
