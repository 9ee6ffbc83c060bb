#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/verbs/inputs.h"
#include "app/verbs/options.h"

namespace sonde::app {

/// bench --sweep: what the runs of the verb are, and where the curve goes.
struct BenchCurveOptions {
    std::string range;  ///< KEY=A:B:STEP
    std::string plot;   ///< an SVG file; empty: none
    std::size_t threads = 0, repeat = 15;
    bool watchAll = false, exact = false, json = false;
};

/// Prints a row for each point as soon as it is there, or one JSON object at the end, and draws the plot.
base::Result<int> benchCurve(const BenchCurveOptions& options, ModelOptions& model, const InputChoice& inputs);

}  // namespace sonde::app
