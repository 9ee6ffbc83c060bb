#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/exec/plan.h"

namespace sonde::exec {

/// What it takes to do one operation of a plan again, apart from the rest.
struct ReplayInputs {
    ExprId expr;
    std::unordered_map<NodeId, Value> values;  ///< of the nodes of readsOf()
    /// How often the operation, and those in its bodies, had run before. For those that draw random numbers: each time
    /// they draw others. Missing: never.
    std::unordered_map<ExprId, std::uint64_t> draws;
};

/// By expr: whether it may be done again without anybody noticing. It is an operation of the plan, and neither it nor
/// what is in its bodies has an effect or is code of the model's own. Calls cannot: their operations can.
std::vector<bool> replayable(const Plan& plan);

/// What an operation, and those in its bodies, read from outside of it: each value once, by the node that it comes from
/// (see valueSources). Weights are not among them.
std::vector<NodeId> readsOf(const Plan& plan, ExprId expr);

/// The operation and those in its bodies that draw random numbers.
std::vector<ExprId> drawsOf(const Plan& plan, ExprId expr);

}  // namespace sonde::exec
