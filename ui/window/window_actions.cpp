#include "ui/window/window_actions.h"

#include <QAction>
#include <QApplication>
#include <QMainWindow>

#include <algorithm>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/bisection.h"
#include "ui/context/engine.h"
#include "ui/context/findings.h"
#include "ui/context/precision.h"
#include "ui/context/second_model.h"
#include "ui/context/stored.h"
#include "ui/context/sweeps.h"
#include "ui/models/node_columns.h"
#include "ui/theme/theme.h"
#include "ui/window/graph_steps.h"
#include "ui/window/presentation.h"
#include "ui/window/search_bar.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_dialogs.h"
#include "ui/window/window_docks.h"
#include "ui/window/window_links.h"
#include "ui/window/window_output.h"
#include "ui/window/wrap_actions.h"

namespace sonde::window {

using canvas::CanvasNavigation;
using canvas::CanvasView;
using canvas::GraphCanvas;
using theme::Theme;

WindowActions::WindowActions(const WindowParts& parts) : m_parts(parts) {
    bindFiles();
    bindEdit();
    bindCamera();
    bindContents();
    bindLook();
    bindColors();
    bindFocus();
    bindCanvases();
    bindWalk();
    bindGo();
    bindBookmarks();
    bindRun();
    bindDebug();
    bindPoints();
    bindCompare();
    bindHelp();
}

context::CanvasState& WindowActions::shown() { return m_parts.canvases.active()->state(); }

void WindowActions::bindCamera(const char* id, void (CanvasView::*act)()) {
    bind(QLatin1String(id), [this, act] { (m_parts.canvases.active()->view().*act)(); });
}

void WindowActions::bindCanvas(const char* id, void (CanvasNavigation::*act)()) {
    bind(QLatin1String(id), [this, act] { (m_parts.canvases.active()->navigation().*act)(); });
}

void WindowActions::bindFiles() {
    bind("file.open", [this] { m_parts.dialogs.askForModel(); });
    bind("file.open_beside", [this] { m_parts.dialogs.askForModelBeside(); });
    bind("file.open_builtin", [this] { m_parts.dialogs.askForBuiltIn(); });
    bind("file.compare_model", [this] { m_parts.dialogs.askForComparedModel(); });
    bind("file.close_compared", [this] { m_parts.context.second().close(); });
    bindToggle("file.link", [this](bool on) { m_parts.links.setLinked(on); });
    bind("file.reload", [this] { m_parts.context.loader().reload(); });
    bind("file.close", [this] { m_parts.context.loader().close(); });
    bind("file.export_model", [this] { m_parts.dialogs.showExport(); });
    bind("file.report", [this] { m_parts.dialogs.showReport(); });
    bind("file.save_session", [this] { m_parts.dialogs.saveSession(); });
    bind("file.save_session_as", [this] { m_parts.dialogs.saveSessionAs(); });
    bind("file.save_values", [this] { m_parts.output.saveValues(); });
    for (const char* suffix : {"png", "svg", "pdf", "dot"})
        bind(QStringLiteral("file.export_") + QLatin1String(suffix),
             [this, suffix] { m_parts.output.exportGraph(QLatin1String(suffix)); });
    bind("file.copy_picture", [this] { m_parts.output.copyPicture(); });
    bind("file.export_pages", [this] { m_parts.output.exportPages(); });
    bind("file.print", [this] { m_parts.output.print(); });
    bind("file.settings", [this] { m_parts.dialogs.showSettings(); });
    bind("file.quit", [] { QApplication::closeAllWindows(); });
}

void WindowActions::bindEdit() {
    bind("edit.find", [this] { m_parts.search.activate(); });
    bind("edit.find_next", [this] { m_parts.search.next(); });
    bind("edit.find_previous", [this] { m_parts.search.previous(); });
    bind("edit.go_to", [this] { m_parts.search.activate(QStringLiteral("#")); });
    bindCanvas("edit.copy_name", &CanvasNavigation::copyName);
    bindCanvas("edit.select_all", &CanvasNavigation::selectAll);
    bind("edit.clear_selection", [this] {
        if (m_parts.search.isVisible()) m_parts.search.dismiss();
        else if (m_parts.presentation.isOn()) m_parts.presentation.end();
        else if (m_parts.context.navigation().selection().isNone()) shown().showEverything();
        else m_parts.canvases.active()->navigation().clearSelection();
    });
}

void WindowActions::bindCamera() {
    bindCanvas("view.fit", &CanvasNavigation::fit);
    bindCanvas("view.fit_selection", &CanvasNavigation::fitSelection);
    bindCamera("view.zoom_in", &CanvasView::zoomIn);
    bindCamera("view.zoom_out", &CanvasView::zoomOut);
    bindCamera("view.zoom_reset", &CanvasView::zoomReset);
    bindToggle("view.wheel_zooms", [this](bool on) {
        for (GraphCanvas* canvas : m_parts.canvases.all()) canvas->interaction().setWheelZooms(on);
    });
    bindToggle("view.minimap", [this](bool on) {
        for (GraphCanvas* canvas : m_parts.canvases.all()) canvas->overlays().setOverviewVisible(on);
    });
    bindToggle("view.legend", [this](bool on) {
        for (GraphCanvas* canvas : m_parts.canvases.all()) canvas->overlays().setLegendVisible(on);
    });
}

/// What of the model is drawn, and in which direction.
void WindowActions::bindContents() {
    bindCanvas("view.toggle_expanded", &CanvasNavigation::toggleCurrent);
    bind("view.expand_all", [this] {
        m_parts.context.navigation().selection().isNone()
            ? shown().setExpandedRecursively(m_parts.context.model().graph().rootScope(), true)
            : m_parts.canvases.active()->navigation().expandAllInside();
    });
    bind("view.collapse_all", [this] {
        m_parts.context.navigation().selection().isNone() ? shown().expandToDepth(0)
                                                          : m_parts.canvases.active()->navigation().collapseAllInside();
    });
    for (int depth = 0; depth <= 3; ++depth)
        bind(QStringLiteral("view.depth_%1").arg(depth), [this, depth] { shown().expandToDepth(depth); });
    bindToggle("view.direction", [this](bool on) {
        shown().setDirection(on ? layout::Direction::LeftRight : layout::Direction::TopDown);
    });
    for (const auto& [id, wrapping] : kWrapActions)
        bindToggle(QLatin1String(id), [this, id = QLatin1String(id), wrapping = wrapping](bool) {
            shown().setView(rewrapped(shown().view(), wrapping));
            m_parts.actions.action(id)->setChecked(true);  // the same once more is no other choice
        });
    bindToggle("view.weights", [this](bool on) { shown().setShowsConstants(on); });
    bindToggle("view.fold_shapes", [this](bool on) { shown().setFoldsShapes(on); });
    bindToggle("view.fold", [this](bool on) { shown().setFolds(on); });
}

void WindowActions::bindLook() {
    context::Settings* settings = &m_parts.context.settings();
    bindToggle("view.attributes", [settings](bool on) { settings->setShowsAttributes(on); });
    bindToggle("view.names", [settings](bool on) { settings->setShowsNames(on); });
    bindToggle("view.edge_widths", [settings](bool on) { settings->setEdgeWidths(on); });
    bind("view.theme", [] {
        Theme::instance().toggle();
        context::store(QStringLiteral("theme/mode"), Theme::modeKey(Theme::instance().mode()));
    });
    const auto scale = [](double factor) {
        Theme::instance().setTextScale(Theme::instance().textScale() * factor);
        context::store(QStringLiteral("theme/textScale"), Theme::instance().textScale());
    };
    bind("view.text_larger", [scale] { scale(1.1); });
    bind("view.text_smaller", [scale] { scale(1 / 1.1); });
    bind("view.labels", [this] { m_parts.dialogs.showLabels(); });
    bind("view.text", [this] { m_parts.output.showText(); });
    bind("view.reset_layout", [this] { m_parts.docks.arrange(); });
    bindToggle("view.full_screen",
               [this](bool on) { on ? m_parts.window.showFullScreen() : m_parts.window.showNormal(); });
}

void WindowActions::bindColors() {
    for (const models::NodeColumn& column : models::nodeColumns()) {
        const QString id = QStringLiteral("view.color_") + column.id;
        if (!m_parts.actions.contains(id)) continue;
        bindToggle(id, [this, id, column = column.id](bool) {
            m_parts.context.settings().setColorBy(column);
            m_parts.actions.action(id)->setChecked(true);  // the same once more is no other choice
            // A colour means nothing without its scale.
            for (GraphCanvas* canvas : m_parts.canvases.all()) canvas->overlays().setLegendVisible(true);
            m_parts.actions.action(QStringLiteral("view.legend"))->setChecked(true);
        });
    }
}

void WindowActions::bindFocus() {
    bind("focus.upstream", [this] { shown().focusConeOfSelection(true, false); });
    bind("focus.downstream", [this] { shown().focusConeOfSelection(false, true); });
    bind("focus.around", [this] { shown().focusConeOfSelection(true, true); });
    bind("focus.paths", [this] { shown().focusPaths(); });
    bind("focus.isolate", [this] { shown().isolateSelection(); });
    bind("focus.hide", [this] { shown().hideSelection(); });
    bind("focus.hide_operator", [this] { shown().hideOperator(); });
    bind("focus.everything", [this] { shown().showEverything(); });
}

void WindowActions::bindCanvases() {
    WindowCanvases* canvases = &m_parts.canvases;
    bindToggle("view.split", [canvases](bool) { canvases->toggleSplit(Qt::Horizontal); });
    bindToggle("view.split_stacked", [canvases](bool) { canvases->toggleSplit(Qt::Vertical); });
    bind("view.close_canvas", [this] {
        canvas::GraphCanvas* const compared = m_parts.canvases.compared();
        if (compared && m_parts.canvases.active() == compared) m_parts.context.second().close();
        else m_parts.canvases.close(m_parts.context.canvases().activeNumber());
    });
    bind("view.next_canvas", [canvases] { canvases->focusNext(); });
}

void WindowActions::bindWalk() {
    bindCanvas("go.leave", &CanvasNavigation::leaveModule);
    bindCanvas("go.walk_up", &CanvasNavigation::walkUp);
    bindCanvas("go.walk_down", &CanvasNavigation::walkDown);
    bindCanvas("go.walk_left", &CanvasNavigation::walkLeft);
    bindCanvas("go.walk_right", &CanvasNavigation::walkRight);
    bindCanvas("go.other_end", &CanvasNavigation::followCurrent);
    bind("go.next_instance", [this] { shown().stepInstance(1); });
    bind("go.previous_instance", [this] { shown().stepInstance(-1); });
}

void WindowActions::bindGo() {
    context::InspectorContext* context = &m_parts.context;
    GraphSteps* steps = &m_parts.steps;
    bind("go.back", [context] { context->navigation().goBack(); });
    bind("go.forward", [context] { context->navigation().goForward(); });
    bind("go.parent", [context] { context->navigation().goToParent(); });
    bind("go.producer", [steps] { steps->goToProducer(); });
    bind("go.consumer", [steps] { steps->goToConsumer(); });
    bind("go.own_graph", [context] {
        context->loader().showGraph(context->model().graphOfModule(context->navigation().selection().qualname));
    });
    bind("go.whole", [context] { context->loader().showGraph(0); });
    bind("go.next_problem", [steps] { steps->goToProblem(1); });
    bind("go.previous_problem", [steps] { steps->goToProblem(-1); });
    bind("go.accept_bad", [context, steps] {
        const graph::NodeId node = steps->actedOn();
        context->problems().setAccepted(node, !context->problems().isAccepted(node));
    });
}

void WindowActions::bindBookmarks() {
    context::Navigation* navigation = &m_parts.context.navigation();
    bind("go.bookmark", [navigation] { navigation->toggleBookmark(navigation->selection()); });
    bind("go.next_bookmark", [navigation] { navigation->goToNextBookmark(); });
    for (int n = 1; n <= 9; ++n)
        bind(QStringLiteral("go.bookmark_%1").arg(n), [navigation, n] { navigation->goToBookmark(n - 1); });
}

void WindowActions::bindRun() {
    bind("run.start", [this] {
        context::Debugger& debugger = m_parts.context.debugger();
        const bool goesOn =
            debugger.isShown() && (debugger.isRunning() || debugger.state() == context::DebugState::Stopped);
        if (goesOn && !debugger.isRunning()) debugger.resume();
        else if (!goesOn && m_parts.context.edits().areOn()) m_parts.context.edits().run();
        else if (!goesOn) m_parts.context.runs().run();
    });
    bind("run.cancel", [this] { cancelWork(); });
    bindToggle("run.live", [this](bool on) { m_parts.context.runs().setLive(on); });
    bind("run.test_cases", [this] { m_parts.context.testCases().run(); });
    bind("run.sweep", [this] { m_parts.dialogs.askForSweep(); });
    bind("run.measure", [this] { m_parts.context.valueMeasures().compute(); });
}

void WindowActions::bindDebug() {
    using context::Direction;
    using context::StepKind;
    context::Debugger* debugger = &m_parts.context.debugger();
    bind("run.restart", [debugger] { debugger->restart(); });
    bind("run.pause", [debugger] { debugger->pause(); });
    bind("run.continue_back", [debugger] { debugger->resume(Direction::Back); });
    const auto bindStep = [&](const char* id, StepKind kind, Direction direction) {
        bind(QLatin1String(id), [debugger, kind, direction] { debugger->step(kind, direction); });
    };
    bindStep("run.step", StepKind::Over, Direction::Forward);
    bindStep("run.step_back", StepKind::Over, Direction::Back);
    bindStep("run.step_in", StepKind::Into, Direction::Forward);
    bindStep("run.step_in_back", StepKind::Into, Direction::Back);
    bindStep("run.step_out", StepKind::Out, Direction::Forward);
    bindStep("run.step_out_back", StepKind::Out, Direction::Back);
    bindStep("run.next_event", StepKind::Event, Direction::Forward);
    bindStep("run.previous_event", StepKind::Event, Direction::Back);
    bind("run.to_here", [this, debugger] {
        if (const graph::NodeId node = m_parts.steps.actedOn(); node.valid()) debugger->runTo(node);
    });
    bind("run.back_to_here", [this, debugger] {
        if (const graph::NodeId node = m_parts.steps.actedOn(); node.valid()) debugger->runTo(node, Direction::Back);
    });
    bind("run.module", [this, debugger] { debugger->runModule(m_parts.context.navigation().selection().qualname); });
}

void WindowActions::bindPoints() {
    bind("run.watch", [this] {
        context::Points& points = m_parts.context.points();
        const std::vector<graph::NodeId> nodes = m_parts.context.navigation().selectedNodes();
        if (nodes.size() < 2) return points.toggleWatch(m_parts.steps.actedOn());
        const bool areAllWatched =
            std::all_of(nodes.begin(), nodes.end(), [&](graph::NodeId node) { return points.isWatched(node); });
        for (const graph::NodeId node : nodes) points.setWatched(node, !areAllWatched);
    });
    using Group = session::WatchGroup;
    const auto watchGroup = [this](Group::Kind kind, const std::string& text) {
        (void)m_parts.context.watches().addGroup({kind, text, 0});
    };
    const auto module = [this] { return m_parts.context.navigation().selection().qualname.toStdString(); };
    bind("run.watch_module", [=] { watchGroup(Group::Kind::Module, module()); });
    bind("run.watch_inside", [=] { watchGroup(Group::Kind::Inside, module()); });
    bind("run.watch_call", [this, watchGroup] {
        const graph::ScopeId scope = m_parts.context.navigation().selection().scope;
        if (!scope.valid()) return;
        const graph::Scope& call = m_parts.context.model().graph().scope(scope);
        (void)m_parts.context.watches().addGroup({Group::Kind::Call, call.qualname, static_cast<int>(call.call)});
    });
    bind("run.watch_everything", [=] { watchGroup(Group::Kind::Everything, {}); });
    bind("run.watch_matches", [=, this] { watchGroup(Group::Kind::Query, m_parts.search.text().toStdString()); });
    bind("run.end", [this] { m_parts.context.points().toggleEnd(m_parts.steps.actedOn()); });
    bind("run.clear_watches", [this] { m_parts.context.points().clearWatched(); });
    bind("run.clear_ends", [this] { m_parts.context.points().clearEnds(); });
}

void WindowActions::bindCompare() {
    context::Comparison* comparison = &m_parts.context.comparison();
    GraphSteps* steps = &m_parts.steps;
    bind("compare.keep", [comparison] { comparison->keepRun(); });
    bind("compare.kept", [comparison] { comparison->withKeptRun(); });
    bind("compare.passes", [comparison] { comparison->withBeforePasses(); });
    bind("compare.unoptimised", [this] { m_parts.context.testCases().compareWithUnoptimised(); });
    bind("compare.file", [this] { m_parts.dialogs.compareWithFile(); });
    bind("compare.engine", [this] { m_parts.dialogs.compareWithEngine(); });
    bind("run.bisect", [this] { m_parts.dialogs.showBisect(); });
    bind("run.precision", [this] { m_parts.dialogs.showPrecision(); });
    bind("compare.clear", [comparison] { comparison->clear(); });
    bind("compare.again", [comparison] { comparison->again(); });
    bind("compare.next", [steps] { steps->goToDifference(1); });
    bind("compare.previous", [steps] { steps->goToDifference(-1); });
    bind("compare.worst", [steps] { steps->goToWorst(); });
    context::SecondModel* second = &m_parts.context.second();
    bind("compare.run_both", [second] { second->runBoth(); });
    bind("compare.pair", [second] { second->pairSelected(); });
    bind("compare.unpair", [second] { second->unpairSelected(); });
    bindToggle("compare.link_cameras", [second](bool on) { second->setCamerasLinked(on); });
}

void WindowActions::bindHelp() {
    bind("help.contents", [this] { m_parts.dialogs.showHelp(); });
    bind("help.operators", [this] { m_parts.dialogs.showOperatorHelp(); });
    bind("help.shortcuts", [this] { m_parts.dialogs.showShortcuts(); });
    bind("help.about", [this] { m_parts.dialogs.showAbout(); });
}

void WindowActions::cancelWork() {
    if (m_parts.context.runs().isRunning()) m_parts.context.runs().cancel();
    else if (m_parts.context.sweeps().isActive()) m_parts.context.sweeps().cancel();
    else if (m_parts.context.second().isBusy()) m_parts.context.second().cancel();
    else if (m_parts.context.testCases().isActive()) m_parts.context.testCases().cancel();
    else if (m_parts.context.bisection().isActive()) m_parts.context.bisection().cancel();
    else if (m_parts.context.engine().isActive()) m_parts.context.engine().cancel();
    else if (m_parts.context.precision().isActive()) m_parts.context.precision().cancel();
    else if (m_parts.context.comparison().isActive() && !m_parts.context.debugger().isRunning())
        m_parts.context.comparison().cancel();
    else if (m_parts.context.debugger().isShown()) {
        // One that follows the same edit.
        m_parts.context.comparison().cancel();
        m_parts.context.debugger().cancel();
    } else if (m_parts.context.findings().isActive()) m_parts.context.findings().cancel();
    else m_parts.output.cancel();
}

}  // namespace sonde::window
