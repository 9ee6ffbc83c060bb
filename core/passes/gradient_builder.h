#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::passes {

/// Writes the operators of one gradient in front of its Gradient expr and keeps what is known of each node's gradient.
/// The first failure is kept; calls after it give invalid nodes.
class GradientBuilder {
  public:
    using NodeId = graph::NodeId;

    GradientBuilder(graph::InternalGraph& graph, graph::ExprId gradient);

    graph::InternalGraph& graph() { return m_graph; }
    /// The opset version of ai.onnx that the model imports.
    int version() const { return m_version; }

    /// An ONNX operator with one output; its type is to be inferred.
    NodeId op(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes = {}) {
        return make("", name, std::move(inputs), std::move(attributes), 1).front();
    }
    /// An operator of domain prim.
    std::vector<NodeId> prim(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes,
                             std::size_t outputs) {
        return make("prim", name, std::move(inputs), std::move(attributes), outputs);
    }
    NodeId constant(tensor::Tensor value);
    /// A scalar of the dtype of a node (float32 if that is unknown).
    NodeId number(double value, NodeId like);
    NodeId integers(const std::vector<std::int64_t>& values);
    NodeId shapeOf(NodeId x) { return op("Shape", {x}); }
    /// A tensor like x full of one number.
    NodeId filled(NodeId x, double value);
    /// A reduction with given axes and keepdims 1; axes are an input or an attribute as the version has it.
    NodeId reduced(std::string_view name, NodeId x, const std::vector<std::int64_t>& axes);
    NodeId unsqueezed(NodeId x, std::int64_t axis);
    /// The last two axes exchanged; fails if the rank is not known.
    NodeId transposed(NodeId x);
    /// g, which has the shape of `like`, summed over the axes along which x was broadcast to it.
    NodeId summedTo(NodeId g, NodeId x, NodeId like);
    NodeId reshapedTo(NodeId g, NodeId x) { return op("Reshape", {g, shapeOf(x)}); }
    NodeId add(NodeId a, NodeId b) { return op("Add", {a, b}); }
    NodeId sub(NodeId a, NodeId b) { return op("Sub", {a, b}); }
    NodeId mul(NodeId a, NodeId b) { return op("Mul", {a, b}); }
    NodeId div(NodeId a, NodeId b) { return op("Div", {a, b}); }

    std::optional<std::size_t> rankOf(NodeId node) const;
    /// Dimensions if all are known.
    std::optional<std::vector<std::int64_t>> dimSizesOf(NodeId node) const;

    /// One more summand of a node's gradient.
    void give(NodeId node, NodeId gradient);
    /// The same for an input that the operator broadcast to the shape of its first output.
    void giveBroadcast(const graph::Expr& expr, NodeId node, NodeId gradient) {
        give(node, summedTo(gradient, node, expr.outputs.front()));
    }
    NodeId gradientOf(NodeId node) const;

    /// An expr's copy that reads other nodes.
    void copy(const graph::Expr& expr, std::map<NodeId, NodeId>& standIns);

    void fail(std::string what) {
        if (m_problem.empty()) m_problem = std::move(what);
    }
    const std::string& problem() const { return m_problem; }

  private:
    std::vector<NodeId> make(std::string_view domain, std::string_view name, std::vector<NodeId> inputs,
                             tensor::Attributes attributes, std::size_t outputs);
    graph::Expr blank() const;
    std::string freeName(std::string wanted) const;
    NodeId insert(graph::Expr expr, std::string_view name);

    graph::InternalGraph& m_graph;
    graph::ExprId m_gradient;
    int m_version = 1;
    std::map<NodeId, NodeId> m_gradients;
    std::string m_problem;
};

/// One operator's rule: reads the gradients of its outputs and gives those of its inputs.
using GradientRule = void (*)(GradientBuilder&, const graph::Expr&);
/// Null: there is none. A rule that gives nothing is that of a piecewise constant operator.
const GradientRule* findGradientRule(const graph::Expr& expr);

}  // namespace sonde::passes
