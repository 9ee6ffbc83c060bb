#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::exec {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

/// What a run is for. Watch and end points are sets of nodes; only what they and the outputs need is computed.
struct PlanOptions {
    std::vector<NodeId> watch;  ///< keep these nodes' values
    std::vector<NodeId> end;    ///< stop as soon as all of these are computed; empty: run to the outputs
    bool watchAll = false;      ///< keep every node's value
    bool exact = false;         ///< see ops::RunEnvironment::exact
};

}  // namespace sonde::exec
