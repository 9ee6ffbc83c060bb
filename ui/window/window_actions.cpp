// The part of MainWindow that says what each action of the table does.

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QMenuBar>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/problems.h"
#include "ui/context/stored.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/shortcuts_dialog.h"
#include "ui/models/module_result.h"
#include "ui/theme/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/recent_files.h"
#include "ui/window/search_bar.h"

namespace sonde::window {

using canvas::GraphCanvas;
using context::InspectorContext;
using context::Selection;
using theme::Theme;

graph::NodeId MainWindow::actedOn() const {
    return models::resultOf(m_context.model(), m_context.navigation().selection());
}

void MainWindow::bindFileActions() {
    m_actions.bind("file.open", this, [this] { askForModel(); });
    m_actions.bind("file.open_builtin", this, [this] { askForBuiltIn(); });
    m_actions.bind("file.new_window", this, [this] { newWindow(); });
    m_actions.bind("file.beside", this, [this] { openBeside(); });
    m_actions.bindToggle("file.link", this, [this](bool on) { setLinked(on); });
    m_actions.bind("file.reload", this, [this] { m_context.loader().reload(); });
    m_actions.bind("file.close", this, [this] { m_context.loader().close(); });
    m_actions.bind("file.save_values", this, [this] { saveValues(); });
    for (const char* suffix : {"png", "svg", "pdf", "dot"})
        m_actions.bind(QStringLiteral("file.export_") + QLatin1String(suffix), this,
                       [this, suffix] { exportPicture(QLatin1String(suffix)); });
    m_actions.bind("file.copy_picture", this, [this] { QApplication::clipboard()->setImage(canvas()->picture()); });
    m_actions.bind("file.export_pages", this, [this] { exportPages(); });
    m_actions.bind("file.open_beside", this, [this] { askForModel(true); });
    m_actions.bind("file.print", this, [this] { printPicture(); });
    m_actions.bind("file.settings", this, [this] { showSettings(); });
    m_actions.bind("file.quit", this, [] { QApplication::closeAllWindows(); });
}

void MainWindow::bindEditActions() {
    m_actions.bind("edit.find", this, [this] { m_search->activate(); });
    m_actions.bind("edit.find_next", this, [this] { m_search->next(); });
    m_actions.bind("edit.find_previous", this, [this] { m_search->previous(); });
    m_actions.bind("edit.go_to", this, [this] { m_search->activate(QStringLiteral("#")); });
    m_actions.bind("edit.copy_name", m_canvas, [this] { canvas()->navigation().copyName(); });
    m_actions.bind("edit.select_all", m_canvas, [this] { canvas()->navigation().selectAll(); });
    m_actions.bind("edit.clear_selection", m_canvas, [this] {
        if (m_search->isVisible()) m_search->dismiss();
        else if (m_context.navigation().selection().isNone()) m_context.canvases().active().showEverything();
        else canvas()->navigation().clearSelection();
    });
}

void MainWindow::bindViewActions() {
    m_actions.bind("view.fit", m_canvas, [this] { canvas()->navigation().fit(); });
    m_actions.bind("view.fit_selection", m_canvas, [this] { canvas()->navigation().fitSelection(); });
    m_actions.bind("view.zoom_in", m_canvas, [this] { canvas()->view().zoomIn(); });
    m_actions.bind("view.zoom_out", m_canvas, [this] { canvas()->view().zoomOut(); });
    m_actions.bind("view.zoom_reset", m_canvas, [this] { canvas()->view().zoomReset(); });
    m_actions.bind("view.toggle_expanded", m_canvas, [this] { canvas()->navigation().toggleCurrent(); });
    m_actions.bind("view.expand_all", m_canvas, [this] {
        m_context.navigation().selection().isNone()
            ? m_context.canvases().active().setExpandedRecursively(m_context.model().graph().rootScope(), true)
            : canvas()->navigation().expandAllInside();
    });
    m_actions.bind("view.collapse_all", m_canvas, [this] {
        m_context.navigation().selection().isNone() ? m_context.canvases().active().expandToDepth(0)
                                                    : canvas()->navigation().collapseAllInside();
    });
    for (int depth = 0; depth <= 3; ++depth)
        m_actions.bind(QStringLiteral("view.depth_%1").arg(depth), this,
                       [this, depth] { m_context.canvases().active().expandToDepth(depth); });
    m_actions.bindToggle("view.direction", this, [this](bool on) {
        m_context.canvases().active().setDirection(on ? layout::Direction::LeftRight : layout::Direction::TopDown);
    });
    m_actions.bindToggle("view.attributes", this, [this](bool on) { m_context.settings().setShowsAttributes(on); });
    m_actions.bindToggle("view.weights", this,
                         [this](bool on) { m_context.canvases().active().setShowsConstants(on); });
    m_actions.bindToggle("view.fold_shapes", this,
                         [this](bool on) { m_context.canvases().active().setFoldsShapes(on); });
    m_actions.bindToggle("view.names", this, [this](bool on) { m_context.settings().setShowsNames(on); });
    m_actions.bindToggle("view.wheel_zooms", this, [this](bool on) {
        for (const int number : {0, 1})
            if (canvas(number)) canvas(number)->interaction().setWheelZooms(on);
    });
    m_actions.bindToggle("view.minimap", this, [this](bool on) {
        for (const int number : {0, 1})
            if (canvas(number)) canvas(number)->overlays().setOverviewVisible(on);
    });
    m_actions.bindToggle("view.fold", this, [this](bool on) { m_context.canvases().active().setFolds(on); });
    m_actions.bindToggle("view.edge_widths", this, [this](bool on) { m_context.settings().setEdgeWidths(on); });
    m_actions.bindToggle("view.legend", this, [this](bool on) {
        for (const int number : {0, 1})
            if (canvas(number)) canvas(number)->overlays().setLegendVisible(on);
    });
    m_actions.bind("focus.upstream", this, [this] { m_context.canvases().active().focusConeOfSelection(true, false); });
    m_actions.bind("focus.downstream", this,
                   [this] { m_context.canvases().active().focusConeOfSelection(false, true); });
    m_actions.bind("focus.around", this, [this] { m_context.canvases().active().focusConeOfSelection(true, true); });
    m_actions.bind("focus.paths", this, [this] { m_context.canvases().active().focusPaths(); });
    m_actions.bind("focus.isolate", this, [this] { m_context.canvases().active().isolateSelection(); });
    m_actions.bind("focus.hide", this, [this] { m_context.canvases().active().hideSelection(); });
    m_actions.bind("focus.hide_operator", this, [this] { m_context.canvases().active().hideOperator(); });
    m_actions.bind("focus.everything", this, [this] { m_context.canvases().active().showEverything(); });
    m_actions.bind("view.theme", this, [] {
        Theme::instance().toggle();
        context::store(QStringLiteral("theme/mode"), Theme::modeKey(Theme::instance().mode()));
    });
    const auto scale = [](double factor) {
        Theme::instance().setTextScale(Theme::instance().textScale() * factor);
        context::store(QStringLiteral("theme/textScale"), Theme::instance().textScale());
    };
    m_actions.bind("view.text_larger", this, [scale] { scale(1.1); });
    m_actions.bind("view.text_smaller", this, [scale] { scale(1 / 1.1); });
    m_actions.bind("view.labels", this, [this] { showLabels(); });
    m_actions.bind("view.text", this, [this] { showText(); });
    m_actions.bind("view.reset_layout", this, [this] { arrangeDocks(); });
    m_actions.bindToggle("view.full_screen", this, [this](bool on) { on ? showFullScreen() : showNormal(); });
}

void MainWindow::bindGoActions() {
    m_actions.bind("go.back", this, [this] { m_context.navigation().goBack(); });
    m_actions.bind("go.forward", this, [this] { m_context.navigation().goForward(); });
    m_actions.bind("go.parent", this, [this] { m_context.navigation().goToParent(); });
    m_actions.bind("go.leave", m_canvas, [this] { canvas()->navigation().leaveModule(); });
    m_actions.bind("go.producer", this, [this] { goToProducer(); });
    m_actions.bind("go.consumer", this, [this] { goToConsumer(); });
    m_actions.bind("go.walk_up", m_canvas, [this] { canvas()->navigation().walkUp(); });
    m_actions.bind("go.walk_down", m_canvas, [this] { canvas()->navigation().walkDown(); });
    m_actions.bind("go.walk_left", m_canvas, [this] { canvas()->navigation().walkLeft(); });
    m_actions.bind("go.walk_right", m_canvas, [this] { canvas()->navigation().walkRight(); });
    m_actions.bind("go.own_graph", this, [this] {
        m_context.loader().showGraph(m_context.model().graphOfModule(m_context.navigation().selection().qualname));
    });
    m_actions.bind("go.whole", this, [this] { m_context.loader().showGraph(0); });
    m_actions.bind("go.next_instance", this, [this] { m_context.canvases().active().stepInstance(1); });
    m_actions.bind("go.previous_instance", this, [this] { m_context.canvases().active().stepInstance(-1); });
    m_actions.bind("go.other_end", m_canvas, [this] { canvas()->navigation().followCurrent(); });
    m_actions.bind("go.bookmark", this,
                   [this] { m_context.navigation().toggleBookmark(m_context.navigation().selection()); });
    m_actions.bind("go.next_bookmark", this, [this] { m_context.navigation().goToNextBookmark(); });
    for (int n = 1; n <= 9; ++n)
        m_actions.bind(QStringLiteral("go.bookmark_%1").arg(n), this,
                       [this, n] { m_context.navigation().goToBookmark(n - 1); });
    m_actions.bind("go.next_problem", this, [this] { goToProblem(1); });
    m_actions.bind("go.previous_problem", this, [this] { goToProblem(-1); });
    m_actions.bind("go.accept_bad", this, [this] {
        const graph::NodeId node = actedOn();
        m_context.problems().setAccepted(node, !m_context.problems().isAccepted(node));
    });
}

void MainWindow::bindRunActions() {
    m_actions.bind("run.start", this, [this] { m_context.runs().run(); });
    m_actions.bind("run.cancel", this, [this] { cancelWork(); });
    m_actions.bindToggle("run.live", this, [this](bool on) { m_context.runs().setLive(on); });
    m_actions.bind("run.to_here", this, [this] { m_context.runs().runTo(actedOn()); });
    m_actions.bind("run.watch", this, [this] {
        if (m_context.navigation().selectedNodes().size() < 2) return m_context.points().toggleWatch(actedOn());
        const bool all =
            std::all_of(m_context.navigation().selectedNodes().begin(), m_context.navigation().selectedNodes().end(),
                        [this](graph::NodeId node) { return m_context.points().isWatched(node); });
        const std::vector<graph::NodeId> nodes = m_context.navigation().selectedNodes();
        for (const graph::NodeId node : nodes) m_context.points().setWatched(node, !all);
    });
    m_actions.bind("run.end", this, [this] { m_context.points().toggleEnd(actedOn()); });
    m_actions.bind("run.clear_watches", this, [this] { m_context.points().clearWatched(); });
    m_actions.bind("run.clear_ends", this, [this] { m_context.points().clearEnds(); });
}

void MainWindow::bindHelpActions() {
    m_actions.bind("help.contents", this, [this] {
        m_context.navigation().selection().expr.valid() ? showOperatorHelp() : showHelp(QStringLiteral("start"));
    });
    m_actions.bind("help.operators", this, [this] { showOperatorHelp(); });
    m_actions.bind("help.shortcuts", this, [this] {
        auto* dialog = new dialogs::ShortcutsDialog(m_actions, this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
    m_actions.bind("help.about", this, [this] {
        auto* dialog = new dialogs::AboutDialog(this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
}

void MainWindow::fillMenus() {
    m_actions.fillMenuBar(menuBar());
    m_actions.addTo(this, actions::Scope::Window);
    // Recent models are in the File menu, after the actions that open.
    QMenu* file = menuBar()->actions().first()->menu();
    auto* recent = new QMenu(tr("Open &Recent"), file);
    file->insertMenu(m_actions.action(QStringLiteral("file.new_window")), recent);
    connect(recent, &QMenu::aboutToShow, recent, [this, recent] {
        recent->clear();
        int number = 1;
        for (const QString& location : RecentFiles::list()) {
            QAction* action = recent->addAction(QStringLiteral("&%1  %2").arg(number++).arg(shortLocation(location)));
            action->setStatusTip(location);
            connect(action, &QAction::triggered, this, [this, location] { open(location); });
        }
        if (recent->isEmpty()) recent->addAction(tr("No recent models"))->setEnabled(false);
        recent->addSeparator();
        connect(recent->addAction(tr("&Clear List")), &QAction::triggered, this, [] { RecentFiles::clear(); });
    });
}

}  // namespace sonde::window
