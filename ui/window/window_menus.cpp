#include "ui/window/window_menus.h"

#include <QAction>
#include <QComboBox>
#include <QMainWindow>
#include <QMenuBar>
#include <QToolBar>
#include <QToolButton>

#include "core/document/test_cases.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/context/bisection.h"
#include "ui/context/engine.h"
#include "ui/context/precision.h"
#include "ui/context/second_model.h"
#include "ui/context/sweeps.h"
#include "ui/context/why.h"
#include "ui/models/node_columns.h"
#include "ui/models/node_text.h"
#include "ui/theme/theme.h"
#include "ui/window/graph_steps.h"
#include "ui/window/presentation.h"
#include "ui/window/recent_files.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_output.h"
#include "ui/window/wrap_actions.h"

namespace sonde::window {

using actions::Need;

WindowMenus::WindowMenus(const WindowParts& parts) : m_parts(parts) {
    fillMenuBar();
    fillToolBar();
    connectParts();
}

void WindowMenus::fillMenuBar() {
    m_parts.actions.fillMenuBar(m_parts.window.menuBar());
    m_parts.actions.addTo(&m_parts.window, actions::Scope::Window);
    // Recent models are in the File menu, after the actions that open.
    QMenu* file = m_parts.window.menuBar()->actions().first()->menu();
    auto* recent = new QMenu(tr("Open &Recent"), file);
    file->insertMenu(m_parts.actions.action(QStringLiteral("file.new_window")), recent);
    connect(recent, &QMenu::aboutToShow, this, [this, recent] { fillRecent(recent); });
}

void WindowMenus::fillRecent(QMenu* recent) {
    recent->clear();
    int number = 1;
    for (const QString& location : RecentFiles::list()) {
        QAction* action = recent->addAction(QStringLiteral("&%1  %2").arg(number++).arg(shortLocation(location)));
        action->setStatusTip(location);
        connect(action, &QAction::triggered, this, [this, location] { Q_EMIT modelChosen(location); });
    }
    if (recent->isEmpty()) recent->addAction(tr("No recent models"))->setEnabled(false);
    recent->addSeparator();
    connect(recent->addAction(tr("&Clear List")), &QAction::triggered, this, [] { RecentFiles::clear(); });
}

void WindowMenus::fillToolBar() {
    QToolBar* bar = m_parts.window.addToolBar(tr("Tool bar"));
    bar->setObjectName(QStringLiteral("toolBar"));
    bar->setIconSize({theme::kIconSize, theme::kIconSize});
    bar->setToolButtonStyle(Qt::ToolButtonIconOnly);
    // clang-format off
    const QStringList ids{"file.open", "", "go.back", "go.forward", "",
                          "run.start", "run.continue_back", "run.pause", "run.cancel", "run.restart",
                          "run.step", "run.step_back", "run.step_in", "run.step_out", "run.to_here", "run.back_to_here",
                          "run.live", "",
                          "run.watch", "run.end", "", "view.depth_0", "view.depth_1", "view.expand_all", "view.collapse_all", "",
                          "view.fit", "view.zoom_in", "view.zoom_out", "view.direction", "", "edit.find", "view.theme"};
    // clang-format on
    for (const QString& id : ids) {
        if (id.isEmpty()) bar->addSeparator();
        else bar->addAction(m_parts.actions.action(id));
    }
    for (const QString& id : {QStringLiteral("file.open"), QStringLiteral("run.start")})
        if (auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(m_parts.actions.action(id))))
            button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    addGraphs(*bar);
    if (auto* more = bar->findChild<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"))) {
        more->setToolTip(tr("More tools"));
        more->setAccessibleName(tr("More tools"));
    }
}

void WindowMenus::addGraphs(QToolBar& bar) {
    m_graphs = new QComboBox;
    m_graphs->setObjectName(QStringLiteral("graphs"));
    m_graphs->setAccessibleName(tr("Displayed graph"));
    m_graphs->setToolTip(tr("The whole model or a module that was traced separately"));
    m_graphs->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_graphsAction = bar.addWidget(m_graphs);
    m_graphsAction->setVisible(false);
    connect(m_graphs, &QComboBox::activated, this, [this](int graph) { m_parts.context.loader().showGraph(graph); });
}

void WindowMenus::refreshGraphs() {
    const QStringList titles = m_parts.context.model().graphTitles();
    m_graphs->clear();
    m_graphs->addItems(titles);
    m_graphs->setCurrentIndex(m_parts.context.model().shownGraph());
    m_graphsAction->setVisible(titles.size() > 1);
}

void WindowMenus::connectParts() {
    context::InspectorContext& context = m_parts.context;
    for (const auto signal : {&context::OpenModel::documentOpened, &context::OpenModel::documentClosed})
        connect(&context.model(), signal, this, [this] {
            refreshGraphs();
            refresh();
        });
    connect(&context.loader(), &context::Loader::loadFailed, this, &WindowMenus::refresh);
    for (const auto signal : {&context::Runs::runStarted, &context::Runs::runFinished})
        connect(&context.runs(), signal, this, &WindowMenus::refresh);
    connect(&context.runs(), &context::Runs::liveChanged, this, &WindowMenus::refresh);
    connect(&context.runs(), &context::Runs::valueArrived, this, &WindowMenus::refresh);
    for (const auto signal : {&context::Points::watchChanged, &context::Points::endChanged})
        connect(&context.points(), signal, this, &WindowMenus::refresh);
    for (const auto signal : {&context::Navigation::historyChanged, &context::Navigation::searchHitsChanged,
                              &context::Navigation::bookmarksChanged})
        connect(&context.navigation(), signal, this, &WindowMenus::refresh);
    connect(&context.navigation(), &context::Navigation::selectionChanged, this, &WindowMenus::refresh);
    for (const auto signal : {&context::Canvases::viewChanged, &context::Canvases::focusChanged})
        connect(&context.canvases(), signal, this, &WindowMenus::refresh);
    for (const auto signal : {&context::Settings::labelsChanged, &context::Settings::coloringChanged})
        connect(&context.settings(), signal, this, &WindowMenus::refresh);
    connect(&context.debugger(), &context::Debugger::changed, this, &WindowMenus::refresh);
    connect(&context.comparison(), &context::Comparison::changed, this, &WindowMenus::refresh);
    connect(&context.testCases(), &context::TestCases::changed, this, &WindowMenus::refresh);
    connect(&context.valueMeasures(), &context::ValueMeasures::changed, this, &WindowMenus::refresh);
    connect(&context.problems(), &context::Problems::changed, this, &WindowMenus::refresh);
    connect(&context.breakpoints(), &context::Breakpoints::changed, this, &WindowMenus::refresh);
    connect(&context.why(), &context::Why::changed, this, &WindowMenus::refresh);
    connect(&context.bisection(), &context::Bisection::changed, this, &WindowMenus::refresh);
    connect(&context.precision(), &context::Precision::changed, this, &WindowMenus::refresh);
    connect(&context.engine(), &context::Engine::changed, this, &WindowMenus::refresh);
    connect(&context.edits(), &context::Edits::changed, this, &WindowMenus::refresh);
    connect(&context.second(), &context::SecondModel::changed, this, &WindowMenus::refresh);
    // Not for each row.
    connect(&context.sweeps(), &context::Sweeps::reset, this, &WindowMenus::refresh);
    connect(&context.sweeps(), &context::Sweeps::ended, this, &WindowMenus::refresh);
    connect(&m_parts.canvases, &WindowCanvases::changed, this, &WindowMenus::refresh);
    connect(&m_parts.output, &WindowOutput::busyChanged, this, &WindowMenus::refresh);
}

actions::Needs WindowMenus::needs() const {
    const context::InspectorContext& context = m_parts.context;
    const context::OpenModel& model = context.model();
    const context::Navigation& navigation = context.navigation();
    const context::Selection& selection = navigation.selection();
    const context::CanvasState& shown = m_parts.canvases.active()->state();
    const int own = selection.isNone() ? -1 : model.graphOfModule(selection.qualname);
    actions::Needs state = Need::Nothing;
    state.setFlag(Need::Model, model.isOpen());
    state.setFlag(Need::Selection, !selection.isNone());
    state.setFlag(Need::Module, selection.scope.valid());
    state.setFlag(Need::Idle, !context.runs().isRunning());
    state.setFlag(Need::Running, context.runs().isRunning() || context.testCases().isActive() ||
                                     context.second().isBusy() || context.sweeps().isActive() ||
                                     m_parts.output.isBusy() || context.debugger().isShown() ||
                                     context.bisection().isActive() || context.precision().isActive() ||
                                     context.engine().isActive() || context.comparison().isActive());
    state.setFlag(Need::Debugged, context.debugger().isShown());
    state.setFlag(Need::Moving, context.debugger().isRunning());
    state.setFlag(Need::Values, context.runs().recording() != nullptr);
    state.setFlag(Need::Value, selection.node.valid() && context.runs().value(selection.node));
    state.setFlag(Need::CanGoBack, navigation.canGoBack());
    state.setFlag(Need::CanGoForward, navigation.canGoForward());
    state.setFlag(Need::SearchHits, !navigation.searchHits().empty());
    state.setFlag(Need::Watches, !context.points().watched().empty());
    state.setFlag(Need::Ends, !context.points().ends().empty());
    state.setFlag(Need::OwnGraph, own >= 0 && own != model.shownGraph());
    state.setFlag(Need::Part, model.shownGraph() > 0);
    state.setFlag(Need::Run, shown.runOf(selection) != layout::Outline::kNoRun);
    state.setFlag(Need::Several, navigation.selectedNodes().size() > 1);
    state.setFlag(Need::LeftOut, shown.focus().kind != context::Focus::Kind::None || shown.hidesAny());
    state.setFlag(Need::KeptRun, context.comparison().hasKeptRun());
    state.setFlag(Need::Passes, model.whole() && model.whole()->original);
    state.setFlag(Need::Dump, model.whole() && model.whole()->format == document::kDumpFormatName);
    state.setFlag(Need::Compared, context.comparison().isKnown());
    state.setFlag(Need::TwoCanvases, m_parts.canvases.all().size() > 1);
    state.setFlag(Need::SecondModel, context.second().isOpen());
    state.setFlag(Need::Asked, context.why().isAsked());
    state.setFlag(Need::Breakpoints, !context.breakpoints().all().empty());
    state.setFlag(Need::Edited, context.edits().canUndo());
    state.setFlag(Need::Undone, context.edits().canRedo());
    state.setFlag(Need::Edits, !context.edits().all().empty());
    state.setFlag(Need::WhatIf, context.edits().isCounterfactual());
    state.setFlag(Need::Bookmarks, !navigation.bookmarks().empty());
    return state;
}

void WindowMenus::refresh() {
    m_parts.actions.setState(needs());
    const context::SecondModel& second = m_parts.context.second();
    m_parts.actions.action(QStringLiteral("compare.pair"))->setEnabled(second.canPair());
    m_parts.actions.action(QStringLiteral("compare.unpair"))->setEnabled(second.canUnpair());
    m_parts.presentation.refreshActions();
    refreshBookmarks();
    refreshChecks();
    refreshColors();
}

void WindowMenus::check(const char* id, bool on) { m_parts.actions.action(QLatin1String(id))->setChecked(on); }

void WindowMenus::refreshChecks() {
    const context::InspectorContext& context = m_parts.context;
    const context::CanvasState& shown = m_parts.canvases.active()->state();
    const graph::NodeId node = m_parts.steps.actedOn();
    check("go.accept_bad", context.problems().isAccepted(node));
    check("run.watch", node.valid() && context.points().isWatched(node));
    check("run.end", node.valid() && context.points().isEnd(node));
    check("break.toggle", context.breakpoints().isAt(context.navigation().selection()));
    check("run.live", context.runs().isLive());
    check("view.fold", shown.folds());
    check("view.direction", shown.view().direction == layout::Direction::LeftRight);
    for (const auto& [id, wrapping] : kWrapActions) check(id, shown.view().wrapping == wrapping);
    check("view.weights", !shown.view().hideConstants);
    check("view.fold_shapes", shown.view().foldShapes);
    check("view.edge_widths", context.settings().edgeWidths());
    check("view.attributes", context.settings().showsAttributes());
    check("view.names", context.settings().showsNames());
    check("compare.link_cameras", context.second().areCamerasLinked());
    check("view.split", m_parts.canvases.isSplit(Qt::Horizontal));
    check("view.split_stacked", m_parts.canvases.isSplit(Qt::Vertical));
}

void WindowMenus::refreshColors() {
    for (const models::NodeColumn& column : models::nodeColumns())
        if (const QString id = QStringLiteral("view.color_") + column.id; m_parts.actions.contains(id))
            m_parts.actions.action(id)->setChecked(m_parts.context.settings().colorBy() == column.id);
}

void WindowMenus::refreshBookmarks() {
    const context::OpenModel& model = m_parts.context.model();
    const auto& bookmarks = m_parts.context.navigation().bookmarks();
    for (std::size_t n = 1; n <= 9; ++n) {
        QAction* action = m_parts.actions.action(QStringLiteral("go.bookmark_%1").arg(n));
        const bool isSet = n <= bookmarks.size();
        QString name;
        if (isSet && model.isOpen()) {
            const context::Selection& at = bookmarks[n - 1];
            name =
                at.node.valid() ? models::shown(model.graph().node(at.node).name) : models::qualnameText(at.qualname);
        }
        action->setText(isSet ? QStringLiteral("&%1  %2").arg(n).arg(name.left(60).replace(u'&', QStringLiteral("&&")))
                              : tr("Bookmark &%1").arg(n));
        action->setEnabled(isSet);
    }
}

}  // namespace sonde::window
