#include "ui/canvas/canvas_text.h"

#include <QStringList>

#include "ui/canvas/item_text.h"
#include "ui/canvas/mark_text.h"
#include "ui/context/count_text.h"

namespace sonde::canvas {

using layout::ItemId;

QString CanvasText::twin() const {
    return m_view.painter() ? sceneAsText(m_view.painter()->items().graph(), *m_view.scene()) : QString();
}

int CanvasText::currentLine() const {
    const ItemId current = m_view.currentItem();
    if (!current) return -1;
    int line = 0;
    for (const auto& [item, depth] : itemsInOrder(*m_view.scene())) {
        if (item == current) return line;
        ++line;
    }
    return -1;
}

ItemId CanvasText::itemOfLine(int line) const {
    if (!m_view.painter()) return {};
    const auto items = itemsInOrder(*m_view.scene());
    return line >= 0 && line < static_cast<int>(items.size()) ? items[static_cast<std::size_t>(line)].first : ItemId();
}

QString CanvasText::spoken(ItemId id) const {
    if (!m_view.painter() || !id) return {};
    QString text = spokenText(m_model.graph(), m_view.scene()->item(id));
    const ItemFlags flags = m_marks.now().of(id);
    const BlockCounts* const blocks = m_marks.now().blocksOf(id);
    const auto add = [&](ItemFlag flag, const QString& what) {
        if (flags & flag) text += QStringLiteral(", ") + inBlocks(what, blocks, flag);
    };
    if (flags & kWatched) text += tr(", watched");
    if (flags & kBreak) {
        text += flags & kBreakLog  ? tr(", log point")
                : flags & kBreakIf ? tr(", breakpoint with a condition")
                                   : tr(", breakpoint");
        if (flags & kBreakOff) text += tr(" (disabled)");
    }
    if (flags & kNote) text += tr(", note");
    add(kEdited, tr("edited value"));
    add(kWhatIf, tr("counterfactual"));
    if (flags & kEnd) text += tr(", end point");
    add(kFailed, tr("failed"));
    add(kBadValue, tr("has NaN or infinite elements"));
    add(kFinding, tr("has findings"));
    add(kDiffers, tr("differs"));
    add(kBisected, tr("in the part found by a bisection"));
    if (flags & kMatch) text += tr(", search match");
    if (flags & kBookmarked) text += tr(", bookmark");
    if (flags & kUntraced) text += tr(", not traced");
    if (flags & kDimmed) text += tr(", not reached");
    return text;
}

QString CanvasText::facts(ItemId item) const {
    return m_view.painter() && item ? itemFacts(m_model.graph(), m_view.scene()->item(item)) : QString();
}

QString CanvasText::hidden() const {
    const auto scene = m_view.scene();
    if (!scene) return {};
    QStringList parts;
    if (const auto n = scene->filteredExprs) parts << tr("%1 filtered out").arg(context::countText(n));
    if (const auto n = scene->foldedExprs)
        parts << tr("%1 in %2 repeated blocks").arg(context::countText(n), context::countText(scene->foldedBlocks));
    if (const auto n = scene->hiddenExprs) parts << tr("%1 in collapsed modules").arg(context::countText(n));
    if (const auto n = scene->shapeExprs)
        parts << (n == 1 ? tr("1 shape computation") : tr("%1 shape computations").arg(context::countText(n)));
    if (const auto n = scene->hiddenConstants)
        parts << (n == 1 ? tr("1 weight or constant") : tr("%1 weights and constants").arg(context::countText(n)));
    return parts.isEmpty() ? QString() : tr("Hidden: ") + parts.join(QStringLiteral(", "));
}

QString CanvasText::hiddenCount() const {
    const auto scene = m_view.scene();
    if (!scene) return {};
    const std::uint64_t all = std::uint64_t{scene->filteredExprs} + scene->foldedExprs + scene->hiddenExprs +
                              scene->shapeExprs + scene->hiddenConstants;
    return all == 0 ? QString() : tr("%1 hidden").arg(context::countText(all));
}

}  // namespace sonde::canvas
