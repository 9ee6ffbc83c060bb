#include "ui/canvas/mark_text.h"

#include <algorithm>
#include <utility>

#include "ui/canvas/scene_selection.h"
#include "ui/context/lessons.h"
#include "ui/models/short_text.h"

namespace sonde::canvas {

using context::Breakpoints;
using layout::ItemId;

namespace {

constexpr qsizetype kMaxShown = 6;       ///< breakpoints, notes
constexpr qsizetype kMaxNoteSize = 400;  ///< characters of a note

bool isAt(const context::InspectorContext& context, const layout::SceneLayout& scene, ItemId item,
          const Breakpoints::Point& point) {
    using Kind = Breakpoints::Point::Kind;
    if (point.isMissing) return false;
    const graph::InternalGraph& graph = context.model().graph();
    if (point.kind == Kind::Event) {
        for (const graph::ExprId id : context.breakpoints().hitsOf(point))
            if (scene.itemOf(id) == item) return true;
        return false;
    }
    if (point.kind == Kind::Operator || (point.kind == Kind::Module && point.isLeaf)) {
        for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
            if (scene.itemOf(id) == item && session::debug::Breakpoints::isOf(point, graph, graph.expr(id)))
                return true;
        return false;
    }
    if (point.kind == Kind::Module)
        if (const ItemId module = itemOf(scene, context.navigation().selectionOf(QString::fromStdString(point.name))))
            return module == item;
    const graph::NodeId node = context.breakpoints().nodeOf(point);
    return node.valid() && scene.itemOf(graph.node(node).producer) == item;
}

/// On the value itself, or on what reads a weight that is not drawn.
bool isEditedAt(const graph::InternalGraph& graph, const layout::SceneLayout& scene, ItemId item,
                const context::Edits::Entry& entry) {
    for (const graph::NodeId id : entry.ready->nodes()) {
        const graph::Node& node = graph.node(id);
        const ItemId own = scene.itemOf(node.producer);
        if (own ? own == item
                : std::ranges::any_of(node.users, [&](graph::ExprId user) { return scene.itemOf(user) == item; }))
            return true;
    }
    return false;
}

void addShortened(QStringList& lines, QStringList all) {
    const qsizetype count = all.size();
    lines << all.mid(0, kMaxShown);
    if (count > kMaxShown) lines << QStringLiteral("+%1 more").arg(count - kMaxShown);
}

}  // namespace

QStringList markTexts(const context::InspectorContext& context, const layout::SceneLayout& scene, ItemId item) {
    QStringList lines, points, edits, notes;
    for (const Breakpoints::Point& point : context.breakpoints().all())
        if (isAt(context, scene, item, point)) points << models::oneLine(Breakpoints::tipOf(point));
    const graph::InternalGraph& graph = context.model().graph();
    for (const context::Edits::Entry& entry : context.edits().all())
        if (entry.counts() && !context::lessonsOf(context).hidesEdits() && isEditedAt(graph, scene, item, entry))
            edits << models::oneLine(QObject::tr("Edit: %1").arg(QString::fromStdString(editText(entry.edit))));
    for (const session::Notes::Entry& note : context.notes().all())
        if (note.node.valid() && scene.itemOf(graph.node(note.node).producer) == item) {
            QString text = QString::fromStdString(note.text);
            if (text.size() > kMaxNoteSize) text = text.left(kMaxNoteSize) + QChar(0x2026);
            notes << QObject::tr("Note: %1").arg(text);
        }
    QStringList differences;
    for (const context::DifferenceMarks::Mark& mark : context.differenceMarks().all())
        if (scene.itemOf(mark.expr) == item && !differences.contains(mark.text)) differences << mark.text;
    addShortened(lines, differences);
    addShortened(lines, points);
    addShortened(lines, edits);
    addShortened(lines, notes);
    return lines;
}

QString inBlocks(const QString& what, const BlockCounts* blocks, ItemFlag flag) {
    const std::uint32_t part = blocks ? blocks->part(flag) : 0;
    return part == 0 ? what : QObject::tr("%1 in %2 of %3 blocks").arg(what).arg(part).arg(blocks->all);
}

QStringList blockTexts(const BlockCounts* blocks) {
    static constexpr std::pair<ItemFlag, const char*> kTexts[] = {
        {kEdited, QT_TR_NOOP("Edited values")}, {kWhatIf, QT_TR_NOOP("Counterfactual")},
        {kDiffers, QT_TR_NOOP("Differs")},      {kBisected, QT_TR_NOOP("Found by the bisection")},
        {kFailed, QT_TR_NOOP("Failed")},        {kBadValue, QT_TR_NOOP("NaN or infinite")},
        {kFinding, QT_TR_NOOP("Findings")},     {kRemoved, QT_TR_NOOP("Removed")},
        {kAdded, QT_TR_NOOP("Added")},          {kChanged, QT_TR_NOOP("Changed")},
        {kMoved, QT_TR_NOOP("Moved")}};
    QStringList lines;
    for (const auto& [flag, text] : kTexts)
        if (blocks && blocks->part(flag) > 0) lines << inBlocks(QObject::tr(text), blocks, flag);
    return lines;
}

}  // namespace sonde::canvas
