#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/exec/plan_impl.h"

namespace sonde::exec {

/// Packed weights and the like of one graph, for all runners that run it at the time: they may take as much memory as
/// the weights. Thread-safe.
class PreparedStates {
  public:
    using State = std::shared_ptr<const ops::PreparedState>;

    /// Those of a graph; new if no runner has them.
    static std::shared_ptr<PreparedStates> of(const std::shared_ptr<const InternalGraph>& graph, bool exact);

    /// Null: not prepared yet. In it may be null: the operator prepares nothing for these weights.
    std::optional<State> find(ExprId expr) const;
    /// What is there, which another thread may have added before.
    State add(ExprId expr, State state);

  private:
    mutable std::mutex m_mutex;
    std::unordered_map<ExprId, State> m_states;
};

}  // namespace sonde::exec
