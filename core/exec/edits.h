#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/exec/plan_options.h"

namespace sonde::exec {

/// Another value in place of one that a run computes: as soon as it is there, whatever it is that computes it. In a
/// loop or a branch each time.
struct ValueEdit {
    NodeId node;                   ///< by source, see valueSources: all names of the value have the other one
    std::vector<NodeId> operands;  ///< read for it, by source; computed before the node, or constants
    /// Called on the running thread, perhaps by several runs at the same time. `value` is what the node has, after the
    /// edits before this one. It must not be written to: others may share its memory.
    std::function<base::Result<Value>(const Value& value, std::span<const Value> operands)> apply;
};

/// What is other than in the graph. Immutable once a plan has it: what a Runner prepares for edited weights is kept as
/// long as plans with the same Edits run.
struct Edits {
    std::vector<ValueEdit> values;                ///< several of one node are applied in this order
    std::unordered_map<NodeId, Value> constants;  ///< of weights and other constants: what they are instead
    std::vector<NodeId> inputs;                   ///< of the graph, which a run is given other values for

    bool empty() const { return values.empty() && constants.empty() && inputs.empty(); }
};

}  // namespace sonde::exec
