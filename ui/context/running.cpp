// The part of InspectorContext that runs the model and tells what came of it: the session does it, this words it.

#include "ui/context/inspector_context.h"
#include "ui/context/problems.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

void InspectorContext::run() {
    if (hasModel()) m_session.runs().run();
}

void InspectorContext::runTo(NodeId node) {
    if (hasModel()) m_session.runs().runTo(node);
}

void InspectorContext::cancel() { m_session.runs().cancel(); }

void InspectorContext::beginRun() {
    m_runProgress = {};
    m_runTimer.start();
    Q_EMIT bannerCleared();
    Q_EMIT runStarted();
}

void InspectorContext::endRun() {
    m_runTimer.stop();
    const session::Run& run = m_session.runs().last();
    if (run.recording) reportRun(run);
    else if (runState() == RunState::Failed && !fileHasChanged()) reportOfRun(*run.error);
    Q_EMIT runFinished();
}

void InspectorContext::reportRun(const session::Run& run) {
    for (const std::string& line : run.plan->missingOperators())
        report(Message{base::Severity::Warning, QString::fromStdString(line), {}, {}, {}});
    const QString milliseconds = QString::number(static_cast<double>(run.recording->totalNs) / 1e6, 'f', 1);
    if (runState() == RunState::Failed) reportOfRun(*run.error);
    if (runState() == RunState::Finished)
        report(Message{base::Severity::Info, tr("Run finished in %1 ms").arg(milliseconds), {}, {}, {}});
    reportProblems();
    if (runState() == RunState::Cancelled)
        report(Message{base::Severity::Warning,
                       tr("Run cancelled after %1 ms; what was computed is kept").arg(milliseconds),
                       {},
                       {},
                       {}});
}

void InspectorContext::reportOfRun(const base::Error& error) {
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
        const graph::Expr& failed = graph().expr(recording()->failures.front().expr);
        if (!failed.outputs.empty()) message.node = failed.outputs.front();
    }
    report(message);
}

/// What a run that came to its end has to say: bad values, and what only watch points asked for and could not be
/// computed.
void InspectorContext::reportProblems() {
    const auto tell = [this](const QString& text, const QString& hint, NodeId node) {
        Message message{base::Severity::Warning, text, {}, hint, node};
        message.isOfRun = true;
        report(message);
    };
    if (const QString bad = m_problems->summary(); !bad.isEmpty())
        tell(bad, tr("Press F8 to go to the node that produced it first"), m_problems->all().front().node);
    for (const analysis::Problem& problem : m_problems->all()) {
        if (problem.kind != analysis::ProblemKind::Failure || problem.severity == base::Severity::Error) continue;
        tell(tr("%1 could not be computed: %2")
                 .arg(QString::fromStdString(analysis::placeText(graph(), problem.node)),
                      QString::fromStdString(problem.message)),
             QString::fromStdString(problem.advice), problem.node);
    }
}

void InspectorContext::pollRun() {
    const RunProgress now = m_session.runs().progress();
    if (!isRunning() ||
        (now.done == m_runProgress.done && now.current == m_runProgress.current && now.total == m_runProgress.total))
        return;
    m_runProgress = now;
    Q_EMIT runProgressed();
}

void InspectorContext::setLive(bool live) {
    if (live == isLive()) return;
    m_session.runs().setLive(live);
    Q_EMIT liveChanged(live);
}

void InspectorContext::setThreads(int threads) {
    session::RunSettings settings = m_session.runs().settings();
    settings.threads = static_cast<std::size_t>(threads);
    m_session.runs().setSettings(settings);
}

QString InspectorContext::staleReason() const { return QString::fromStdString(m_session.runs().staleReason()); }

}  // namespace sonde::context
