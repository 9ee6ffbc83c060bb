#pragma once

#include <vector>

#include "core/exec/plan_impl.h"

namespace sonde::exec {

/// The steps of one body with element-wise steps moved behind the step whose result they read, if that step's kernel lets
/// others follow and everything else that they read is there by then. The order of the other steps does not change.
std::vector<Step> joinFollowers(const std::vector<Step>& steps, const Plan::Impl& plan, const InternalGraph& graph);

}  // namespace sonde::exec
