#pragma once

#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/export/lowering/lowering.h"
#include "core/session/gradient/operation_gradient.h"

namespace sonde::session::gradient {

/// An operation on complex numbers, or one that gives some, in a graph of real ones. In there a complex tensor is a
/// node of its pairs (tensor::pairsOf), of arguments and results alike.
struct ComplexCall {
    graph::InternalGraph& graph;
    std::map<std::pair<const void*, std::string>, graph::NodeId>& constants;
    const graph::Expr& expr;
    std::string_view name;                    ///< of the operator, without its overload
    std::vector<graph::Argument> arguments;   ///< by position of the schema
    std::vector<tensor::Value> values;        ///< theirs; none where there is no single one
    std::span<const tensor::Value> results;   ///< what the operation gave, complex
    std::unordered_set<graph::NodeId> pairs;  ///< which nodes are complex
};

/// The operation in ONNX operators that have its derivative where it was done: what they compute may be another value,
/// as of exp(z) the tangent exp(z0)·z. What torch.autograd calls the gradient of a complex number, ∂L/∂re + i·∂L/∂im,
/// is that of its pair. One result for each output. Throws NoLowering: it has no form.
std::vector<graph::Argument> complexForm(const ComplexCall& call);
/// Whether an operator on real numbers has a form here alone: transforms whose parts are taken at once.
bool isComplexForm(std::string_view name);

}  // namespace sonde::session::gradient
