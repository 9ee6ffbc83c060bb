#pragma once

#include <cstdint>
#include <memory>

#include "core/session/load_and_run/case_inputs.h"
#include "core/session/load_and_run/task.h"

namespace sonde::session {

/// The graph in the form that the task's options ask for, with `layoutTransform` in the layout that runs fastest on the
/// first case. Errors: those of the form; an error of the run in the default layout.
base::Result<document::TestCases> chosenForm(const LoadAndRunTask& task, const document::TestCases& plain,
                                             const CaseValues& first, const base::WorkContext& work);

/// The graph to run: its checks do not end the run, so that the errors of all of them are told.
std::shared_ptr<const graph::InternalGraph> withoutThrows(const document::TestCases& tests,
                                                          const document::Document& document);

inline double inMilliseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace sonde::session
