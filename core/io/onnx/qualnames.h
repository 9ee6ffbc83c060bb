#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"

namespace sonde::io::onnx {

/// What an ONNX file says about where an operation comes from. The texts are the file's own bytes.
struct NameHint {
    graph::ExprId expr;
    std::string_view path;  ///< the node's name, or its first output's if it has none
    std::vector<std::pair<std::string_view, std::string_view>> metadata;  ///< node.metadata_props
    std::optional<std::size_t> call;  ///< index of the call of a model-local function that the node was unfolded from
};

/// One call of a model-local function.
struct FunctionCall {
    std::string function;  ///< the function's name: the scope's class
    std::string name;      ///< of the calling node: the last part of the scope's qualname
    NameHint hint;         ///< of the calling node; its `expr` is not used
};

/// Recovers the module hierarchy and gives every expr its scope, qualname and module class. Sources, best first:
/// 1. `pkg.torch.onnx.name_scopes`, `.class_hierarchy`, `.stack_trace` (torch.onnx.export(dynamo=True));
/// 2. slash paths of the TorchScript exporter: `/layer1/layer1.0/relu_1/Relu` is the second call of layer1.0.relu.
///    Containers that are not called leave no trace in them; parameter names, which are full, put them back;
/// 3. slash paths of TensorFlow and Keras: `model/dense/MatMul`;
/// 4. dotted parameter names alone: the expr that reads `conv1.weight` is conv1's.
/// Parameters are attributed to modules by their names, or to their first reader's.
void assignScopes(graph::InternalGraph& graph, graph::ModuleTree& modules, const std::vector<NameHint>& hints,
                  const std::vector<FunctionCall>& calls);

}  // namespace sonde::io::onnx
