#include "core/session/node_statistics.h"

#include <utility>

namespace sonde::session {

const analysis::TensorStats* NodeStatistics::of(graph::NodeId node) const {
    if (!m_known || !node.valid() || node.index() >= m_known->ofNode.size()) return nullptr;
    const auto& stats = m_known->ofNode[node.index()];
    return stats ? &*stats : nullptr;
}

void NodeStatistics::compute() {
    m_isWanted = true;
    const Run& last = m_runs.last();
    if (!m_document || !last.recording || m_runs.isRunning() || m_known || isActive()) return;
    m_stop.renew();
    start(
        m_executor, Activity::Statistics, m_stop.token(),
        [run = analysis::MeasuredRun{m_document->graph, last.inputs},
         threads = m_runs.settings().threads](const base::WorkContext& work) {
            exec::Runner runner(threads);
            return analysis::measureRun(run, runner, work);
        },
        [this](base::Result<analysis::RunStats> stats) {
            if (stats) m_known = std::make_shared<const analysis::RunStats>(std::move(stats).value());
            else if (stats.error().kind != base::ErrorKind::Cancelled) m_observer.failed(stats.error());
            m_observer.statisticsChanged();
        });
}

void NodeStatistics::forget() {
    m_executor.abandon(Activity::Statistics);
    if (std::exchange(m_known, {})) m_observer.statisticsChanged();
}

void NodeStatistics::documentLeft() {
    m_isWanted = false;
    forget();
}

void NodeStatistics::runFinished() {
    if (m_isWanted) compute();
}

void NodeStatistics::bind(std::shared_ptr<const document::Document> document) { m_document = std::move(document); }

}  // namespace sonde::session
