#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/analysis/problem.h"
#include "core/exec/recording.h"

namespace sonde::analysis {

/// What a checker looks at.
struct CheckedRun {
    const graph::InternalGraph& graph;
    const exec::Recording& recording;
    std::span<const graph::NodeId> accepted;
    const ContradictingTypes& types;
};

/// One way in which a run can be wrong: a file in this folder, and a line in problemCheckers().
struct ProblemChecker {
    std::string_view id;
    std::string_view description;
    void (*find)(const CheckedRun& run, std::vector<Problem>& problems);
};
const std::vector<ProblemChecker>& problemCheckers();

ProblemChecker badValueChecker();
ProblemChecker failureChecker();
ProblemChecker guardChecker();
ProblemChecker shapeChecker();

}  // namespace sonde::analysis
