#include "ui/context/inspector_context.h"

#include <algorithm>

#include "ui/context/comparison.h"
#include "ui/context/problems.h"
#include "ui/context/remembered.h"
#include "ui/context/stored.h"
#include "ui/context/value_measures.h"
#include "ui/context/window_hint.h"

namespace sonde::context {
namespace {

bool contains(const std::vector<NodeId>& nodes, NodeId node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

constexpr std::size_t kHistoryLimit = 200;

}  // namespace

InspectorContext::InspectorContext(QObject* parent)
    : QObject(parent), m_events(makeEvents()), m_session(m_executor, m_events.get()) {
    qRegisterMetaType<Selection>();
    m_runTimer.setInterval(33);
    connect(&m_runTimer, &QTimer::timeout, this, &InspectorContext::pollRun);
    connect(&m_load, &Job::progressed, this, &InspectorContext::loadProgressed);
    connect(&m_fileWatch, &FileWatch::changed, this, &InspectorContext::fileChanged);
    connect(&m_fileWatch, &FileWatch::touched, this, &InspectorContext::checkFiles);
    connect(&m_inputWatch, &FileWatch::touched, this, &InspectorContext::checkInputFiles);
    m_valueMeasures = std::make_unique<ValueMeasures>(m_session);
    connect(this, &InspectorContext::documentLeft, m_valueMeasures.get(), &ValueMeasures::leave);
    connect(this, &InspectorContext::runStarted, m_valueMeasures.get(), &ValueMeasures::forget);
    connect(this, &InspectorContext::fileChanged, m_valueMeasures.get(), &ValueMeasures::forget);
    connect(this, &InspectorContext::runFinished, m_valueMeasures.get(), &ValueMeasures::followRun);
    connect(m_valueMeasures.get(), &ValueMeasures::failed, this,
            qOverload<const base::Error&>(&InspectorContext::report));
    m_comparison = std::make_unique<Comparison>(m_session.comparison());
    connect(this, &InspectorContext::selectionChanged, m_comparison.get(), &Comparison::checkFiles);
    connect(m_comparison.get(), &Comparison::tolerancesChanged, this, &InspectorContext::keep);
    connect(m_comparison.get(), &Comparison::nothingToRepeat, this, [this] {
        report(Message{
            base::Severity::Info, tr("Nothing was compared yet"), {}, tr("Run \u203a Compare says with what"), {}});
    });
    m_problems = std::make_unique<Problems>(m_session);
    connect(m_problems.get(), &Problems::acceptedChanged, this, &InspectorContext::keep);
}

InspectorContext::~InspectorContext() { waitUntilStored(); }

bool InspectorContext::isBusy() const {
    return m_load.isActive() || m_executor.isBusy() || m_valueMeasures->isActive() || m_comparison->isActive();
}

// --- what is pointed at ---------------------------------------------------------------------------------------------

Selection InspectorContext::selectionOf(NodeId node) const {
    if (!document() || !node.valid() || node.index() >= graph().nodeCount()) return {};
    const ExprId producer = graph().node(node).producer;
    Selection selection;
    selection.kind = Selection::Kind::Node;
    selection.node = node;
    selection.expr = producer;
    if (producer.valid()) {
        const graph::Expr& expr = graph().expr(producer);
        selection.scope = expr.scope;
        if (expr.qualname) selection.qualname = QString::fromStdString(*expr.qualname);
    }
    return selection;
}

Selection InspectorContext::selectionOf(ExprId id) const {
    if (!document() || !id.valid() || graph().isErased(id)) return {};
    const graph::Expr& expr = graph().expr(id);
    if (!expr.outputs.empty()) return selectionOf(expr.outputs.front());
    Selection selection;
    selection.kind = Selection::Kind::Expr;
    selection.expr = id;
    selection.scope = expr.scope;
    if (expr.qualname) selection.qualname = QString::fromStdString(*expr.qualname);
    return selection;
}

Selection InspectorContext::selectionOf(ScopeId scope) const {
    if (!document() || !scope.valid()) return {};
    Selection selection;
    selection.kind = Selection::Kind::Scope;
    selection.scope = scope;
    selection.qualname = QString::fromStdString(graph().scope(scope).qualname);
    if (selection.qualname.isNull()) selection.qualname = QLatin1String("");
    return selection;
}

Selection InspectorContext::selectionOf(const QString& qualname) const {
    if (!document()) return {};
    const std::string wanted = qualname.toStdString();
    for (const graph::Scope& scope : graph().scopes())
        if (scope.qualname == wanted) return selectionOf(scope.id);
    // A module that was not traced into has no scope: its call stands for it.
    for (const graph::ExprId id : graph().main().order) {
        const graph::Expr& expr = graph().expr(id);
        if (expr.kind == graph::ExprKind::CallModule && expr.target == wanted) return selectionOf(id);
    }
    Selection selection;
    selection.kind = Selection::Kind::Module;
    selection.qualname = qualname;
    return selection;
}

void InspectorContext::setSelection(const Selection& selection) {
    checkFiles();
    checkInputFiles();
    m_selection = selection;
    if (selection.node.valid() && !contains(m_selectedNodes, selection.node)) m_selectedNodes = {selection.node};
    if (!selection.node.valid()) m_selectedNodes.clear();
    m_session.runs().setLookedAt(m_selectedNodes);  // its value comes with each run
    Q_EMIT selectionChanged(m_selection);
    if (selection.node.valid()) requestValue(selection.node);
}

void InspectorContext::select(const Selection& selection) {
    if (selection == m_selection && m_selectedNodes.size() <= 1) return;
    m_selectedNodes.clear();
    if (!selection.isNone() && (m_history.empty() || m_history[m_historyAt] != selection)) {
        if (!m_history.empty()) m_history.resize(m_historyAt + 1);
        m_history.push_back(selection);
        if (m_history.size() > kHistoryLimit) m_history.erase(m_history.begin());
        m_historyAt = m_history.size() - 1;
        Q_EMIT historyChanged();
    }
    setSelection(selection);
}

void InspectorContext::selectMany(const std::vector<NodeId>& nodes) {
    if (nodes.empty()) return clearSelection();
    m_selectedNodes = nodes;
    setSelection(selectionOf(nodes.front()));
}

void InspectorContext::hover(const Selection& selection) {
    if (selection == m_hovered) return;
    m_hovered = selection;
    Q_EMIT hoverChanged(m_hovered);
}

void InspectorContext::reveal(const Selection& selection) {
    if (!document() || selection.isNone()) return;
    // What one is led to is to be seen, whatever was hidden.
    if (selection.expr.valid() && layout::isFiltered(m_view, selection.expr)) showEverything();
    if (m_outline) {
        layout::ViewState view = m_view;
        if (selection.expr.valid()) layout::reveal(*m_outline, view, selection.expr);
        else if (selection.scope.valid()) layout::reveal(*m_outline, view, selection.scope);
        changeView(std::move(view));
    }
    Q_EMIT revealRequested(selection);
}

void InspectorContext::navigateTo(const Selection& selection) {
    select(selection);
    reveal(selection);
}

void InspectorContext::goBack() {
    if (!canGoBack()) return;
    --m_historyAt;
    setSelection(m_history[m_historyAt]);
    Q_EMIT historyChanged();
    reveal(m_selection);
}

void InspectorContext::goForward() {
    if (!canGoForward()) return;
    ++m_historyAt;
    setSelection(m_history[m_historyAt]);
    Q_EMIT historyChanged();
    reveal(m_selection);
}

void InspectorContext::goToParent() {
    if (!document() || m_selection.isNone()) return;
    ScopeId scope = m_selection.scope;
    if (m_selection.kind == Selection::Kind::Scope) scope = graph().scope(scope).parent;
    if (scope.valid()) navigateTo(selectionOf(scope));
}

void InspectorContext::setSearchHits(std::vector<NodeId> hits, int current) {
    m_searchHits = std::move(hits);
    m_currentHit = current;
    Q_EMIT searchHitsChanged();
}

// --- what is seen ---------------------------------------------------------------------------------------------------

bool InspectorContext::isExpanded(ScopeId scope) const {
    return scope.valid() && document() && (scope == graph().rootScope() || m_view.openScopes.count(scope) > 0);
}

void InspectorContext::changeView(layout::ViewState view) {
    if (view == m_view) return;
    m_view = std::move(view);
    keep();
    Q_EMIT viewChanged();
}

void InspectorContext::setView(const layout::ViewState& view) { changeView(view); }

void InspectorContext::setActiveCanvas(int canvas) {
    if (canvas == m_activeCanvas || canvas < 0 || canvas >= kCanvases) return;
    m_activeCanvas = canvas;
    std::swap(m_view, m_otherCanvas.view);
    std::swap(m_focus, m_otherCanvas.focus);
    std::swap(m_hidden, m_otherCanvas.hidden);
    Q_EMIT activeCanvasChanged(canvas);
}

void InspectorContext::copyViewToOther() {
    m_otherCanvas = {m_view, m_focus, m_hidden};
    keep();
}

void InspectorContext::keepPlace(int canvas, const Place& place) {
    if (!document() || m_places[canvas] == place) return;
    m_places[canvas] = place;
    rememberPlace(document(), canvas, place);
}

void InspectorContext::setExpanded(ScopeId scope, bool expanded) {
    if (!m_outline || !scope.valid()) return;
    const layout::GroupId group = m_outline->groupOf(scope);
    if (!group.valid()) return;
    layout::ViewState view = m_view;
    layout::setOpen(*m_outline, view, group, expanded);
    changeView(std::move(view));
}

void InspectorContext::setExpanded(ExprId expr, bool expanded) {
    if (!m_outline || !expr.valid()) return;
    const layout::GroupId group = m_outline->operationGroup(expr);
    if (!group.valid()) return;
    layout::ViewState view = m_view;
    layout::setOpen(*m_outline, view, group, expanded);
    changeView(std::move(view));
}

void InspectorContext::setExpandedRecursively(ScopeId scope, bool expanded) {
    if (!m_outline || !scope.valid()) return;
    layout::ViewState view = m_view;
    for (std::size_t i = 0; i < m_outline->groupCount(); ++i) {
        const layout::Outline::Group& group = m_outline->group(layout::GroupId(i));
        if (!group.scope.valid() || !graph().encloses(scope, group.scope)) continue;
        if (group.kind == layout::Outline::Kind::Body) continue;
        layout::setOpen(*m_outline, view, layout::GroupId(i), expanded);
    }
    changeView(std::move(view));
}

void InspectorContext::expandToDepth(int depth) {
    if (!m_outline) return;
    layout::ViewState view = m_view;
    layout::openToDepth(*m_outline, view, static_cast<std::size_t>(std::max(0, depth)));
    changeView(std::move(view));
}

void InspectorContext::setDirection(layout::Direction direction) {
    layout::ViewState view = m_view;
    view.direction = direction;
    changeView(std::move(view));
}

void InspectorContext::setShowsConstants(bool shown) {
    layout::ViewState view = m_view;
    view.hideConstants = !shown;
    changeView(std::move(view));
}

void InspectorContext::setFoldsShapes(bool folded) {
    layout::ViewState view = m_view;
    view.foldShapes = folded;
    changeView(std::move(view));
}

void InspectorContext::setShowsAttributes(bool shown) {
    if (shown == m_showAttributes) return;
    m_showAttributes = shown;
    Q_EMIT labelsChanged();
}

void InspectorContext::setShowsNames(bool shown) {
    if (shown == m_showNames) return;
    m_showNames = shown;
    Q_EMIT labelsChanged();
}

void InspectorContext::setLabelRules(const LabelRules& rules) {
    if (rules == m_labelRules) return;
    m_labelRules = rules;
    Q_EMIT labelsChanged();
}

// --- messages -------------------------------------------------------------------------------------------------------

void InspectorContext::report(const Message& given) {
    Message message = given;
    if (message.node.valid() && document()) message.graph = document()->graph;
    if (m_messages.size() >= kMaxMessages) m_messages.erase(m_messages.begin());
    m_messages.push_back(message);
    Q_EMIT messageReported(message);
    if (message.severity == base::Severity::Error) Q_EMIT bannerRequested(message);
}

NodeId InspectorContext::nodeOf(const Message& message) const {
    return document() && message.graph.lock() == document()->graph ? message.node : NodeId();
}

void InspectorContext::report(const base::Error& error) {
    Message message{base::Severity::Error,
                    QString::fromStdString(error.what),
                    windowPlace(error.where),
                    windowHint(error.hint),
                    {}};
    if (!error.notes.empty()) message.text += QStringLiteral(" — ") + QString::fromStdString(error.notes.front());
    if (document()) message.node = graph().findNode(error.where);
    report(message);
}

void InspectorContext::clearBanner() { Q_EMIT bannerCleared(); }

}  // namespace sonde::context
