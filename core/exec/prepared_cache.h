#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/exec/plan_impl.h"
#include "core/exec/prepared_states.h"

namespace sonde::exec {

/// The values of a step's inputs that are the same in every run; None where they are not.
std::vector<Value> constantInputs(const PlanImpl& plan, const Step& step);
/// Whether one of them is another one in the graph, or is one there.
bool readsEdited(const PlanImpl& plan, const Step& step);

/// Packed weights and the like, made at an expr's first run and kept for as long as the graph is the one that runs:
/// they depend on the graph's constants and not on what is watched. Other runners of the graph have the same. Of edited
/// constants for as long as plans with those edits run, for this runner alone.
class PreparedCache {
  public:
    /// Forgets everything if the graph or the setting is another one.
    void select(const std::shared_ptr<const InternalGraph>& graph, bool exact);
    /// Null if the operator prepares nothing.
    base::Result<std::shared_ptr<const ops::PreparedState>> find(const PlanImpl& plan, const Step& step,
                                                                 const std::function<std::vector<Value>()>& constants,
                                                                 ops::RunEnvironment& environment);

  private:
    using State = std::shared_ptr<const ops::PreparedState>;
    base::Result<State> stateOf(const PlanImpl& plan, const Step& step, std::vector<Value> constants,
                                ops::RunEnvironment& environment);
    base::Result<void> addDequantized(const PlanImpl& plan, const Step& step, std::vector<Value>& constants,
                                      ops::RunEnvironment& environment);

    std::shared_ptr<const InternalGraph> m_graph;
    bool m_exact = false;
    std::shared_ptr<PreparedStates> m_states;
    std::unordered_map<ExprId, std::shared_ptr<const ops::PreparedState>> m_edited;  ///< that read edited constants
    std::shared_ptr<const Edits> m_edits;
};

}  // namespace sonde::exec
