#pragma once

#include <cstdint>
#include <vector>

#include "core/session/debug/recorded_run.h"
#include "core/session/problems.h"

namespace sonde::session {

/// NaN, infinity and failures that a run has come to which is gone through step by step. It must not be moved
/// meanwhile. Linear in its steps and in the graph.
RunProblems problemsSoFar(const debug::RecordedRun& run, const std::vector<graph::NodeId>& accepted);

/// Tells whether problemsSoFar() may have become other ones. Linear in the count of bad nodes.
struct ProblemCount {
    const debug::RecordedRun* run = nullptr;
    std::size_t nodes = 0;
    std::int64_t elements = 0;  ///< that are NaN or infinite, of all iterations
    bool isFailed = false;

    static ProblemCount of(const debug::RecordedRun& run);
    bool operator==(const ProblemCount&) const = default;
};

}  // namespace sonde::session
