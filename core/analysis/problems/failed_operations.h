#pragma once

#include "core/analysis/problems/checker.h"

namespace sonde::analysis {

/// An error if it ended the run, a warning if the run went on; says what the operation's inputs were.
Problem problemOfFailure(const CheckedRun& run, const exec::Failure& failure, ProblemKind kind);

}  // namespace sonde::analysis
