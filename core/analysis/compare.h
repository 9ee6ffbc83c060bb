#pragma once

#include <vector>

#include "core/analysis/compared_values.h"
#include "core/analysis/difference.h"
#include "core/exec/runner.h"

namespace sonde::analysis {

/// Runs every case of the reference on its own inputs and compares all it holds. Usage error if there is no case, or an
/// input is missing. What is expected and what is allowed: `tolerances`, by the element type of each value.
base::Result<std::vector<ComparedCase>> compareWithin(const Tolerances& tolerances, const ComparedModel& model,
                                                      const ReferenceValues& reference, exec::Runner& runner,
                                                      const base::WorkContext& work = {});

/// The same with one tolerance for every element type.
base::Result<std::vector<ComparedCase>> compare(const ComparedModel& model, const ReferenceValues& reference,
                                                const Tolerance& tolerance, exec::Runner& runner,
                                                const base::WorkContext& work = {});

}  // namespace sonde::analysis
