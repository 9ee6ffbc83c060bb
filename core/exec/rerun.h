#pragma once

#include <memory>
#include <vector>

#include "core/exec/plan.h"
#include "core/exec/recording.h"

namespace sonde::exec {

/// What runs again if values are other ones, and from what.
struct Rerun {
    std::shared_ptr<const Plan> plan;
    std::vector<Value> given;  ///< RunOptions::given
};

/// A plan for `options` with its edits that runs only what depends on them. Everything else comes from values that a
/// run of the same graph without edits, on the same inputs and seed, has kept; what it did not keep and is needed is
/// computed again. The results are those of a run of everything, bit for bit. Errors: those of Plan::make().
base::Result<Rerun> planRerun(std::shared_ptr<const InternalGraph> graph, PlanOptions options, const Recording& kept);

}  // namespace sonde::exec
