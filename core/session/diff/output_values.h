#pragma once

#include <string>
#include <vector>

#include "core/analysis/difference.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/exec/runner.h"
#include "core/session/diff/graph_pairs.h"

namespace sonde::session::diff {

/// An output of both models with other values.
struct OtherOutput {
    graph::NodeId a, b;
    double maxAbs = 0, maxRel = 0;  ///< see analysis::Difference
    std::string note;               ///< "output 0"
};

struct OutputValues {
    std::size_t compared = 0;
    std::vector<OtherOutput> changed;
};

/// The outputs of the models, at one place if they have as many, else of one name, that are no results of counterparts,
/// which are compared as such: where one model gives another operation's result. `inputs` in the order of either
/// graph's. Runs nothing if there are none. Error: cancelled.
base::Result<OutputValues> compareOutputs(const document::Document& first, const document::Document& second,
                                          const GraphPairs& pairs, const std::vector<tensor::Value> (&inputs)[2],
                                          const analysis::Tolerances& tolerances, exec::Runner& runner,
                                          const base::WorkContext& work);

}  // namespace sonde::session::diff
