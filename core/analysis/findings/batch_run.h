#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/exec/runner.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// One output of a run on one sample, against that sample's part of the output of a run on two.
struct BatchOutput {
    graph::NodeId node;
    double maxAbsolute = 0;     ///< of the difference
    double magnitude = 0;       ///< of the largest element of the run on one sample
    bool isComparable = false;  ///< it has a dimension that grew with the batch
    bool isSameForBoth = true;  ///< the two samples, which differ, gave the same elements
    /// "[1,4], of two samples [1,8]": the batch went into another dimension; empty: it did not.
    std::string mergedShapes = {};
};

/// A run on one sample against a run on a batch of it and another one.
struct BatchRun {
    std::vector<BatchOutput> outputs;
    std::optional<base::Error> error;  ///< why the run on two failed
};

/// Repeats `inputs` (in the order of graph->inputs()), each along its batch dimension, with a second sample made of
/// the elements of the first. The batch dimension is the one with the symbol of dimension 0 of the first tensor that
/// leaves it open; where the file has no names for dimensions, the first open one of each other input with as many
/// samples. Nothing if no input leaves it open, if the graph draws random numbers, if the samples are equal, if the run
/// on one failed, or if the run on two failed and the dimensions were not sure; `why` then says which, unless the work
/// was cancelled.
std::optional<BatchRun> runOnBatches(const std::shared_ptr<const graph::InternalGraph>& graph,
                                     const std::vector<tensor::Value>& inputs, exec::Runner& runner, std::uint64_t seed,
                                     std::string& why, const base::WorkContext& work = {});

}  // namespace sonde::analysis
