#include "ui/context/runs.h"

#include <utility>

#include "core/layout/outline.h"
#include "ui/context/count_text.h"
#include "ui/context/debugger.h"
#include "ui/context/messages.h"
#include "ui/context/problems.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

Runs::Runs(session::Session& session, Debugger& debugger, const Problems& problems, Messages& messages)
    : m_session(session), m_debugger(debugger), m_problems(problems), m_messages(messages) {
    m_timer.setInterval(33);
    connect(&m_timer, &QTimer::timeout, this, &Runs::poll);
    connect(&debugger, &Debugger::changed, this, &Runs::runFinished);
    connect(&debugger, &Debugger::valueArrived, this, &Runs::valueArrived);
}

// --- which run is shown ----------------------------------------------------------------------------------------------

bool Runs::isDebugged() const { return m_debugger.isShown(); }

NodeId Runs::current() const { return m_debugger.current(); }

RunState Runs::state() const {
    if (!isDebugged()) return m_session.runs().state();
    if (m_debugger.state() == DebugState::Failed) return RunState::Failed;
    return m_debugger.state() == DebugState::Finished ? RunState::Finished : RunState::NotRun;
}

const std::shared_ptr<const exec::Recording>& Runs::recording() const {
    return isDebugged() ? m_debugger.recording() : m_session.runs().last().recording;
}

QString Runs::staleReason() const {
    return isDebugged() ? m_debugger.staleReason() : QString::fromStdString(m_session.runs().staleReason());
}

const tensor::Value* Runs::value(NodeId node) const {
    if (!isDebugged()) return m_session.values().of(node);
    const auto& graph = m_session.runs().graph();
    if (!graph || !node.valid() || node.index() >= graph->nodeCount() || m_session.runs().fileHasChanged())
        return nullptr;
    const auto& constant = graph->node(node).constant;
    if (constant && !(m_session.debugger().isCounterfactual() && m_session.edits().reach(node))) return &*constant;
    return m_debugger.value(node);
}

/// Of a debugged run the one at the place.
const tensor::Value* Runs::value(NodeId node, std::size_t iteration) const {
    if (!isDebugged()) return m_session.values().of(node, iteration);
    return iteration == 0 ? value(node) : nullptr;
}

std::size_t Runs::iterations(NodeId node) const {
    if (!isDebugged()) return m_session.values().iterations(node);
    return value(node) ? 1 : 0;
}

QString Runs::passText(NodeId node, std::size_t iteration) const {
    if (isDebugged()) return m_debugger.passText(node);
    const exec::Recording* const kept = m_session.values().recordingOf(node);
    return kept ? QString::fromStdString(kept->passText(node, iteration)) : QString();
}

QString Runs::iterationText(NodeId node) const {
    if (isDebugged()) return m_debugger.iterationText(node);
    const std::size_t count = iterations(node);
    return count > 1 ? tr("last of %1").arg(countText(count)) : QString();
}

bool Runs::isStale(NodeId node) const {
    if (!isDebugged()) return m_session.values().isStale(node);
    const auto& graph = m_session.runs().graph();
    return graph && node.valid() && node.index() < graph->nodeCount() && !graph->node(node).constant &&
           !m_debugger.staleReason().isEmpty();
}

const session::debug::ValueChange* Runs::change(NodeId node) const {
    return isDebugged() ? m_debugger.change(node) : nullptr;
}

bool Runs::wasTaken(graph::BodyId body) const {
    if (!isDebugged()) return m_session.runs().wasTaken(body);
    const auto& graph = m_session.runs().graph();
    const ExprId owner = recording() && body.valid() ? graph->body(body).owner : ExprId();
    if (!owner.valid()) return false;
    for (const std::size_t branch : recording()->branches(owner))
        if (graph->expr(owner).bodies[branch] == body) return true;
    return false;
}

bool Runs::wasReached(NodeId node) const {
    if (!isDebugged()) return m_session.runs().wasReached(node);
    if (!recording() || !node.valid()) return true;
    const graph::Expr& expr = m_session.runs().graph()->expr(m_session.runs().graph()->node(node).producer);
    return expr.kind == graph::ExprKind::Input || layout::Outline::isConstant(expr) || recording()->computed(node);
}

exec::ExprState Runs::exprState(ExprId expr) const {
    if (!isDebugged()) return m_session.runs().exprState(expr);
    return recording() && expr.valid() ? recording()->state(expr) : exec::ExprState::NotReached;
}

const exec::Failure* Runs::failure(ExprId expr) const {
    if (!isDebugged()) return m_session.runs().failure(expr);
    const auto& graph = m_session.runs().graph();
    if (!recording() || !expr.valid()) return nullptr;
    for (const exec::Failure& failure : recording()->failures)
        for (ExprId at = failure.expr; at.valid(); at = graph->body(graph->expr(at).body).owner)
            if (at == expr) return &failure;
    return nullptr;
}

void Runs::requestValue(NodeId node) {
    if (!isDebugged()) return m_session.values().request(node);
    if (recording() && recording()->computed(node)) m_debugger.request(node);
}

bool Runs::isInOtherBranch(NodeId node) const {
    const auto& graph = m_session.runs().graph();
    if (state() != RunState::Finished || !recording() || !graph || recording()->computed(node)) return false;
    for (graph::BodyId body = graph->expr(graph->node(node).producer).body; body != graph->mainId();) {
        const graph::Expr& owner = graph->expr(graph->body(body).owner);
        if (owner.bodies.size() > 1 && !recording()->branches(owner.id).empty() && !wasTaken(body)) return true;
        body = owner.body;
    }
    return false;
}

// --- plain runs ------------------------------------------------------------------------------------------------------

void Runs::run() {
    if (m_session.document()) m_session.runs().run();
}

void Runs::runTo(NodeId node) {
    if (isDebugged()) m_debugger.runTo(node);
    else if (m_session.document()) m_session.runs().runTo(node);
}

void Runs::reset() {
    m_timer.stop();
    m_progress = {};
    m_saysRefusal = false;
}

void Runs::begin() {
    m_progress = {};
    m_saysRefusal = false;
    m_timer.start();
    m_messages.clearBanner();
    Q_EMIT runStarted();
}

void Runs::end() {
    m_timer.stop();
    const session::Run& run = m_session.runs().last();
    if (run.recording) report(run);
    else if (state() == RunState::Failed && !m_session.runs().fileHasChanged()) reportFailure(*run.error);
    Q_EMIT runFinished();
}

void Runs::followInputs() {
    if (refusal() || !std::exchange(m_saysRefusal, false)) return;
    m_messages.clearRunBanner();
}

void Runs::report(const session::Run& run) {
    for (const std::string& line : run.plan->missingOperators())
        m_messages.report(Message{base::Severity::Warning, QString::fromStdString(line), {}, {}, {}});
    const QString milliseconds = QString::number(static_cast<double>(run.recording->totalNs) / 1e6, 'f', 1);
    if (state() == RunState::Failed) reportFailure(*run.error);
    if (state() == RunState::Finished)
        m_messages.report(Message{base::Severity::Info, tr("Run finished in %1 ms").arg(milliseconds), {}, {}, {}});
    reportProblems();
    if (state() == RunState::Cancelled)
        m_messages.report(Message{base::Severity::Warning,
                                  tr("Run cancelled after %1 ms; what was computed is kept").arg(milliseconds),
                                  {},
                                  {},
                                  {}});
}

void Runs::reportFailure(const base::Error& error) {
    Message message{base::Severity::Error,
                    QString::fromStdString(error.what),
                    windowPlace(error.where),
                    windowHint(error.hint),
                    {}};
    // The place names the operation and the types of its inputs, as the note does.
    if (!error.notes.empty() && error.where.empty())
        message.text += QStringLiteral(" — ") + QString::fromStdString(error.notes.front());
    message.isOfRun = true;
    if (recording() && !recording()->failures.empty()) {
        const graph::Expr& failed = m_session.runs().graph()->expr(recording()->failures.front().expr);
        if (!failed.outputs.empty()) message.node = failed.outputs.front();
    }
    m_saysRefusal = refusal().has_value();
    m_messages.report(message);
}

/// What a run that came to its end has to say: bad values, and what only watch points asked for and could not be
/// computed.
void Runs::reportProblems() {
    const auto tell = [this](const QString& text, const QString& hint, NodeId node) {
        Message message{base::Severity::Warning, text, {}, hint, node};
        message.isOfRun = true;
        m_messages.report(message);
    };
    if (const QString bad = m_problems.summary(); !bad.isEmpty())
        tell(bad, tr("Press F8 to go to the node that produced it first"), m_problems.firstBad());
    for (const analysis::Problem& problem : m_problems.all()) {
        if (problem.kind != analysis::ProblemKind::Failure || problem.severity == base::Severity::Error) continue;
        tell(tr("%1 could not be computed: %2")
                 .arg(QString::fromStdString(analysis::placeText(*m_session.runs().graph(), problem.node)),
                      QString::fromStdString(problem.message)),
             QString::fromStdString(problem.advice), problem.node);
    }
}

void Runs::poll() {
    const RunProgress now = m_session.runs().progress();
    if (!isRunning() ||
        (now.done == m_progress.done && now.current == m_progress.current && now.total == m_progress.total))
        return;
    m_progress = now;
    Q_EMIT runProgressed();
}

void Runs::setLiveForNow() {
    if (isLive()) return run();
    setLive(true);
    m_isLiveForNow = true;
}

void Runs::setLive(bool live) {
    m_isLiveForNow = false;
    if (live == isLive()) return;
    m_session.runs().setLive(live);
    Q_EMIT liveChanged(live);
}

void Runs::setThreads(int threads) {
    session::RunSettings settings = m_session.runs().settings();
    settings.threads = static_cast<std::size_t>(threads);
    m_session.runs().setSettings(settings);
}

}  // namespace sonde::context
