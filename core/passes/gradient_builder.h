#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::passes {

/// Writes the operators of gradients in front of a Gradient expr, or at the end of the main body, and keeps what is
/// known of each node's gradient. The first failure is kept; calls after it give invalid nodes.
class GradientBuilder {
  public:
    using NodeId = graph::NodeId;

    /// In front of a Gradient, in the opset version that the model imports.
    GradientBuilder(graph::InternalGraph& graph, graph::ExprId gradient);
    /// At the end of the main body.
    GradientBuilder(graph::InternalGraph& graph, int version) : m_graph(graph), m_version(version) {}

    graph::InternalGraph& graph() { return m_graph; }
    /// The opset version of ai.onnx of what is written.
    int version() const { return m_version; }

    /// An ONNX operator with one output; its type is to be inferred.
    NodeId op(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes = {}) {
        return make({"", std::string(name), m_version}, std::move(inputs), std::move(attributes), 1).front();
    }
    /// The same with several outputs.
    std::vector<NodeId> ops(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes,
                            std::size_t outputs) {
        return make({"", std::string(name), m_version}, std::move(inputs), std::move(attributes), outputs);
    }
    /// The operator of an expr, in its version, on other inputs; an invalid one is left out.
    NodeId like(const graph::Expr& expr, const std::vector<NodeId>& inputs, tensor::Attributes attributes);
    /// An operator of domain prim.
    std::vector<NodeId> prim(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes,
                             std::size_t outputs) {
        return make({"prim", std::string(name), 0}, std::move(inputs), std::move(attributes), outputs);
    }
    /// An operator of another domain: of PyTorch, or of ONNX Runtime.
    std::vector<NodeId> foreign(std::string_view domain, std::string_view name, std::vector<NodeId> inputs,
                                std::size_t outputs = 1) {
        return make({std::string(domain), std::string(name), domain == "aten" ? 0 : 1}, std::move(inputs), {}, outputs);
    }
    NodeId constant(tensor::Tensor value);
    /// A scalar of the dtype of a node (float32 if that is unknown).
    NodeId number(double value, NodeId like);
    NodeId integers(const std::vector<std::int64_t>& values);
    NodeId shapeOf(NodeId x) { return op("Shape", {x}); }
    /// A tensor like x full of one number; of `dtype` if that of x is not known.
    NodeId filled(NodeId x, double value, tensor::DType dtype = tensor::DType::Undefined);
    /// A reduction with given axes and keepdims 1; axes are an input or an attribute as the version has it.
    NodeId reduced(std::string_view name, NodeId x, const std::vector<std::int64_t>& axes);
    NodeId unsqueezed(NodeId x, std::int64_t axis);
    /// The node, whose dimensions are known to be these from now on.
    NodeId sized(NodeId node, const std::vector<std::int64_t>& dims);
    /// The last two axes exchanged; fails if the rank is not known.
    NodeId transposed(NodeId x);
    /// g, which has the shape of `like`, summed over the axes along which x was broadcast to it.
    NodeId summedTo(NodeId g, NodeId x, NodeId like);
    /// x in the dtype of another node, if both are known.
    NodeId castLike(NodeId x, NodeId like);
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
    /// Differentiates exprs, of which each comes after those that it reads, as far as gradients reach.
    void differentiate(const std::vector<graph::ExprId>& exprs);
    /// Differentiates an expr by other operators that compute the same: `write()` writes them and returns what stands
    /// for the expr's outputs (fewer if the others are not differentiable).
    template <typename Write>
    void through(const graph::Expr& expr, Write write) {
        const std::size_t first = m_graph.exprCount();
        const std::vector<NodeId> outputs = write();
        const std::size_t end = m_graph.exprCount();
        for (std::size_t i = 0; i < outputs.size() && i < expr.outputs.size(); ++i)
            give(outputs[i], gradientOf(expr.outputs[i]));
        std::vector<graph::ExprId> written;
        for (std::size_t i = first; i < end; ++i) written.emplace_back(i);
        differentiate(written);
    }

    /// An expr's copy that reads other nodes.
    void copy(const graph::Expr& expr, std::map<NodeId, NodeId>& standIns);

    void fail(std::string what) {
        if (m_problem.empty()) m_problem = std::move(what);
    }
    const std::string& problem() const { return m_problem; }

  private:
    std::vector<NodeId> make(graph::OpKey op, std::vector<NodeId> inputs, tensor::Attributes attributes,
                             std::size_t outputs);
    std::vector<NodeId> insertCall(graph::Expr expr, std::size_t outputs);
    tensor::DType floatingResult(const graph::Expr& expr) const;
    std::size_t position() const;
    graph::Expr blank() const;
    std::string freeName(const std::string& wanted);
    NodeId insert(graph::Expr expr, std::string_view name);

    graph::InternalGraph& m_graph;
    graph::ExprId m_gradient;  ///< invalid: at the end
    int m_version = 1;
    std::map<NodeId, NodeId> m_gradients;
    std::map<std::string, int> m_names;  ///< how often each was asked for
    std::string m_problem;
};

/// One operator's rule: reads the gradients of its outputs and gives those of its inputs.
using GradientRule = void (*)(GradientBuilder&, const graph::Expr&);
/// Null: there is none. A rule that gives nothing is that of a piecewise constant operator.
const GradientRule* findGradientRule(const graph::Expr& expr);

}  // namespace sonde::passes
