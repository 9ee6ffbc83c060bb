#include "core/lessons/kinds.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "core/graph/traits.h"
#include "core/operators/tables.h"

namespace sonde::lessons {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;

namespace {

constexpr std::size_t kMaxBranch = 200;  // operations of a residual branch that are looked at
constexpr int kMaxHops = 4;              // between the weights of an attention and their product with the values

template <OpClass... classes>
bool is(const Expr& expr) {
    const OpClass is = graph::traitsOf(expr).opClass;
    return ((is == classes) || ...);
}

template <OpClass... classes>
bool isOneOf(const ValueFlow&, const Expr& expr) {
    return is<classes...>(expr);
}

bool isProduct(const Expr& expr) {
    return is<OpClass::MatMul, OpClass::MatrixProduct, OpClass::BatchMatrixProduct>(expr);
}

/// Group and instance norm have no class of their own.
bool isNormalisation(const ValueFlow&, const Expr& expr) {
    return is<OpClass::BatchNorm, OpClass::BatchNormWithStatistics, OpClass::LayerNorm>(expr) ||
           operators::costRuleOf(expr.op.domain, expr.op.name) == operators::CostRule::Norm;
}

bool isWeight(const InternalGraph& graph, NodeId node) {
    const Expr& producer = graph.expr(graph.node(node).producer);
    return producer.kind == graph::ExprKind::Constant || producer.kind == graph::ExprKind::GetAttr;
}

/// Whether a node is computed from another one, by at most kMaxBranch operations.
bool isComputedFrom(const ValueFlow& flow, NodeId node, NodeId from) {
    const NodeId origin = flow.originOf(from);
    std::vector<NodeId> stack{node};
    std::unordered_set<std::uint32_t> seen;
    while (!stack.empty() && seen.size() < kMaxBranch) {
        NodeId next = stack.back();
        stack.pop_back();
        if (flow.originOf(next) == origin) return true;
        // A called module is one operation; of its body one comes out where it was called.
        if (flow.graph().expr(flow.graph().node(next).producer).kind == graph::ExprKind::Input)
            next = flow.sourceOf(next);
        if (!seen.insert(static_cast<std::uint32_t>(next.index())).second) continue;
        for (const NodeId input : flow.graph().expr(flow.graph().node(next).producer).inputs)
            if (!isWeight(flow.graph(), input)) stack.push_back(input);
    }
    return false;
}

/// The product or convolution whose bias an operation adds; none if it adds something else.
ExprId productUnderBias(const InternalGraph& graph, const Expr& expr) {
    if (!is<OpClass::Add>(expr)) return {};
    const std::vector<NodeId> computed = computedInputs(graph, expr.id);
    if (computed.size() != 1 || expr.inputs.size() < 2) return {};
    const Expr& before = graph.expr(graph.node(computed.front()).producer);
    const bool isLayer = isProduct(before) || is<OpClass::Conv>(before);
    return isLayer && std::ranges::any_of(before.inputs, [&](NodeId node) { return isWeight(graph, node); }) ? before.id
                                                                                                             : ExprId();
}

bool isResidual(const ValueFlow& flow, const Expr& expr) { return residualOf(flow, expr.id).skip.valid(); }

/// What makes numbers of another meaning: between scores and their softmax there is none.
bool changesMeaning(const Expr& expr) {
    return is<OpClass::Conv, OpClass::ConvTranspose, OpClass::Linear, OpClass::AddMatrixProduct, OpClass::Recurrent,
              OpClass::Embedding, OpClass::EmbeddingBag, OpClass::MultiHeadAttention, OpClass::EncoderLayer,
              OpClass::BatchNorm, OpClass::BatchNormWithStatistics, OpClass::LayerNorm, OpClass::MaxPool,
              OpClass::AveragePool, OpClass::Softmax>(expr);
}

/// Of the inputs of an operation, how many values that are computed from the model's inputs.
std::size_t countOfComputed(const ValueFlow& flow, const Expr& expr) {
    std::vector<NodeId> computed;
    for (const NodeId input : expr.inputs)
        if (const NodeId source = flow.sourceOf(input);
            flow.dependsOnInput(source) && std::ranges::find(computed, source) == computed.end())
            computed.push_back(source);
    return computed.size();
}

/// Whether a value comes from a product of two values of the input: who asks, and who is asked.
bool areScores(const ValueFlow& flow, NodeId node) {
    std::vector<NodeId> stack{node};
    std::unordered_set<std::uint32_t> seen;
    while (!stack.empty() && seen.size() < kMaxBranch) {
        const NodeId next = flow.sourceOf(stack.back());
        stack.pop_back();
        if (!flow.dependsOnInput(next) || !seen.insert(static_cast<std::uint32_t>(next.index())).second) continue;
        const Expr& producer = flow.producerOf(next);
        const bool isSumWithProduct = is<OpClass::AddMatrixProduct>(producer);
        if ((isProduct(producer) || isSumWithProduct) && countOfComputed(flow, producer) > 1) return true;
        if (!isProduct(producer) && !changesMeaning(producer))
            stack.insert(stack.end(), producer.inputs.begin(), producer.inputs.end());
    }
    return false;
}

/// Weights between positions: a softmax of scores whose result is multiplied with other values of the input.
bool isAttention(const ValueFlow& flow, const Expr& expr) {
    if (!is<OpClass::Softmax>(expr) || expr.outputs.empty() || expr.inputs.empty()) return false;
    std::vector<NodeId> now{expr.outputs.front()};
    for (int hop = 0; hop < kMaxHops; ++hop) {
        std::vector<NodeId> next;
        for (const NodeId node : now)
            for (const ExprId reader : flow.readersOf(node)) {
                const Expr& user = flow.graph().expr(reader);
                if (isProduct(user)) {
                    if (countOfComputed(flow, user) > 1) return areScores(flow, expr.inputs.front());
                    continue;
                }
                next.insert(next.end(), user.outputs.begin(), user.outputs.end());
            }
        if (next.size() > kMaxBranch) return false;
        now = std::move(next);
    }
    return false;
}

}  // namespace

ResidualSum residualOf(const ValueFlow& flow, ExprId id) {
    const InternalGraph& graph = flow.graph();
    const Expr& expr = graph.expr(id);
    if (!is<OpClass::Add>(expr)) return {};
    const std::vector<NodeId> operands = computedInputs(graph, id);
    if (operands.size() != 2) return {};
    for (const NodeId operand : operands) {
        const auto& type = graph.node(operand).type;
        if (type.shape && type.shape->size() < 2) return {};  // arithmetic of shapes
    }
    if (isComputedFrom(flow, operands[1], operands[0])) return {operands[0], operands[1]};
    if (isComputedFrom(flow, operands[0], operands[1])) return {operands[1], operands[0]};
    return {};
}

const std::vector<OperatorKind>& operatorKinds() {
    static const std::vector<OperatorKind> kinds{
        {"activation", "an activation such as ReLU",
         isOneOf<OpClass::Relu, OpClass::LeakyRelu, OpClass::Sigmoid, OpClass::Clip>},
        {"attention", "an attention: a softmax of products of values with each other, which is multiplied with values",
         isAttention},
        {"convolution", "a convolution in floating point", isOneOf<OpClass::Conv>},
        {"embedding", "an embedding", isOneOf<OpClass::Embedding, OpClass::EmbeddingBag>},
        {"layer", "a layer with weights: a convolution, a linear or a recurrent layer",
         isOneOf<OpClass::Conv, OpClass::ConvTranspose, OpClass::Linear, OpClass::MatMul, OpClass::MatrixProduct,
                 OpClass::AddMatrixProduct, OpClass::BatchMatrixProduct, OpClass::Recurrent>},
        {"linear", "a linear layer or a product of matrices",
         isOneOf<OpClass::Linear, OpClass::MatMul, OpClass::MatrixProduct, OpClass::AddMatrixProduct,
                 OpClass::BatchMatrixProduct>},
        {"normalisation", "a normalisation of one operation (batch, layer, group or instance norm)", isNormalisation},
        {"pooling", "a pooling", isOneOf<OpClass::MaxPool, OpClass::AveragePool>},
        {"recurrent", "a recurrent layer (RNN, LSTM or GRU)", isOneOf<OpClass::Recurrent>},
        {"relu", "a ReLU", isOneOf<OpClass::Relu>},
        {"residual", "a residual connection: a sum of a value with what was computed from it", isResidual},
        {"softmax", "a softmax", isOneOf<OpClass::Softmax>},
        {"sum", "a sum of two values", isOneOf<OpClass::Add>},
    };
    return kinds;
}

const OperatorKind* operatorKind(std::string_view name) {
    const auto found = std::ranges::find(operatorKinds(), name, &OperatorKind::name);
    return found == operatorKinds().end() ? nullptr : &*found;
}

std::vector<NodeId> nodesOf(const InternalGraph& graph, const OperatorKind& kind) {
    const ValueFlow flow(graph);
    std::vector<NodeId> nodes;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (!expr.outputs.empty() && kind.fits(flow, expr)) nodes.push_back(expr.outputs.front());
    }
    return nodes;
}

std::vector<NodeId> computedInputs(const InternalGraph& graph, ExprId expr) {
    std::vector<NodeId> inputs;
    for (const NodeId input : graph.expr(expr).inputs)
        if (!isWeight(graph, input) && std::ranges::find(inputs, input) == inputs.end()) inputs.push_back(input);
    return inputs;
}

std::vector<NodeId> weightsOf(const InternalGraph& graph, ExprId expr) {
    std::vector<NodeId> weights;
    // A layer whose bias is added by an operation of its own has its weights before that.
    if (const ExprId product = productUnderBias(graph, graph.expr(expr)); product.valid())
        weights = weightsOf(graph, product);
    for (const NodeId input : graph.expr(expr).inputs)
        if (isWeight(graph, input) && std::ranges::find(weights, input) == weights.end()) weights.push_back(input);
    return weights;
}

}  // namespace sonde::lessons
