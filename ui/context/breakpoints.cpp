#include "ui/context/breakpoints.h"

#include <QStringList>

#include <algorithm>
#include <set>

#include "core/exec/flatten.h"
#include "core/expression/expression.h"
#include "core/operators/names.h"
#include "ui/context/debugger.h"
#include "ui/context/messages.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

using session::debug::LogEntry;

namespace {

constexpr std::size_t kMaxMessages = 500;  ///< of log points at one place; more are counted
constexpr std::size_t kMaxText = 200;      ///< of a value, in bytes

bool isComputed(const graph::InternalGraph& graph, NodeId node) {
    return node.valid() && !graph.node(node).constant &&
           graph.expr(graph.node(node).producer).kind != graph::ExprKind::Input;
}

QString inBackticks(const std::string& name) {
    QString text = QString::fromStdString(name);
    text.replace(u'\\', QStringLiteral("\\\\")).replace(u'`', QStringLiteral("\\`"));
    return u'`' + text + u'`';
}

}  // namespace

Breakpoints::Breakpoints(session::Session& session, Debugger& debugger, Messages& messages)
    : m_session(session), m_debugger(debugger), m_messages(messages) {
    connect(&debugger, &Debugger::breakpointsChanged, this, &Breakpoints::changed);
    connect(&debugger, &Debugger::changed, this, [this] {
        takeLog();
        Q_EMIT changed();
    });
}

/// Whether a breakpoint is on the layer that a selected operation is.
bool Breakpoints::isLayer(const Point& point, const Selection& selection) const {
    return point.isLeaf && selection.expr.valid() && m_session.document() &&
           session::debug::Breakpoints::isOf(point, *m_session.document()->graph,
                                             m_session.document()->graph->expr(selection.expr));
}

const Breakpoints::Point* Breakpoints::find(int id) const {
    const auto found = std::ranges::find(all(), id, &Point::id);
    return found == all().end() ? nullptr : &*found;
}

std::vector<const Breakpoints::Point*> Breakpoints::at(const Selection& selection) const {
    std::vector<const Point*> points;
    for (const Point& point : all()) {
        const bool isHere = selection.isModule() ? point.kind == Point::Kind::Module && !selection.qualname.isEmpty() &&
                                                       point.name == selection.qualname.toStdString()
                                                 : (point.kind == Point::Kind::Node && point.node.valid() &&
                                                    point.node == selection.node) ||
                                                       isLayer(point, selection);
        if (isHere) points.push_back(&point);
    }
    return points;
}

QString Breakpoints::operatorOf(const Selection& selection) const {
    if (!m_session.document() || !selection.expr.valid()) return {};
    const std::string& name = m_session.document()->graph->expr(selection.expr).op.name;
    return name.empty() ? QString()
                        : QStringLiteral("op:") + QString::fromStdString(std::string(operators::withoutOverload(name)));
}

QString Breakpoints::placeOf(const Selection& selection) const {
    if (!m_session.document()) return {};
    if (selection.isModule()) return selection.qualname;
    const graph::InternalGraph& graph = *m_session.document()->graph;
    return isComputed(graph, selection.node) ? inBackticks(graph.node(selection.node).name) : QString();
}

NodeId Breakpoints::nodeOf(const Point& point) const {
    if (!m_session.document() || point.isMissing) return {};
    const graph::InternalGraph& graph = *m_session.document()->graph;
    const auto outputOf = [&](graph::ExprId id) {
        const auto& outputs = graph.expr(id).outputs;
        return outputs.empty() ? NodeId() : outputs.front();
    };
    if (point.kind == Point::Kind::Node) return point.node;
    if (point.kind == Point::Kind::Condition)
        return point.producers.empty() ? NodeId() : outputOf(point.producers.back());
    if (point.kind == Point::Kind::Event) {
        // Where it came up last in this run.
        const session::Debugger& debugger = m_session.debugger();
        if (point.hits.empty() || !m_debugger.isStopped()) return {};
        return outputOf(debugger.run()->trace()[*point.hits.rbegin()].expr);
    }
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.outputs.empty() || !isComputed(graph, expr.outputs.front())) continue;
        if (session::debug::Breakpoints::isOf(point, graph, expr)) return expr.outputs.front();
        if (point.kind != Point::Kind::Module || point.isLeaf) continue;
        for (graph::ScopeId scope = expr.scope; scope.valid(); scope = graph.scope(scope).parent)
            if (graph.scope(scope).qualname == point.name) return expr.outputs.front();
    }
    return {};
}

QString Breakpoints::titleOf(const Point& point) {
    switch (point.kind) {
        case Point::Kind::Node: return QString::fromStdString(point.name);
        case Point::Kind::Module: return tr("module %1").arg(QString::fromStdString(point.name));
        case Point::Kind::Operator: return tr("operator %1").arg(QString::fromStdString(point.name));
        case Point::Kind::Condition: return tr("condition");
        case Point::Kind::Event: break;
    }
    switch (point.event) {
        case session::debug::TensorEvent::Nan: return tr("first NaN");
        case session::debug::TensorEvent::Inf: return tr("first Inf");
        case session::debug::TensorEvent::Overflow: return tr("first overflow");
        case session::debug::TensorEvent::Zero: break;
    }
    return tr("first all zero");
}

std::vector<graph::ExprId> Breakpoints::hitsOf(const Point& point) const {
    std::vector<graph::ExprId> exprs;
    if (!m_debugger.isStopped()) return exprs;
    std::set<graph::ExprId> seen;
    for (const session::debug::ItemId item : point.hits)
        if (const graph::ExprId id = m_session.debugger().run()->trace()[item].expr; seen.insert(id).second)
            exprs.push_back(id);
    return exprs;
}

QString Breakpoints::tipOf(const Point& point) {
    const QString expression = QString::fromStdString(point.expression.text());
    QString text = point.isLog            ? tr("Log point %1: %2").arg(point.id).arg(expression)
                   : expression.isEmpty() ? tr("Breakpoint %1").arg(point.id)
                                          : tr("Breakpoint %1 if %2").arg(point.id).arg(expression);
    if (point.kind == Point::Kind::Operator || point.kind == Point::Kind::Event)
        text += QStringLiteral(", ") + titleOf(point);
    return point.isEnabled ? text : tr("%1 (disabled)").arg(text);
}

QString Breakpoints::iconOf(const Point& point) {
    const QString shape = point.isLog                 ? QStringLiteral("log-point")
                          : !point.expression.empty() ? QStringLiteral("breakpoint-if")
                                                      : QStringLiteral("breakpoint");
    return point.isEnabled ? shape : shape + QStringLiteral("-off");
}

QString Breakpoints::lastLog(int id) const {
    const auto found = m_lastLog.find(id);
    return found == m_lastLog.end() ? QString() : found->second;
}

bool Breakpoints::isStoppedAt(int id) const {
    return m_debugger.isStopped() &&
           std::ranges::find(m_debugger.place().breakpoints, id) != m_debugger.place().breakpoints.end();
}

base::Result<int> Breakpoints::add(const QString& where, const QString& expression, bool isLog) {
    const std::string place = where.trimmed().toStdString(), text = expression.trimmed().toStdString();
    const bool isFirst = all().empty();
    auto id = isLog ? m_session.debugger().addLogPoint(place, text) : m_session.debugger().addBreakpoint(place, text);
    if (id && isFirst) Q_EMIT firstAdded();
    return id;
}

base::Result<void> Breakpoints::setExpression(int id, const QString& text) {
    return m_session.debugger().setBreakpointExpression(id, text.trimmed().toStdString());
}

base::Result<void> Breakpoints::setIgnored(int id, int hits) {
    return m_session.debugger().setBreakpointIgnored(id, static_cast<std::size_t>(std::max(0, hits)));
}

void Breakpoints::toggle(const Selection& selection) {
    std::vector<int> ids;
    for (const Point* point : at(selection))
        if (!point->isLog) ids.push_back(point->id);
    for (const int id : ids) remove(id);
    if (!ids.empty()) return;
    const QString where = placeOf(selection);
    if (where.isEmpty())
        return void(Q_EMIT refused(tr("No operation computes the selection: a run cannot stop there")));
    if (const auto added = add(where, {}, false); !added) Q_EMIT refused(windowTextWithHint(added.error()));
}

void Breakpoints::togglePlace(const QString& where) {
    const auto found = std::ranges::find_if(all(), [text = where.toStdString()](const Point& point) {
        return !point.isLog && point.expression.empty() && point.text == text;
    });
    if (found != all().end()) return remove(found->id);
    if (const auto added = add(where, {}, false); !added) Q_EMIT refused(windowTextWithHint(added.error()));
}

void Breakpoints::setEnabled(int id, bool enabled) { m_session.debugger().setBreakpointEnabled(id, enabled); }
void Breakpoints::remove(int id) { m_session.debugger().removeBreakpoint(id); }
void Breakpoints::clear() { m_session.debugger().clearBreakpoints(); }

/// Each record is a message that leads to its node.
void Breakpoints::takeLog() {
    session::Debugger& debugger = m_session.debugger();
    if (!m_debugger.isStopped()) {
        if (!m_debugger.isShown()) m_lastLog.clear();
        return;
    }
    const session::debug::RecordedRun& run = *debugger.run();
    const std::vector<LogEntry> log = debugger.takeLog();
    const std::size_t begin = log.size() - std::min(log.size(), kMaxMessages);
    std::size_t dropped = debugger.takeDroppedLog() + begin;
    for (std::size_t i = begin; i < log.size(); ++i) {
        const LogEntry& entry = log[i];
        const Point* point = find(entry.id);
        const auto& outputs = run.graph().expr(run.trace()[entry.item].expr).outputs;
        const NodeId node = outputs.empty() ? NodeId() : outputs.front();
        const QString text =
            entry.value ? QString::fromStdString(entry.value->text(kMaxText)) : windowText(entry.value.error());
        m_lastLog[entry.id] = text;
        QString where = node.valid() ? QString::fromStdString(run.graph().node(node).name) : QString();
        QStringList pass;
        for (const std::int64_t iteration : run.trace().passOf(entry.item)) pass << QString::number(iteration);
        if (!pass.isEmpty()) where += tr(", iteration %1").arg(pass.join(u'.'));
        const QString expression = point ? QString::fromStdString(point->expression.text()) : QString();
        m_messages.report(Message{entry.value ? base::Severity::Info : base::Severity::Warning,
                                  expression + QStringLiteral(" = ") + text, where, tr("log point %1").arg(entry.id),
                                  node});
    }
    if (dropped > 0)
        m_messages.report(Message{base::Severity::Warning,
                                  tr("%n record(s) of log points are left out", nullptr, static_cast<int>(dropped)),
                                  {},
                                  tr("A condition in the expression, or fewer log points, give fewer"),
                                  {}});
}

}  // namespace sonde::context
