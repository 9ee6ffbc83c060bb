#pragma once

#include <memory>
#include <set>
#include <vector>

#include "core/analysis/problems.h"
#include "core/session/executor.h"
#include "core/session/observer.h"

namespace sonde::session {

/// What a run left behind that is wrong: failures, NaN and infinity, with origins before carriers.
struct RunProblems {
    std::vector<analysis::Problem> all;  ///< see analysis::findProblems
    analysis::BadSummary summary;
    analysis::ContradictingTypes types = {};  ///< what the run showed of them

    /// `types`: see analysis::findProblems.
    static RunProblems of(const graph::InternalGraph& graph, const exec::Recording& recording,
                          const std::vector<graph::NodeId>& accepted, const analysis::ContradictingTypes& types = {});
};

/// The problems of the last run, where it departs from a reference, and which bad values the user accepted as intended.
/// See Session for threads.
class Problems {
  public:
    Problems(Executor& executor, Observer& observer) : m_executor(executor), m_observer(observer) {}

    /// Of the last run alone.
    const std::vector<analysis::Problem>& all() const { return m_found.all; }
    /// Those, and where values depart from the reference of the last comparison: origins first, in execution order.
    const std::vector<analysis::Problem>& withDivergence() const { return m_withDivergence; }
    /// "2 origins, 14 carriers"; empty if there is no problem.
    std::string countText() const;
    const analysis::BadSummary& summary() const { return m_found.summary; }
    /// Null if the node is no problem.
    const analysis::Problem* of(graph::NodeId node) const;
    /// Nodes whose values are bad and neither accepted nor only carry what was accepted.
    const std::set<graph::NodeId>& bad() const { return m_bad; }
    bool isBad(graph::NodeId node) const { return m_bad.contains(node); }

    /// In the order in which they were accepted.
    const std::vector<graph::NodeId>& accepted() const { return m_accepted; }
    bool isAccepted(graph::NodeId node) const;
    /// In place of what was accepted before; counts from the next run on.
    void restoreAccepted(std::vector<graph::NodeId> nodes) { m_accepted = std::move(nodes); }
    /// NaN and infinity of the node are intended, or not any more; whether that is new.
    bool setAccepted(graph::NodeId node, bool accepted);

    /// Finds the problems of a recording again, with what is accepted now. Work for the executor.
    void findAgain(std::shared_ptr<const graph::InternalGraph> graph, std::shared_ptr<const exec::Recording> recording);
    void adopt(RunProblems found);
    void forget();

    /// By the session.
    void bind(std::shared_ptr<const graph::InternalGraph> graph);
    /// Where the last comparison found differences; tells if they are others.
    void setDivergence(const std::vector<analysis::Problem>& divergence);

  private:
    Executor& m_executor;
    Observer& m_observer;
    void join();

    std::shared_ptr<const graph::InternalGraph> m_graph;
    RunProblems m_found;
    std::vector<analysis::Problem> m_divergence, m_withDivergence;
    std::set<graph::NodeId> m_bad;
    std::vector<graph::NodeId> m_accepted;
};

}  // namespace sonde::session
