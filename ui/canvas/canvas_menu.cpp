#include "ui/canvas/canvas_menu.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>

#include <algorithm>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/count_text.h"
#include "ui/theme/icon.h"

namespace sonde::canvas {

using layout::ItemId;
using layout::ItemKind;

void CanvasMenu::fill(QMenu& menu) {
    GraphCanvas* canvas = &m_canvas;
    context::InspectorContext* context = &m_context;
    const ItemId item = m_canvas.currentItem();
    const graph::NodeId node = m_canvas.currentNode();
    const auto add = [&](const QString& icon, const QString& text, auto act) {
        QAction* action = menu.addAction(theme::icon(icon), text);
        QObject::connect(action, &QAction::triggered, &m_canvas, act);
        return action;
    };
    if (node) {
        add(QStringLiteral("watch"),
            m_context.points().isWatched(node) ? GraphCanvas::tr("Clear &Watch Point")
                                               : GraphCanvas::tr("Set &Watch Point"),
            [canvas] { canvas->toggleWatch(); });
        add(QStringLiteral("end"),
            m_context.points().isEnd(node) ? GraphCanvas::tr("Clear &End Point") : GraphCanvas::tr("Set &End Point"),
            [canvas] { canvas->toggleEnd(); });
        add(QStringLiteral("run-to"), GraphCanvas::tr("Run to &Here"),
            [context, node] { context->runs().runTo(node); });
        const bool isAccepted = m_context.problems().isAccepted(node);
        if (isAccepted || m_context.problems().counted(node))
            add(QStringLiteral("warning"),
                isAccepted ? GraphCanvas::tr("NaN and Inf Are a &Problem") : GraphCanvas::tr("&Accept NaN and Inf"),
                [context, node, isAccepted] { context->problems().setAccepted(node, !isAccepted); });
        menu.addSeparator();
    }
    if (item) {
        const layout::ItemDescription& what = m_canvas.scene()->item(item).what;
        if (what.expandable) {
            add(QStringLiteral("module"), what.open ? GraphCanvas::tr("&Collapse") : GraphCanvas::tr("E&xpand"),
                [canvas] { canvas->toggleCurrent(); });
            add(QStringLiteral("expand-all"), GraphCanvas::tr("Expand &All Inside"),
                [canvas] { canvas->expandAllInside(); });
            if (what.open)
                add(QStringLiteral("collapse-all"), GraphCanvas::tr("Collapse All &Inside"),
                    [canvas] { canvas->collapseAllInside(); });
        }
        addRuns(menu);
        if (what.kind == ItemKind::Stub)
            add(QStringLiteral("link"), GraphCanvas::tr("Go to &Producer"), [canvas] { canvas->followCurrent(); });
        if (m_canvas.scene()->item(item).stubs > 0)
            add(QStringLiteral("link"), GraphCanvas::tr("Go to First &Stub"), [canvas] { canvas->followCurrent(); });
        if (m_canvas.scene()->item(item).parent)
            add(QStringLiteral("collapse"), GraphCanvas::tr("&Leave Module"), [canvas] { canvas->leaveModule(); });
        menu.addSeparator();
        QMenu* only = menu.addMenu(theme::icon(QStringLiteral("filter")), GraphCanvas::tr("Show &Only"));
        const auto show = [&](const QString& icon, const QString& text, auto act) {
            QObject::connect(only->addAction(theme::icon(icon), text), &QAction::triggered, &m_canvas, act);
        };
        show(QStringLiteral("producer"), GraphCanvas::tr("&Upstream"),
             [canvas] { canvas->state().focusConeOfSelection(true, false); });
        show(QStringLiteral("consumer"), GraphCanvas::tr("&Downstream"),
             [canvas] { canvas->state().focusConeOfSelection(false, true); });
        show(QStringLiteral("link"), GraphCanvas::tr("&Both"),
             [canvas] { canvas->state().focusConeOfSelection(true, true); });
        if (m_context.navigation().selectedNodes().size() > 1)
            show(QStringLiteral("graph"), GraphCanvas::tr("&Paths Between"),
                 [canvas] { canvas->state().focusPaths(); });
        show(QStringLiteral("node"), GraphCanvas::tr("&Selection"), [canvas] { canvas->state().isolateSelection(); });
        add(QStringLiteral("remove"), GraphCanvas::tr("&Hide"), [canvas] { canvas->state().hideSelection(); });
        const context::Selection marked = m_context.navigation().selection();
        add(QStringLiteral("bookmark"),
            m_context.navigation().isBookmarked(marked) ? GraphCanvas::tr("Clear Boo&kmark")
                                                        : GraphCanvas::tr("Boo&kmark"),
            [context, marked] { context->navigation().toggleBookmark(marked); });
        menu.addSeparator();
        add(QStringLiteral("copy"), GraphCanvas::tr("Copy &Name"), [canvas] { canvas->copyName(); });
        const QString qualname = m_context.navigation().selection().qualname;
        if (!qualname.isEmpty())
            add(QStringLiteral("copy"), GraphCanvas::tr("Copy &Module Path"),
                [qualname] { QApplication::clipboard()->setText(qualname); });
        add(QStringLiteral("tree"), GraphCanvas::tr("Show in Module &Tree"),
            [context, marked = context->navigation().selection()] { context->navigation().showInTree(marked); });
        menu.addSeparator();
    }
    const int own = m_context.navigation().selection().isNone()
                        ? -1
                        : m_context.model().graphOfModule(m_context.navigation().selection().qualname);
    if (own >= 0 && own != m_context.model().shownGraph())
        add(QStringLiteral("graph"), GraphCanvas::tr("Module's Own &Graph"),
            [context, own] { context->loader().showGraph(own); });
    if (m_context.model().shownGraph() > 0)
        add(QStringLiteral("module"), GraphCanvas::tr("Whole &Model"), [context] { context->loader().showGraph(0); });
    add(QStringLiteral("fit"), GraphCanvas::tr("&Fit"), [canvas] { canvas->fit(); });
    if (item) add(QStringLiteral("expand"), GraphCanvas::tr("Fit &Selection"), [canvas] { canvas->fitSelection(); });
    QAction* legend =
        add(QStringLiteral("info"), GraphCanvas::tr("Le&gend"), [canvas](bool on) { canvas->setLegendVisible(on); });
    legend->setCheckable(true);
    legend->setChecked(m_canvas.legendVisible());
}

/// Of a block that stands for equal ones, or in one: which is shown, and whether all are.
void CanvasMenu::addRuns(QMenu& menu) {
    GraphCanvas* canvas = &m_canvas;
    const std::uint32_t run = m_canvas.state().runOf(m_context.navigation().selection());
    if (run == layout::Outline::kNoRun) return;
    const layout::Outline& outline = *m_context.model().outline();
    const std::vector<layout::GroupId>& blocks = outline.runs()[run].instances;
    if (!layout::isFolded(outline, m_canvas.state().view(), run)) {
        QObject::connect(
            menu.addAction(theme::icon(QStringLiteral("collapse")),
                           GraphCanvas::tr("&Fold into One, \u00d7 %1").arg(context::countText(blocks.size()))),
            &QAction::triggered, &m_canvas, [canvas, run] { canvas->state().setRunFolded(run, true); });
        return;
    }
    QObject::connect(menu.addAction(theme::icon(QStringLiteral("expand")),
                                    GraphCanvas::tr("Draw &All %1").arg(context::countText(blocks.size()))),
                     &QAction::triggered, &m_canvas, [canvas, run] { canvas->state().setRunFolded(run, false); });
    QMenu* which = menu.addMenu(theme::icon(QStringLiteral("module")), GraphCanvas::tr("Show &Block"));
    constexpr std::size_t kMaxEntries = 60;  // more than fit on a screen; Ctrl+Page Down goes to all of them
    for (std::size_t i = 0; i < std::min(blocks.size(), kMaxEntries); ++i) {
        const std::string& qualname = m_context.model().graph().scope(outline.group(blocks[i]).scope).qualname;
        QAction* action =
            which->addAction(QString::fromStdString(qualname).left(80).replace(u'&', QStringLiteral("&&")));
        action->setCheckable(true);
        action->setChecked(i == layout::shownInstance(outline, m_canvas.state().view(), run));
        QObject::connect(action, &QAction::triggered, &m_canvas,
                         [canvas, run, i] { canvas->state().showInstance(run, static_cast<std::uint32_t>(i)); });
    }
}

}  // namespace sonde::canvas
