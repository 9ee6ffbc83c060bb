#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::layout::compose {

/// A value outside of an operation with bodies, and what it is inside.
struct Joint {
    graph::NodeId outer;
    graph::BodyId body;
    graph::NodeId inner;
};

/// Arguments that become inputs of a body: outer is the argument, inner the body's input. Of Loop all but the count, of
/// Scan and calls all.
std::vector<Joint> entriesOf(const graph::InternalGraph& graph, graph::ExprId expr);
/// Results of bodies that become outputs: outer is the output, inner the body's result. Of Loop all but the condition.
std::vector<Joint> resultsOf(const graph::InternalGraph& graph, graph::ExprId expr);

}  // namespace sonde::layout::compose
