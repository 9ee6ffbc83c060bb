#include "ui/panels/timeline/timeline_panel.h"

#include <QAccessible>
#include <QAction>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/actions/action_registry.h"
#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/context/lessons.h"
#include "ui/models/node_columns.h"
#include "ui/models/short_text.h"
#include "ui/panels/timeline/timeline_accessible.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InspectorContext;
using session::debug::Item;

namespace {

const QString kByTime = QStringLiteral("view.timeline_time");

QString bytesText(std::size_t bytes) { return models::nodeColumnText(models::BytesColumn, static_cast<double>(bytes)); }

/// Operations of the whole run as far as the program tells: what loops repeat comes on top.
double operationCount(const graph::InternalGraph& graph) {
    std::size_t count = 0;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        const bool isDone = expr.kind != graph::ExprKind::Input && expr.kind != graph::ExprKind::Output &&
                            expr.kind != graph::ExprKind::Constant && expr.kind != graph::ExprKind::GetAttr;
        if (isDone && !expr.outputs.empty() && expr.bodies.empty()) ++count;
    }
    return static_cast<double>(count);
}

}  // namespace

TimelinePanel::TimelinePanel(const session::Session& session, context::OpenModel& opened,
                             context::Navigation& navigation, context::Debugger& debugger,
                             const context::Lessons& lessons, QWidget* parent)
    : Panel(parent), m_session(session), m_opened(opened), m_navigation(navigation), m_debugger(debugger),
      m_lessons(lessons), m_view(new TimelineView(this)),
      m_byTime(widgets::makeToolButton(QStringLiteral("clock"), tr("Width by time"), this)),
      m_fit(widgets::makeToolButton(QStringLiteral("fit"), tr("Show the whole run"), this)),
      m_accesses(new widgets::ElidedLabel({}, this)), m_kept(new widgets::ElidedLabel({}, this)) {
    // Once for all windows: Qt keeps every factory that it is given.
    static const bool isInstalled = (QAccessible::installFactory(accessibleTimelineOf), true);
    Q_UNUSED(isInstalled)
    m_byTime->setCheckable(true);
    auto* footer = new QHBoxLayout;
    footer->setContentsMargins(theme::kTight, 0, theme::kSmall, 0);
    footer->setSpacing(theme::kTight);
    footer->addWidget(m_byTime);
    footer->addWidget(m_fit);
    for (widgets::ElidedLabel* label : {m_accesses, m_kept}) {
        label->setElideMode(Qt::ElideRight);
        label->setColorRole(theme::ColorRole::MutedText);
        footer->addWidget(label, 1);
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_view, 1);
    column->addLayout(footer);
    setFocusProxy(m_view);
    connect(m_fit, &QToolButton::clicked, m_view, &TimelineView::fit);
    connect(m_byTime, &QToolButton::toggled, this,
            [this](bool on) { m_view->setScale(on ? TimelineScale::Time : TimelineScale::Uniform); });
    connect(m_view, &TimelineView::goToRequested, this, &TimelinePanel::goTo);
    connect(m_view, &TimelineView::stepRequested, this,
            [this] { m_debugger.step(session::debug::Target::Kind::Over); });
    connect(m_view, &TimelineView::selectRequested, this, &TimelinePanel::show);
    connect(&m_debugger, &context::Debugger::changed, this, &TimelinePanel::follow);
    connect(&m_debugger, &context::Debugger::breakpointsChanged, this, &TimelinePanel::followBreakpoints);
    connect(&m_navigation, &context::Navigation::selectionChanged, this, &TimelinePanel::followSelection);
    connect(&m_opened, &context::OpenModel::documentLeft, this, [this] {
        m_view->change([](TimelineScene& scene) { scene = {}; });
        m_exprs = {};
        m_waiting.reset();
        setHasContent(false);
    });
    follow();
}

/// The wheel does here what it does on the canvas.
void TimelinePanel::join(const PanelHost& host) {
    host.actions.bindToggle(kByTime, this, [this](bool on) { m_byTime->setChecked(on); });
    QAction* byTime = host.actions.action(kByTime);
    m_byTime->setToolTip(host.actions.toolTip(kByTime));
    connect(m_byTime, &QToolButton::toggled, byTime, &QAction::setChecked);
    QAction* wheel = host.actions.action(QStringLiteral("view.wheel_zooms"));
    m_view->setWheelZooms(wheel->isChecked());
    connect(wheel, &QAction::toggled, m_view, &TimelineView::setWheelZooms);
}

// --- the run --------------------------------------------------------------------------------------------------------

void TimelinePanel::follow() {
    const bool isShown = m_debugger.isShown() && m_session.document();
    if (isShown && !m_debugger.isRunning() && m_waiting) {
        const ItemId item = *std::exchange(m_waiting, std::nullopt);
        goTo(item);
    }
    m_view->change([this, isShown](TimelineScene& scene) {
        if (!isShown) {
            scene = {};
            return;
        }
        const auto& graph = m_session.document()->graph;
        if (scene.graph != graph) {
            scene.graph = graph;
            scene.expected = operationCount(*graph);
        }
        const bool isNew = m_number != timeline().number() || scene.timeline == nullptr;
        m_number = timeline().number();
        scene.timeline = &timeline();
        scene.isComplete = m_session.debugger().isComplete();
        if (!m_view->isAsking() && !m_waiting) {
            scene.place = m_debugger.place().item;
            scene.isEnd = m_debugger.place().isEnd;
        }
        if (isNew) {
            selectIn(scene);
            m_points.setPoints(*graph, m_debugger.breakpoints());
        } else {
            fillAccesses(scene);
        }
        m_points.add(timeline());
        scene.points = m_points.items();
        if (!m_debugger.isRunning()) scene.hits = session::debug::BreakpointItems::hits(m_debugger.breakpoints());
    });
    if (!isShown) m_waiting.reset();
    tell();
    setHasContent(isShown && !m_lessons.ownsRun());
}

void TimelinePanel::followBreakpoints() {
    if (!m_view->scene().graph) return;
    m_points.setPoints(*m_view->scene().graph, m_debugger.breakpoints());
    follow();
}

/// In one step at a time: what is asked for while one goes on is done when it has ended.
void TimelinePanel::goTo(ItemId item) {
    if (m_debugger.isRunning()) m_waiting = item;
    else m_debugger.goTo(item);
}

/// How many steps a run has is known when it has come to its end.
void TimelinePanel::goToStep(ItemId step) {
    goTo(step);
    if (m_debugger.isStopped()) return;
    auto* waiting = new QObject(this);
    connect(&m_debugger, &context::Debugger::changed, waiting, [this, waiting, step] {
        if (m_debugger.isRunning()) return;
        waiting->deleteLater();
        if (m_debugger.isStopped() && m_session.debugger().isComplete() && step >= timeline().size()) goTo(step);
    });
}

// --- the selected value ---------------------------------------------------------------------------------------------

void TimelinePanel::selectIn(TimelineScene& scene) {
    const context::Selection& selection = m_navigation.selection();
    const bool isNode = selection.kind == context::Selection::Kind::Node && scene.graph;
    scene.selected = isNode ? selection.expr : graph::ExprId();
    scene.accesses = {};
    m_known = 0;
    m_exprs = isNode ? session::debug::Accesses::of(*scene.graph, selection.node) : session::debug::Accesses();
    fillAccesses(scene);
}

void TimelinePanel::fillAccesses(TimelineScene& scene) {
    if (scene.timeline && scene.selected.valid()) scene.accesses.add(*scene.timeline, m_exprs, m_known);
    m_known = scene.timeline ? scene.timeline->size() : 0;
}

void TimelinePanel::followSelection() {
    if (!m_view->scene().timeline) return;
    m_view->change([this](TimelineScene& scene) { selectIn(scene); });
    if (!m_isShowing && m_view->scene().selected.valid() && !m_view->scene().accesses.writes.empty()) {
        // The time that it was computed last before the place, else the first.
        const std::vector<ItemId>& writes = m_view->scene().accesses.writes;
        const ItemId place = m_view->scene().current();
        const auto after = std::ranges::upper_bound(writes, place);
        m_view->ensureVisible(after == writes.begin() ? writes.front() : *std::prev(after));
    }
    tell();
}

/// Selects on the canvas what an item is about.
void TimelinePanel::show(ItemId id) {
    if (id >= timeline().size()) return;
    const Item& item = timeline()[id];
    m_isShowing = true;
    if (item.kind == Item::Kind::Module) m_navigation.navigateTo(m_navigation.selectionOf(item.scope));
    else m_navigation.navigateTo(m_navigation.selectionOf(item.expr));
    m_isShowing = false;
}

// --- texts ----------------------------------------------------------------------------------------------------------

QString TimelinePanel::accessText() const {
    const TimelineScene& scene = m_view->scene();
    if (!scene.selected.valid() || !scene.graph) return tr("Select a value to see where it is read and written");
    const graph::NodeId node = m_navigation.selection().node;
    return tr("%1: \u25b2 reads %2 \u00b7 \u25bc writes %3")
        .arg(models::brief(scene.graph->node(node).name), context::countText(scene.accesses.reads.size()),
             context::countText(scene.accesses.writes.size()));
}

QString TimelinePanel::keptText() const {
    const session::debug::KeptUse use = m_session.debugger().keptUse();
    QStringList parts{
        tr("Values: %1 of %2 in memory").arg(bytesText(use.memoryBytes), bytesText(use.limits.memoryBytes))};
    if (use.diskBytes > 0) parts << tr("%1 on disk").arg(bytesText(use.diskBytes));
    if (use.droppedBytes > 0) parts << tr("%1 computed again when shown").arg(bytesText(use.droppedBytes));
    return parts.join(QStringLiteral(" \u00b7 "));
}

void TimelinePanel::tell() {
    m_accesses->setText(accessText());
    m_kept->setText(m_view->scene().timeline ? keptText() : QString());
}

namespace {

/// Command `timeline`.
base::Result<void> command(QWidget& panel, const PanelHost& host, const QString& words) {
    auto& timeline = static_cast<TimelinePanel&>(panel);
    bool isStep = false;
    const uint step = words.toUInt(&isStep);
    if (isStep) timeline.goToStep(step);
    else if (words == QLatin1String("time") || words == QLatin1String("uniform"))
        host.actions.action(kByTime)->setChecked(words == QLatin1String("time"));
    else return base::usageError("no such step or width", words.toStdString(), "a number, time or uniform");
    return {};
}

}  // namespace

PanelInfo timelinePanel() {
    PanelInfo info;
    info.id = QStringLiteral("timeline");
    info.title = QStringLiteral("Timeline");
    info.icon = QStringLiteral("clock");
    info.area = PanelArea::Bottom;
    info.shortcut = QStringLiteral("Alt+Shift+1");
    info.factory = [](InspectorContext& inspector) -> Panel* {
        return new TimelinePanel(inspector.session(), inspector.model(), inspector.navigation(), inspector.debugger(),
                                 context::lessonsOf(inspector));
    };
    info.coming = PanelComing::ToFront;
    info.size = {0, 150};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<TimelinePanel&>(panel).join(host); };
    info.commands = {{"timeline", "STEP|time|uniform",
                      "debug the model as far as a step, or back to it; bars by time, or alike wide", command}};
    return info;
}

}  // namespace sonde::panels
