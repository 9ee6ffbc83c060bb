#include "ui/canvas/canvas_menu.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QWidget>

#include <algorithm>

#include "ui/context/count_text.h"
#include "ui/context/why.h"
#include "ui/theme/icon.h"

namespace sonde::canvas {

using layout::ItemId;
using layout::ItemKind;

QAction* CanvasMenu::add(QMenu& menu, const char* icon, const QString& text, const Act& act) {
    QAction* action = menu.addAction(theme::icon(QLatin1String(icon)), text);
    QObject::connect(action, &QAction::triggered, &m_parts.widget, act);
    return action;
}

void CanvasMenu::fill(QMenu& menu) {
    addPoints(menu);
    if (const ItemId item = m_parts.view.currentItem()) {
        addBox(menu, item);
        menu.addSeparator();
        addFocus(menu);
        menu.addSeparator();
        addNames(menu);
        menu.addSeparator();
    }
    addGraphs(menu);
    CanvasNavigation* navigation = &m_parts.navigation;
    add(menu, "fit", tr("&Fit"), [navigation] { navigation->fit(); });
    if (m_parts.view.currentItem())
        add(menu, "expand", tr("Fit &Selection"), [navigation] { navigation->fitSelection(); });
    addLegend(menu);
}

void CanvasMenu::addPoints(QMenu& menu) {
    const graph::NodeId node = m_parts.navigation.currentNode();
    if (!node) return;
    CanvasNavigation* navigation = &m_parts.navigation;
    context::InspectorContext* context = &m_parts.context;
    add(menu, "watch", context->points().isWatched(node) ? tr("Clear &Watch Point") : tr("Set &Watch Point"),
        [navigation] { navigation->toggleWatch(); });
    const context::Selection selection = context->navigation().selection();
    if (!context->breakpoints().placeOf(selection).isEmpty())
        add(menu, "breakpoint",
            context->breakpoints().isAt(selection) ? tr("Clear &Breakpoint") : tr("Set &Breakpoint"),
            [context, selection] { context->breakpoints().toggle(selection); });
    add(menu, "end", context->points().isEnd(node) ? tr("Clear &End Point") : tr("Set &End Point"),
        [navigation] { navigation->toggleEnd(); });
    add(menu, "run-to", tr("Run to &Here"), [context, node] { context->debugger().runTo(node); });
    if (context->debugger().isShown())
        add(menu, "run-to-back", tr("Bac&k to Here"),
            [context, node] { context->debugger().runTo(node, context::Direction::Back); });
    add(menu, "why", tr("Wh&y This Value"), [context, node] { context->why().askAbout(node); });
    if (const context::Selection& selection = context->navigation().selection(); selection.isModule())
        add(menu, "run-module", tr("Run &Module Alone"),
            [context, qualname = selection.qualname] { context->debugger().runModule(qualname); });
    addCall(menu);
    const bool isAccepted = context->problems().isAccepted(node);
    if (isAccepted || context->problems().counted(node))
        add(menu, "warning", isAccepted ? tr("NaN and Inf Are a &Problem") : tr("&Accept NaN and Inf"),
            [context, node, isAccepted] { context->problems().setAccepted(node, !isAccepted); });
    menu.addSeparator();
}

/// Of a module that is called several times.
void CanvasMenu::addCall(QMenu& menu) {
    context::InspectorContext* context = &m_parts.context;
    const context::Selection& selection = context->navigation().selection();
    if (!selection.isModule() || !selection.scope.valid()) return;
    const graph::InternalGraph& graph = context->model().graph();
    const graph::Scope& call = graph.scope(selection.scope);
    const bool isCalledAgain = std::ranges::any_of(graph.scopes(), [&](const graph::Scope& other) {
        return other.qualname == call.qualname && other.id != call.id;
    });
    if (call.qualname.empty() || !isCalledAgain) return;
    const session::WatchGroup group{session::WatchGroup::Kind::Call, call.qualname, static_cast<int>(call.call)};
    const bool isWatched = std::ranges::find(context->watches().groups(), group, &context::Watches::Group::group) !=
                           context->watches().groups().end();
    add(menu, "watch",
        isWatched ? tr("Stop Watching Call %1").arg(call.call + 1) : tr("Wat&ch Call %1").arg(call.call + 1),
        [context, group, isWatched] {
            if (isWatched) context->watches().removeGroup(group);
            else context->watches().addGroup(group);
        });
}

/// Opening and closing, and where an item leads.
void CanvasMenu::addBox(QMenu& menu, ItemId id) {
    CanvasNavigation* navigation = &m_parts.navigation;
    const layout::SceneItem& item = m_parts.view.scene()->item(id);
    if (item.what.expandable) {
        add(menu, "module", item.what.open ? tr("&Collapse") : tr("E&xpand"),
            [navigation] { navigation->toggleCurrent(); });
        add(menu, "expand-all", tr("Expand &All Inside"), [navigation] { navigation->expandAllInside(); });
        if (item.what.open)
            add(menu, "collapse-all", tr("Collapse All &Inside"), [navigation] { navigation->collapseAllInside(); });
    }
    addRuns(menu);
    if (item.what.kind == ItemKind::Stub)
        add(menu, "link", tr("Go to &Producer"), [navigation] { navigation->followCurrent(); });
    if (item.stubs > 0) add(menu, "link", tr("Go to First &Stub"), [navigation] { navigation->followCurrent(); });
    if (item.parent) add(menu, "collapse", tr("&Leave Module"), [navigation] { navigation->leaveModule(); });
}

/// Of a block that stands for repeated ones, or in one: which is shown, and whether all are.
void CanvasMenu::addRuns(QMenu& menu) {
    context::CanvasState* state = &m_parts.state;
    const context::OpenModel& model = m_parts.context.model();
    const std::uint32_t run = state->runOf(m_parts.context.navigation().selection());
    if (run == layout::Outline::kNoRun) return;
    const layout::Outline& outline = *model.outline();
    const std::vector<layout::GroupId>& blocks = outline.runs()[run].instances;
    if (!layout::isFolded(outline, state->view(), run)) {
        add(menu, "collapse", tr("&Fold into One, \u00d7 %1").arg(context::countText(blocks.size())),
            [state, run] { state->setRunFolded(run, true); });
        return;
    }
    add(menu, "expand", tr("Draw &All %1").arg(context::countText(blocks.size())),
        [state, run] { state->setRunFolded(run, false); });
    QMenu* which = menu.addMenu(theme::icon(QStringLiteral("module")), tr("Show &Block"));
    constexpr std::size_t kMaxEntries = 60;  // more than fit on a screen; Ctrl+Page Down goes to all of them
    for (std::size_t i = 0; i < std::min(blocks.size(), kMaxEntries); ++i) {
        const std::string& qualname = model.graph().scope(outline.group(blocks[i]).scope).qualname;
        QAction* action =
            which->addAction(QString::fromStdString(qualname).left(80).replace(u'&', QStringLiteral("&&")));
        action->setCheckable(true);
        action->setChecked(i == layout::shownInstance(outline, state->view(), run));
        QObject::connect(action, &QAction::triggered, &m_parts.widget,
                         [state, run, i] { state->showInstance(run, static_cast<std::uint32_t>(i)); });
    }
}

void CanvasMenu::addFocus(QMenu& menu) {
    context::CanvasState* state = &m_parts.state;
    QMenu* only = menu.addMenu(theme::icon(QStringLiteral("filter")), tr("Show &Only"));
    add(*only, "producer", tr("&Upstream"), [state] { state->focusConeOfSelection(true, false); });
    add(*only, "consumer", tr("&Downstream"), [state] { state->focusConeOfSelection(false, true); });
    add(*only, "link", tr("&Both"), [state] { state->focusConeOfSelection(true, true); });
    if (m_parts.context.navigation().selectedNodes().size() > 1)
        add(*only, "graph", tr("&Paths Between"), [state] { state->focusPaths(); });
    add(*only, "node", tr("&Selection"), [state] { state->isolateSelection(); });
    add(menu, "remove", tr("&Hide"), [state] { state->hideSelection(); });
    context::Navigation* navigation = &m_parts.context.navigation();
    const context::Selection marked = navigation->selection();
    add(menu, "bookmark", navigation->isBookmarked(marked) ? tr("Clear Boo&kmark") : tr("Boo&kmark"),
        [navigation, marked] { navigation->toggleBookmark(marked); });
}

void CanvasMenu::addNames(QMenu& menu) {
    context::Navigation* selected = &m_parts.context.navigation();
    add(menu, "copy", tr("Copy &Name"), [navigation = &m_parts.navigation] { navigation->copyName(); });
    const QString qualname = selected->selection().qualname;
    if (!qualname.isEmpty())
        add(menu, "copy", tr("Copy &Module Path"), [qualname] { QGuiApplication::clipboard()->setText(qualname); });
    add(menu, "tree", tr("Show in Module &Tree"),
        [selected, marked = selected->selection()] { selected->showInTree(marked); });
}

/// Other graphs of the model: that of the selected module alone, the whole one.
void CanvasMenu::addGraphs(QMenu& menu) {
    context::InspectorContext* context = &m_parts.context;
    const context::Selection& selection = context->navigation().selection();
    const int own = selection.isNone() ? -1 : context->model().graphOfModule(selection.qualname);
    if (own >= 0 && own != context->model().shownGraph())
        add(menu, "graph", tr("Module's Own &Graph"), [context, own] { context->loader().showGraph(own); });
    if (context->model().shownGraph() > 0)
        add(menu, "module", tr("Whole &Model"), [context] { context->loader().showGraph(0); });
}

void CanvasMenu::addLegend(QMenu& menu) {
    QAction* legend = menu.addAction(theme::icon(QStringLiteral("info")), tr("Le&gend"));
    legend->setCheckable(true);
    legend->setChecked(m_parts.overlays.legendVisible());
    QObject::connect(legend, &QAction::triggered, &m_parts.widget,
                     [overlays = &m_parts.overlays](bool on) { overlays->setLegendVisible(on); });
}

}  // namespace sonde::canvas
