#pragma once

#include <string>
#include <vector>

#include "core/session/problem_report.h"
#include "core/session/session.h"

namespace sonde::session {

/// What to run a model on to find its problems.
struct ProblemSearch {
    std::vector<io::InputCase> cases = {};  ///< a run each; with a reference the first takes the place of its inputs
    std::string reference = {};             ///< an .npz of which every case is run and compared; may be empty
};

/// Runs the session's document on all cases and finds everything that is wrong: bad values, failures, guards and shapes
/// of each run, and where values depart from the reference. Problems that several cases have are one. Blocks; the
/// session's last run is that of the last case. Errors: those of Session::check(); a run did not begin, or was
/// cancelled.
base::Result<ProblemReport> findAllProblems(Session& session, const ProblemSearch& search);

}  // namespace sonde::session
