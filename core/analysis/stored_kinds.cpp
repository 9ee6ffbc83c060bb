// What stored tensors are, by the positions in which operators read them.

#include <algorithm>
#include <array>

#include "core/analysis/node_measures.h"
#include "core/analysis/parameters.h"
#include "core/analysis/weight_positions.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::Node;
using graph::NodeId;
using tensor::DType;

namespace {

/// How a value is used, by itself or by what is made of it.
struct Use {
    bool weight = false, embedding = false, quantized = false, statistic = false, channelStatistic = false,
         affine = false, operand = false;

    void merge(const Use& other) {
        weight |= other.weight, embedding |= other.embedding, quantized |= other.quantized,
            statistic |= other.statistic;
        channelStatistic |= other.channelStatistic, affine |= other.affine, operand |= other.operand;
    }
    void add(WeightPosition position) {
        weight |= position == WeightPosition::Weight || position == WeightPosition::Quantized;
        embedding |= position == WeightPosition::Embedding;
        quantized |= position == WeightPosition::Quantized;
        statistic |= position == WeightPosition::Statistic;
        channelStatistic |= position == WeightPosition::ChannelStatistic;
        affine |= position == WeightPosition::Affine;
        operand |= position == WeightPosition::Operand;
    }
};

bool isCall(const Expr& expr) { return !expr.bodies.empty() && expr.op.name.empty(); }

bool isStatisticName(std::string_view name) {
    constexpr std::array kNames{"running_mean",    "running_var", "moving_mean",
                                "moving_variance", "moving_var",  "num_batches_tracked"};
    return std::ranges::any_of(kNames, [&](std::string_view known) {
        return name.ends_with(known) && (name.size() == known.size() || name[name.size() - known.size() - 1] == '.' ||
                                         name[name.size() - known.size() - 1] == '/');
    });
}

/// Dimensions with more than one element.
std::size_t wideDimensions(const tensor::Shape& shape) {
    std::size_t wide = 0;
    for (std::size_t i = 0; i < shape.rank(); ++i) wide += shape[i] != 1 ? 1 : 0;
    return wide;
}

/// A matrix of exactly two different values (0 and 1, 0 and −∞) says what counts and was never trained.
bool isMask(const tensor::Tensor& tensor) {
    if (wideDimensions(tensor.shape()) < 2) return false;
    std::optional<double> first, second;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const double value = tensor.toDouble(i);
        if (!first) first = value;
        else if (value == *first) continue;
        else if (!second) second = value;
        else if (value != *second) return false;
    }
    return second.has_value();
}

class KindFinder {
  public:
    explicit KindFinder(const InternalGraph& graph)
        : m_graph(graph), m_use(graph.nodeCount()), m_isFixed(graph.nodeCount(), false),
          m_order(graph.recursiveOrder(graph.mainId())) {
        m_becomes.resize(graph.nodeCount());
    }

    std::vector<std::optional<StoredKind>> find() {
        findFixed();
        findResults();
        for (auto id = m_order.rbegin(); id != m_order.rend(); ++id) follow(m_graph.expr(*id));
        std::vector<std::optional<StoredKind>> kinds(m_graph.nodeCount());
        for (const ExprId id : m_order) {
            const Expr& expr = m_graph.expr(id);
            if (!isStored(expr)) continue;
            for (const NodeId node : expr.outputs)
                if (isTensor(m_graph.node(node)))
                    kinds[node.index()] = kindOf(expr, m_graph.node(node), m_use[node.index()]);
        }
        return kinds;
    }

  private:
    static bool isTensor(const Node& node) { return node.constant ? node.constant->isTensor() : node.type.isTensor(); }

    static bool isScalar(const Node& node) {
        return node.constant && node.constant->isTensor() ? node.constant->tensor().rank() == 0
                                                          : node.type.shape && node.type.shape->empty();
    }

    /// Stored tensors, and what is computed of nothing else.
    void findFixed() {
        for (const ExprId id : m_order) {
            const Expr& expr = m_graph.expr(id);
            const bool isApplied =
                !expr.op.name.empty() && expr.bodies.empty() && !expr.inputs.empty() &&
                std::ranges::all_of(expr.inputs, [this](NodeId input) { return m_isFixed[input.index()]; });
            if (isStored(expr) || isApplied)
                for (const NodeId output : expr.outputs) m_isFixed[output.index()] = true;
            if (!isCall(expr)) continue;
            const auto& inputs = m_graph.body(expr.bodies.front()).inputs;
            for (std::size_t i = 0; i < std::min(inputs.size(), expr.inputs.size()); ++i)
                m_isFixed[inputs[i].index()] = m_isFixed[expr.inputs[i].index()];
        }
    }

    /// The result of a body is what its owner makes of it.
    void findResults() {
        for (const ExprId id : m_order) {
            const Expr& expr = m_graph.expr(id);
            for (const graph::BodyId body : expr.bodies) {
                const auto& results = m_graph.body(body).outputs;
                for (std::size_t i = 0; i < std::min(results.size(), expr.outputs.size()); ++i)
                    m_becomes[results[i].index()].push_back(expr.outputs[i]);
            }
        }
    }

    /// Later operations first: the use of an operation's results is known when its inputs ask.
    void follow(const Expr& expr) {
        Use made;
        for (const NodeId output : expr.outputs) {
            for (const NodeId outer : m_becomes[output.index()]) m_use[output.index()].merge(m_use[outer.index()]);
            made.merge(m_use[output.index()]);
        }
        if (isStored(expr) || expr.kind == ExprKind::Output || expr.kind == ExprKind::Input) return;
        if (isCall(expr)) {
            const auto& inputs = m_graph.body(expr.bodies.front()).inputs;
            for (std::size_t i = 0; i < std::min(inputs.size(), expr.inputs.size()); ++i)
                m_use[expr.inputs[i].index()].merge(m_use[inputs[i].index()]);
            return;
        }
        const bool isFixed = !expr.outputs.empty() && m_isFixed[expr.outputs.front().index()];
        for (std::size_t i = 0; i < expr.arguments.size(); ++i)
            use(expr, expr.arguments[i], weightPosition(expr, i), made, isFixed);
        for (const auto& [name, argument] : expr.keywords)
            use(expr, argument, weightPosition(expr, 0, name), made, isFixed);
    }

    void use(const Expr& expr, const graph::Argument& argument, WeightPosition position, const Use& made,
             bool isFixed) {
        argument.forEachNode([&](NodeId input) {
            Use& use = m_use[input.index()];
            // Of stored tensors alone: whatever it is (weight normalisation, a folded scale), the result is what
            // counts; but a scalar in it (an epsilon) is a constant still.
            const bool isPartOfWeight = isFixed && position != WeightPosition::None && !isScalar(m_graph.node(input));
            if (position == WeightPosition::Through || isPartOfWeight) use.merge(made);
            if (!isFixed || position == WeightPosition::Embedding) use.add(position);
            if (position == WeightPosition::Through && graph::traitsOf(expr).opClass == operators::OpClass::Dequantize)
                use.quantized = true;
        });
    }

    static StoredKind kindOf(const Expr& expr, const Node& node, const Use& use) {
        const DType dtype = node.constant ? node.constant->tensor().dtype() : node.type.dtype;
        const std::optional<tensor::Shape> shape =
            node.constant ? std::optional(node.constant->tensor().shape()) : node.type.staticShape();
        const bool isNumber = tensor::isFloating(dtype) || tensor::isComplex(dtype);
        const bool isNarrow = tensor::isInteger(dtype) && tensor::bitsInFile(dtype) <= 8;
        const bool isWeight = use.weight || (use.embedding && shape && shape->rank() >= 2);
        if (isWeight && (isNumber || isNarrow || (use.quantized && tensor::isInteger(dtype))))
            return StoredKind::Parameter;
        if (use.statistic || (expr.isParameter && isStatisticName(expr.target))) return StoredKind::Buffer;
        const bool isListed = expr.isParameter;
        const bool quantizedOperand = use.quantized && isNarrow && (use.affine || use.operand);
        if ((!isNumber && !quantizedOperand) || !shape || shape->rank() == 0 || shape->numel() == 0)
            return StoredKind::Constant;
        const bool perChannel = wideDimensions(*shape) <= 1;
        if (use.affine && perChannel) return StoredKind::Parameter;
        if (use.channelStatistic && perChannel) return isListed ? StoredKind::Buffer : StoredKind::Constant;
        const bool isOperand = use.affine || use.channelStatistic || use.operand || use.embedding;
        const bool isTrained = isListed && isOperand && !(node.constant && isMask(node.constant->tensor()));
        return isTrained ? StoredKind::Parameter : StoredKind::Constant;
    }

    const InternalGraph& m_graph;
    std::vector<Use> m_use;       ///< by NodeId
    std::vector<bool> m_isFixed;  ///< by NodeId
    std::vector<ExprId> m_order;
    std::vector<std::vector<NodeId>>
        m_becomes;  ///< by NodeId: outputs of the owners of the bodies that it is a result of
};

}  // namespace

std::vector<std::optional<StoredKind>> storedKinds(const InternalGraph& graph) { return KindFinder(graph).find(); }

}  // namespace sonde::analysis
