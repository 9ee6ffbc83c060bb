#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// How often a graph calls one version of an operator, bodies included.
struct OperatorUse {
    std::string domain, name;  ///< domain "" of ONNX's own
    int version = 0;           ///< of the opset that the model imports; 0: the vocabulary has no versions
    std::size_t count = 0;
    bool isUnsupported = false;        ///< it cannot be run
    std::vector<graph::NodeId> nodes;  ///< where it is called: first results, in the order of the program
};

/// An operation that decides which of its bodies run, and how often.
struct ControlFlow {
    graph::ExprId expr;
    std::vector<std::string> bodies;  ///< their labels: "then_branch"
};

/// What a graph is made of, beyond counts.
struct ModelStructure {
    std::vector<OperatorUse> operators;  ///< by domain and name
    std::vector<ControlFlow> control;    ///< in the order of the program
    std::size_t depth = 0;               ///< operations on the longest path from an input to an output
    std::vector<std::size_t> depths;     ///< by NodeId: operations on the longest path to it; 0 inside of branches
    std::vector<graph::NodeId> path;     ///< their results, from the first operation's to the output
};

/// Linear in the graph. A path goes through operations of the main body and of called modules and functions; a branch
/// or a loop is one operation.
ModelStructure structureOf(const graph::InternalGraph& graph);

/// A dimension that the file leaves open, and what depends on it.
struct DynamicDimension {
    std::string name;                       ///< "batch", "x.0"
    std::vector<std::string> inputs;        ///< dimensions of inputs with this name: "x.0"
    std::vector<std::string> outputs;       ///< of outputs whose size depends on it: "y.0 = batch"
    std::vector<graph::NodeId> nodes;       ///< values whose shape depends on it, with inputs and outputs
    std::optional<std::int64_t> size = {};  ///< that an input gives it; see bindDimensions()
};
struct NamedValue {
    std::string name;
    graph::NodeId node;
};
/// In the order of the inputs, then what only other nodes have ("nonzero.0").
std::vector<DynamicDimension> dynamicDimensions(const graph::InternalGraph& graph,
                                                const std::vector<NamedValue>& inputs,
                                                const std::vector<NamedValue>& outputs);
/// Sizes of the dimensions of `open` in `bound`, the same graph with the types of certain inputs or of a run.
void bindDimensions(std::vector<DynamicDimension>& dimensions, const graph::InternalGraph& open,
                    const graph::InternalGraph& bound);

}  // namespace sonde::analysis
