#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/ops/registry/registry.h"

namespace sonde::exporting {

/// Why an operation has no ONNX form; caught where its rule was called.
struct NoLowering {
    std::string why;
};

/// What stands for a value of the model in the new graph: a node, a constant, or a structure of both.
using graph::Argument;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

/// What is known of the new graph beyond its nodes.
struct Known {
    std::map<std::pair<const void*, std::string>, NodeId> constants;  ///< by their memory and type
    /// Nodes whose dim sizes depend on the data, with the types that hold for any of them. Those in the graph are of
    /// this run until it is complete.
    std::map<NodeId, tensor::TypeInfo> open;
    std::map<std::string, int> names;  ///< the last number that each was given
};

/// One operation that ran, as its rule sees it: arguments by position of the schema, what it gave, and the means to
/// write ONNX nodes. Accessors throw NoLowering for arguments that are not what they are asked for.
class LoweredCall {
  public:
    LoweredCall(graph::InternalGraph& graph, Known& known, const graph::Expr& expr, std::vector<Argument> arguments,
                std::span<const Value> results, std::string baseName,
                graph::BodyId body = graph::BodyId(std::size_t{0}))
        : m_graph(graph), m_body(body), m_known(known), m_expr(expr), m_arguments(std::move(arguments)),
          m_results(results), m_baseName(std::move(baseName)) {}

    std::size_t count() const { return m_arguments.size(); }
    const Argument& argument(std::size_t index) const;
    bool has(std::size_t index) const;
    /// Whether a rule has looked at it, or at whether it is there.
    bool wasRead(std::size_t index) const { return m_read.contains(index); }
    bool isConstant(std::size_t index) const {
        return index < m_arguments.size() && m_arguments[index].kind == Argument::Kind::Constant;
    }
    /// The argument as a node; numbers become scalars of the dtype given.
    NodeId tensor(std::size_t index, DType dtype = DType::Undefined);
    NodeId tensorOf(const Argument& argument, DType dtype = DType::Undefined);
    /// A list of tensors.
    std::vector<NodeId> tensors(std::size_t index);
    const Value& value(std::size_t index) const;
    std::int64_t integer(std::size_t index) const;
    double number(std::size_t index, double fallback = 0) const;
    bool flag(std::size_t index) const { return has(index) && number(index) != 0; }
    std::string text(std::size_t index) const;
    std::vector<std::int64_t> integers(std::size_t index) const;
    /// A list of `rank` integers; one stands for all, none for the fallback.
    std::vector<std::int64_t> spread(std::size_t index, std::size_t rank, std::int64_t fallback) const;
    std::int64_t axis(std::size_t index, std::size_t rank) const;
    std::vector<std::int64_t> axes(std::size_t index, std::size_t rank) const;

    /// What an argument is: a number has no dtype but its kind.
    tensor::TypeInfo typeOf(std::size_t index) const;
    Shape shapeOf(NodeId node) const;
    DType dtypeOf(NodeId node) const { return m_graph.node(node).type.dtype; }
    const Tensor& result(std::size_t index = 0) const;
    std::span<const Value> results() const { return m_results; }
    const graph::Expr& expr() const { return m_expr; }

    /// An ONNX operator; its result has the given type (dtype and shape are those of the call's result if left out).
    NodeId op(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes = {});
    NodeId opOf(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes, DType dtype,
                const Shape& shape);
    std::vector<NodeId> ops(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes,
                            const std::vector<std::pair<DType, Shape>>& types);
    /// The same with the types that inference gives.
    NodeId make(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes = {}) {
        return makeAll(name, std::move(inputs), std::move(attributes), 1).front();
    }
    std::vector<NodeId> makeAll(std::string_view name, std::vector<NodeId> inputs, tensor::Attributes attributes,
                                std::size_t outputs);
    /// The argument as a node of the result's dtype.
    NodeId in(std::size_t index) { return cast(tensor(index, result().dtype()), result().dtype()); }
    /// A scalar of the result's dtype.
    NodeId like(double value) { return scalar(value, result().dtype()); }
    /// Dim sizes of what follows are not always those of this run.
    void opensShapes() { m_opensShapes = true; }
    /// Whether dim sizes of a node depend on the data; of one axis.
    bool isOpen(NodeId node) const { return m_known.open.contains(node); }
    bool isOpen(NodeId node, std::size_t axis) const;
    /// Its dim sizes as int64[rank]; one of them as int64[1]: constants where they are known.
    NodeId sizesOf(NodeId node);
    NodeId sizeOf(NodeId node, std::size_t axis);
    /// A list of integers, some of which depend on the data, as int64[n].
    NodeId integersOf(std::size_t index);
    /// The rule has written dim sizes of this run that another run may have otherwise.
    void fixesSizes() { m_fixesSizes = true; }
    bool hasFixedSizes() const { return m_fixesSizes; }

    NodeId constant(const Tensor& value, const std::string& name = {});
    NodeId integersNode(const std::vector<std::int64_t>& values);
    NodeId scalar(double value, DType dtype);
    /// A constant of the result's dtype with one number everywhere.
    NodeId filled(const Shape& shape, double value);
    /// A number as a tensor of no dimension: whole numbers exactly.
    static Tensor scalarOf(const Value& number, DType dtype);
    NodeId cast(NodeId node, DType dtype);
    NodeId reshaped(NodeId node, const Shape& shape);
    NodeId permuted(NodeId node, const std::vector<std::int64_t>& order);

    [[noreturn]] static void fail(std::string why) { throw NoLowering{std::move(why)}; }

  private:
    /// The inputs in an element type that the operator has; what they were cast from, Undefined for nothing.
    DType widen(std::string_view name, std::vector<NodeId>& inputs);
    std::string freeName(const std::string& wanted, const std::vector<std::string>& others = {});
    /// What holds of an operator's results for inputs of any dim sizes.
    void recordOpen(const graph::Expr& made, const std::vector<NodeId>& outputs);
    tensor::TypeInfo openTypeOf(NodeId node) const;
    /// The axis of a new shape that alone takes up what the node's open axis has.
    std::optional<std::size_t> openAxisIn(NodeId node, const Shape& shape) const;

    graph::InternalGraph& m_graph;
    graph::BodyId m_body;  ///< where its nodes stand; constants are in the main one
    Known& m_known;
    const graph::Expr& m_expr;
    std::vector<Argument> m_arguments;
    std::span<const Value> m_results;
    std::string m_baseName;
    mutable std::set<std::size_t> m_read;
    bool m_opensShapes = false, m_fixesSizes = false;
};

/// The element type in which an operator of ONNX 18 takes numbers of another one.
DType computedAs(std::string_view op, DType dtype);

/// Writes a call in ONNX operators and gives what stands for its results, one for each output.
using LoweringRule = std::vector<Argument> (*)(LoweredCall&);
/// By the operator's name without overload and without the underscore of in-place forms. Null: there is none.
LoweringRule findLowering(std::string_view name);

/// Rules by name; each file of this folder adds its own.
using LoweringRules = std::unordered_map<std::string_view, LoweringRule>;
void addElementwiseRules(LoweringRules& rules);
void addReductionRules(LoweringRules& rules);
void addIndexRules(LoweringRules& rules);
void addLayerRules(LoweringRules& rules);
void addAttentionRules(LoweringRules& rules);
void addNumberRules(LoweringRules& rules);
void addResamplingRules(LoweringRules& rules);
void addRandomRules(LoweringRules& rules);
void addViewRules(LoweringRules& rules);

inline std::vector<Argument> one(NodeId node) { return {Argument::of(node)}; }
inline std::vector<Argument> several(const std::vector<NodeId>& nodes) {
    std::vector<Argument> all;
    for (NodeId node : nodes) all.push_back(Argument::of(node));
    return all;
}

/// Any operator that only puts elements of its first argument elsewhere (views, slices, indexing by constants): found
/// out by running it on numbers that count them. Slice, Transpose and Reshape where they can say it, else Gather.
std::vector<Argument> lowerRearrangement(LoweredCall& call);
/// x[…] by numbers, slices, None and dots, which may depend on the data; others as a rearrangement.
std::vector<Argument> lowerIndex(LoweredCall& call);
/// lowerRearrangement for operators that put zeros between the elements (windows over padded edges, diagonals).
std::vector<Argument> lowerRearrangementWithZeros(LoweredCall& call);
/// The flat places in x [shape] that an operator picks: its result for an input that counts its elements.
Tensor placesOf(std::string_view domain, std::string_view name, const Shape& shape, std::vector<Value> arguments);
/// An argument without nodes as the value that it is.
Value plainValue(const Argument& argument);
/// LSTM, GRU and RNN of torch with constant weights.
std::vector<Argument> lowerRecurrent(LoweredCall& call);

}  // namespace sonde::exporting
