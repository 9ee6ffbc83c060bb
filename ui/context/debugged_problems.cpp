#include "ui/context/debugged_problems.h"

#include <utility>

#include "core/session/problem_count.h"
#include "core/session/problem_report.h"

namespace sonde::context {

DebuggedProblems::DebuggedProblems(session::Session& session, Debugger& debugger, Problems& problems, QObject* parent)
    : QObject(parent), m_session(session), m_debugger(debugger), m_problems(problems) {
    connect(&debugger, &Debugger::changed, this, &DebuggedProblems::follow);
    connect(&problems, &Problems::acceptedChanged, this, [this] {
        m_count = {};
        follow();
    });
    follow();
}

QString DebuggedProblems::countText() const { return QString::fromStdString(session::problemCountText(m_rows)); }

base::Result<void> DebuggedProblems::save(const QString& path) const {
    if (!m_session.document()) return base::usageError("no model is open");
    const document::Document& document = *m_session.document();
    return session::ProblemReport{document.title, document.graph, m_rows}.write(path.toStdString());
}

/// Most steps bring no new one: then nothing is looked for.
void DebuggedProblems::follow() {
    if (m_debugger.isShown() != m_isShown) {
        m_isShown = m_debugger.isShown();
        m_rows.clear();
        m_count = {};
        Q_EMIT changed();
    }
    session::Debugger& debugger = m_session.debugger();
    if (!m_isShown || debugger.isRunning() || !debugger.hasBegun()) return;
    const session::ProblemCount count = session::ProblemCount::of(*debugger.run());
    if (count == m_count) return;
    debugger.inspect(
        [accepted = m_problems.accepted()](const session::debug::View& view, const base::WorkContext&) {
            return session::problemsSoFar(view.run(), accepted).all;
        },
        [this, count](std::vector<analysis::Problem> found) {
            if (!m_isShown) return;
            m_rows = std::move(found);
            m_count = count;
            Q_EMIT changed();
        });
}

}  // namespace sonde::context
