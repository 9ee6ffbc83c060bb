#pragma once

#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/lessons/value_flow.h"

namespace sonde::lessons {

/// The operands of a sum that brings a value together with what was computed from it.
struct ResidualSum {
    graph::NodeId skip;    ///< what goes around
    graph::NodeId branch;  ///< what was computed from it
};
/// Both invalid if the operation is no such sum.
ResidualSum residualOf(const ValueFlow& flow, graph::ExprId expr);

/// What operations are for, whichever vocabulary they are spelled in.
struct OperatorKind {
    std::string_view name;
    std::string_view description;  ///< "a convolution"
    bool (*fits)(const ValueFlow& flow, const graph::Expr& expr);
};
const std::vector<OperatorKind>& operatorKinds();
/// Null if there is none of that name.
const OperatorKind* operatorKind(std::string_view name);

/// The results of the operations of a kind, in the order of the program.
std::vector<graph::NodeId> nodesOf(const graph::InternalGraph& graph, const OperatorKind& kind);

/// Inputs of an operation that are computed, or weights and constants, in their order, each once. The weights of a sum
/// that adds a bias to a product or a convolution begin with those of that: the layer was taken apart.
std::vector<graph::NodeId> computedInputs(const graph::InternalGraph& graph, graph::ExprId expr);
std::vector<graph::NodeId> weightsOf(const graph::InternalGraph& graph, graph::ExprId expr);

}  // namespace sonde::lessons
