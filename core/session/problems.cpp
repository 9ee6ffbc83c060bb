#include "core/session/problems.h"

#include <algorithm>

namespace sonde::session {

RunProblems RunProblems::of(const graph::InternalGraph& graph, const exec::Recording& recording,
                            const std::vector<graph::NodeId>& accepted) {
    return {analysis::findProblems(graph, recording, accepted), analysis::summarizeBad(graph, recording, accepted)};
}

const analysis::Problem* Problems::of(graph::NodeId node) const {
    const auto found = std::ranges::find(m_found.all, node, &analysis::Problem::node);
    return found == m_found.all.end() ? nullptr : &*found;
}

bool Problems::isAccepted(graph::NodeId node) const { return std::ranges::find(m_accepted, node) != m_accepted.end(); }

bool Problems::setAccepted(graph::NodeId node, bool accepted) {
    if (!node.valid() || accepted == isAccepted(node)) return false;
    if (accepted) m_accepted.push_back(node);
    else std::erase(m_accepted, node);
    return true;
}

void Problems::findAgain(std::shared_ptr<const graph::InternalGraph> graph,
                         std::shared_ptr<const exec::Recording> recording) {
    if (!recording) return m_observer.problemsChanged();
    start(
        m_executor, Activity::FindProblems, {},
        [graph = std::move(graph), recording = std::move(recording), accepted = m_accepted](const base::WorkContext&) {
            return RunProblems::of(*graph, *recording, accepted);
        },
        [this](RunProblems found) { adopt(std::move(found)); });
}

void Problems::adopt(RunProblems found) {
    m_found = std::move(found);
    m_bad = std::set(m_found.summary.nodes.begin(), m_found.summary.nodes.end());
    m_observer.problemsChanged();
}

void Problems::forget() {
    m_executor.abandon(Activity::FindProblems);
    if (m_found.all.empty() && m_found.summary.accepted == 0) return;
    adopt({});
}

}  // namespace sonde::session
