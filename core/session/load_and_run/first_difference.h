#pragma once

#include <string>

#include "core/analysis/measured_runs.h"
#include "core/session/load_and_run/case_inputs.h"
#include "core/session/load_and_run/task.h"

namespace sonde::session {

/// How far the values of one case are from those of a reference.
struct CaseDifferences {
    analysis::RunDifferences differences;  ///< by node of the graph that was run, without its checks
    std::string text;                      ///< "first difference from unoptimised: conv1 (ConvBias): …"
};

/// What `options.firstDifference` asks for: the graph that is run against the document's graph in plain form, or
/// against another model. Errors: those of opening that model and of comparing.
base::Result<CaseDifferences> differencesOfCase(const LoadAndRunTask& task, const document::TestCases& tests,
                                                const CaseValues& values, const base::WorkContext& work);

}  // namespace sonde::session
