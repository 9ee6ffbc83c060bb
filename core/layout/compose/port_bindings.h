#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::layout::compose {

/// A value outside of an operation with bodies, bound to a value inside.
struct PortBinding {
    graph::NodeId outer;
    graph::BodyId body;
    graph::NodeId inner;
};

/// Arguments that become inputs of a body: outer is the argument, inner the body's input. For Loop all but the trip
/// count, for Scan and calls all.
std::vector<PortBinding> entriesOf(const graph::InternalGraph& graph, graph::ExprId expr);
/// Results of bodies that become outputs: outer is the output, inner the body's result. For Loop all but the condition.
std::vector<PortBinding> resultsOf(const graph::InternalGraph& graph, graph::ExprId expr);

}  // namespace sonde::layout::compose
