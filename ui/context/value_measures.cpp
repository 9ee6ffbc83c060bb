#include "ui/context/value_measures.h"

#include "core/session/session.h"

namespace sonde::context {

ValueMeasures::ValueMeasures(session::Session& session) : m_session(session) {}

ValueMeasures::~ValueMeasures() { m_job.abandon(); }

void ValueMeasures::forget() {
    m_job.abandon();
    if (!m_known) return;
    m_known.reset();
    Q_EMIT changed();
}

void ValueMeasures::followRun() {
    if (m_wanted) compute();
}

void ValueMeasures::leave() {
    m_wanted = false;
    forget();
}

const analysis::TensorStats* ValueMeasures::of(graph::NodeId node) const {
    if (!m_known || !node.valid() || node.index() >= m_known->ofNode.size()) return nullptr;
    const auto& stats = m_known->ofNode[node.index()];
    return stats ? &*stats : nullptr;
}

void ValueMeasures::compute() {
    m_wanted = true;
    const session::Runs& runs = m_session.runs();
    if (!runs.last().recording || runs.isRunning() || m_known || m_job.isActive()) return;
    m_job.start(
        [run = analysis::MeasuredRun{m_session.document()->graph, runs.last().inputs},
         threads = runs.settings().threads](const base::WorkContext& work) {
            exec::Runner runner(threads);
            return analysis::measureRun(run, runner, work);
        },
        [this](base::Result<analysis::RunStats> stats) {
            if (stats) m_known = std::make_shared<const analysis::RunStats>(std::move(stats).value());
            else if (stats.error().kind != base::ErrorKind::Cancelled) Q_EMIT failed(stats.error());
            Q_EMIT changed();
        });
}

}  // namespace sonde::context
