#pragma once

#include <vector>

#include "core/exec/plan_impl.h"

namespace sonde::exec {

/// The steps of one row with element-wise steps as the epilogue of the step whose result they read, if that step's
/// kernel runs one and everything else that they read is there by then.
std::vector<Step> fuseEpilogues(std::vector<Step> steps, const PlanImpl& plan, const InternalGraph& graph);

}  // namespace sonde::exec
