#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/compare.h"
#include "core/exec/runner.h"

namespace sonde::analysis {

struct MeasuredRun;
struct RunDifferences;

/// As compareRuns(), with the counterparts given: by NodeId of `actual`, an invalid one of what is not compared. See
/// kHeldBytes for `heldBytes`.
base::Result<RunDifferences> comparePairedRuns(const MeasuredRun& actual, const MeasuredRun& reference,
                                               const std::vector<graph::NodeId>& counterparts,
                                               const Tolerances& tolerances, exec::Runner& runner,
                                               const base::WorkContext& work, std::int64_t heldBytes);

}  // namespace sonde::analysis
