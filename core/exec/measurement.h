#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/progress.h"
#include "core/exec/plan.h"
#include "core/exec/runner.h"

namespace sonde::exec {

/// What the values of one run took. Memory is counted in blocks: a tensor has one, views of it have the same, a list
/// has those of its tensors. Inputs, constants and empty tensors have none that count: the run does not make them.
struct Measurement {
    std::vector<std::vector<std::uint32_t>> blocksOf;  ///< by source node (see valueSources)
    std::vector<std::int64_t> blockBytes;
    std::vector<NodeId> blockOwner;       ///< the source node that was the first to have it
    std::vector<std::int64_t> elapsedNs;  ///< by expr
};

/// Runs the plan, operator by operator, and looks at what it makes. Values inside of branches and loops have no blocks.
/// Errors: those of the run.
base::Result<Measurement> measure(Runner& runner, const Plan& plan, std::span<const Value> inputs,
                                  const base::WorkContext& work = {});

}  // namespace sonde::exec
