#include "core/session/problems.h"

#include <algorithm>
#include <tuple>

#include "core/session/problem_count.h"

namespace sonde::session {

using analysis::Problem;

RunProblems RunProblems::of(const graph::InternalGraph& graph, const exec::Recording& recording,
                            const std::vector<graph::NodeId>& accepted, const analysis::ContradictingTypes& types) {
    return {analysis::findProblems(graph, recording, accepted, types),
            analysis::summarizeBad(graph, recording, accepted), types};
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
        [graph = std::move(graph), recording = std::move(recording), accepted = m_accepted, types = m_found.types](
            const base::WorkContext&) { return RunProblems::of(*graph, *recording, accepted, types); },
        [this](RunProblems found) { adopt(std::move(found)); });
}

void Problems::adopt(RunProblems found) {
    m_found = std::move(found);
    m_bad = std::set(m_found.summary.nodes.begin(), m_found.summary.nodes.end());
    join();
    m_observer.problemsChanged();
}

void Problems::forget() {
    m_executor.abandon(Activity::FindProblems);
    if (m_found.all.empty() && m_found.summary.accepted == 0) return;
    adopt({});
}

void Problems::bind(std::shared_ptr<const graph::InternalGraph> graph) {
    m_graph = std::move(graph);
    m_divergence.clear();
    join();
}

void Problems::setDivergence(const std::vector<Problem>& divergence) {
    const auto key = [](const Problem& one) { return std::tie(one.node, one.role, one.message); };
    const bool isSame = std::ranges::equal(divergence, m_divergence,
                                           [&](const Problem& a, const Problem& b) { return key(a) == key(b); });
    if (isSame) return;
    m_divergence = divergence;
    join();
    m_observer.problemsChanged();
}

void Problems::join() {
    m_withDivergence = m_found.all;
    m_withDivergence.insert(m_withDivergence.end(), m_divergence.begin(), m_divergence.end());
    if (m_graph) analysis::sortProblems(*m_graph, m_withDivergence);
}

std::string Problems::countText() const { return problemCountText(m_withDivergence); }

}  // namespace sonde::session
