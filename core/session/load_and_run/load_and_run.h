#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/measured_runs.h"
#include "core/session/load_and_run/task.h"

namespace sonde::session {

/// One check of a test case after its first run.
struct CheckedOutput {
    std::string name;
    graph::NodeId node;   ///< what was checked: of the document's graph, unless that was optimised before the run
    graph::NodeId error;  ///< of the graph that was run
    double difference = 0;
    double maxError = 0;
    bool isSilent = false;
    bool ok() const { return difference >= 0 && difference <= maxError; }
    std::string text() const;  ///< "AssertEqual: err=0.5 (name=ADD id=7)"
};

struct CaseResult {
    std::vector<CheckedOutput> checks;
    std::vector<std::int64_t> iterationsNs;
    std::optional<base::Error> error;  ///< of the run
    /// With `firstDifference`: by node of the graph that was run, without its checks.
    std::optional<analysis::RunDifferences> differences;
};

struct LoadAndRunResult {
    std::vector<CaseResult> cases;
    std::vector<std::string> violations;  ///< of `range` and `check_var_value`
    /// The first reason why it failed: a run's error; of kind Comparison for a check, unless disable_assert_throw, and
    /// for a violation. None if all is well.
    std::optional<base::Error> failure;
};

/// Runs a model as MegEngine's load-and-run does: on `options.input`, on what the task gives, on the test cases in its
/// file, or on default inputs; each case is run, checked, and timed `iterations` times. Everything that options ask to
/// be written is of the first run of each case, times are of the last. With `options.input` expected values
/// (NAME:expect) may be given, too; without them nothing is checked. Errors: what keeps it from running any case
/// (usage, unreadable files), and cancelling; what happens in a run is in the result.
base::Result<LoadAndRunResult> loadAndRun(const LoadAndRunTask& task, const base::WorkContext& work = {});

}  // namespace sonde::session
