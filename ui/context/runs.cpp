#include "ui/context/runs.h"

#include <utility>

#include "ui/context/count_text.h"
#include "ui/context/messages.h"
#include "ui/context/problems.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

Runs::Runs(session::Session& session, const Problems& problems, Messages& messages)
    : m_session(session), m_problems(problems), m_messages(messages) {
    m_timer.setInterval(33);
    connect(&m_timer, &QTimer::timeout, this, &Runs::poll);
}

QString Runs::staleReason() const { return QString::fromStdString(m_session.runs().staleReason()); }

QString Runs::passText(NodeId node, std::size_t iteration) const {
    const exec::Recording* const kept = m_session.values().recordingOf(node);
    return kept ? QString::fromStdString(kept->passText(node, iteration)) : QString();
}

QString Runs::iterationText(NodeId node) const {
    const std::size_t count = iterations(node);
    return count > 1 ? tr("last of %1").arg(countText(count)) : QString();
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

void Runs::run() {
    if (m_session.document()) m_session.runs().run();
}

void Runs::runTo(NodeId node) {
    if (m_session.document()) m_session.runs().runTo(node);
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

void Runs::setLive(bool live) {
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
