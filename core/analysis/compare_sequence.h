#pragma once

#include "core/analysis/compared_values.h"
#include "core/analysis/difference.h"
#include "core/exec/runner.h"

namespace sonde::analysis {

/// Reference of a whole sequence: `seq.in.NAME` and `seq.out.NAME` have the frames along their first axis.
bool hasSequence(const ReferenceValues& reference);

/// Runs the model on one frame after the other and compares every frame's outputs: one row for each `seq.out.NAME`.
/// A state is an input without frames whose name begins an output's name ("state", "stateN"): it is zero at first, in
/// the shape of `in.NAME`, and then what that output was. Other inputs keep their value of case 0.
base::Result<ComparedCase> compareSequence(const ComparedModel& model, const ReferenceValues& reference,
                                           const Tolerances& tolerances, exec::Runner& runner,
                                           const base::WorkContext& work);

}  // namespace sonde::analysis
