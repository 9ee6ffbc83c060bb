#pragma once

#include <memory>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::exec {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

struct Edits;
class Plan;

/// What a run is for. Watch and end points are sets of nodes; only what they and the outputs need is computed.
struct PlanOptions {
    std::vector<NodeId> watch;     ///< keep these nodes' values
    std::vector<NodeId> end;       ///< stop as soon as all of these are computed; empty: run to the outputs
    bool watchAll = false;         ///< keep every node's value
    bool exact = false;            ///< see ops::RunEnvironment::exact
    bool measuresWatched = false;  ///< watched values are only measured when they are made (RunOptions::measured) and
                                   ///< not kept: a kernel may write over them in the same pass
    std::shared_ptr<const Edits> edits = {};  ///< values in place of those that are computed; null: none
    /// Nodes, by source (see valueSources), whose values a run is given (RunOptions::given) instead of computing them:
    /// what they alone need does not run. They are those before edits. With them, what has an effect runs only if it
    /// depends on an edit.
    std::vector<NodeId> given = {};
    /// A plan of the same graph, by which this one is made sooner: what steps call is taken from it. Null: none.
    std::shared_ptr<const Plan> alike = {};
};

}  // namespace sonde::exec
