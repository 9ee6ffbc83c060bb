// y = f(conv(x)) * s -> f'(conv'(x)) where f is homogeneous of degree 1 in the convolutions it reads: relu (s >= 0),
// sums (their constants are multiplied by s), reshapes, pools, concatenations, indexing. conv' has weight and bias
// times s.

#include <algorithm>
#include <set>

#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/weights.h"

namespace sonde::passes {

namespace {

/// Everything between the convolutions and one scale.
class Region {
  public:
    Region(Rewrite& rewrite, ExprId scale, double factor)
        : m_rewrite(rewrite), m_graph(rewrite.graph()), m_scale(scale), m_factor(factor) {}

    /// All paths back from the node end in convolutions, and nothing else reads what is on them.
    bool collect(NodeId node) {
        m_stack.push_back(node);
        while (!m_stack.empty()) {
            const NodeId next = m_stack.back();
            m_stack.pop_back();
            if (!add(next)) return false;
        }
        return !m_convs.empty() &&
               std::all_of(m_exprs.begin(), m_exprs.end(), [this](ExprId id) { return staysInside(id); });
    }

    /// Its constants are what they are in every run.
    bool isConstant(const SharedMemory& memory) const {
        return std::none_of(m_exprs.begin(), m_exprs.end(), [&](ExprId id) {
            return memory.readsWrittenConstant(m_graph, m_graph.expr(stepOf(m_graph, id).inner));
        });
    }

    base::Result<void> fold(const std::string& scaleName) {
        const std::string why = "multiplied by the factor of " + scaleName;
        for (const KnownConv& conv : m_convs) {
            const auto channels = static_cast<std::size_t>(conv.weight.tensor.dim(0));
            SONDE_TRY(scaleConv(m_rewrite, conv, std::vector<double>(channels, m_factor),
                                std::vector<double>(channels, 0), why));
        }
        for (const auto& [expr, index] : m_constants) SONDE_TRY(scaleConstant(expr, index, why));
        for (ExprId id : m_exprs) {
            for (NodeId node : m_graph.expr(id).outputs) m_rewrite.revalue(node, why);
            if (const ExprId inner = stepOf(m_graph, id).inner; inner != id)
                m_rewrite.revalue(m_rewrite.output(inner), why);
        }
        return {};
    }

  private:
    bool add(NodeId node) {
        const ExprId id = m_graph.node(node).producer;
        if (!m_exprs.insert(id).second) return true;
        if (m_graph.expr(id).body != m_graph.expr(m_scale).body || m_graph.expr(id).outputs.size() != 1) return false;
        if (auto conv = knownConv(m_graph, id)) {
            m_convs.push_back(std::move(*conv));
            return true;
        }
        const Step step = stepOf(m_graph, id);
        const Expr& expr = m_graph.expr(step.inner);
        switch (step.opClass) {
            case OpClass::Relu:
            case OpClass::MaxPool: return m_factor >= 0 && goOn(step, expr, 1);
            case OpClass::LeakyRelu: return m_factor >= 0 && goOn(step, expr, 1);
            case OpClass::Maximum:
            case OpClass::Minimum: return m_factor >= 0 && goOn(step, expr, expr.arguments.size());
            case OpClass::AveragePool:
            case OpClass::Reshape:
            case OpClass::Transpose:
            case OpClass::ExpandDims:
            case OpClass::Slice:
            case OpClass::Select:
            case OpClass::Index:
            case OpClass::Identity:
            case OpClass::Neg: return goOn(step, expr, 1);
            case OpClass::Dropout: return isInference(expr) && goOn(step, expr, 1);
            case OpClass::Concat: return concat(step, expr);
            case OpClass::Add:
            case OpClass::Sub: return sum(step, expr);
            case OpClass::Mul: return product(step, expr);
            default: return false;
        }
    }

    bool isInference(const Expr& expr) const {
        if (familyOf(expr) == Family::Onnx) return expr.arguments.size() < 3;
        return !boolOf(m_graph, argumentOf(expr, 2, "train"), true);
    }

    /// The first `count` arguments are what is scaled.
    bool goOn(const Step& step, const Expr& expr, std::size_t count) {
        if (mutates(expr) || expr.arguments.size() < count) return false;
        for (std::size_t i = 0; i < count; ++i) {
            if (expr.arguments[i].kind != Argument::Kind::Node || !push(step, expr.arguments[i].node)) return false;
        }
        return true;
    }

    bool push(const Step& step, NodeId node) {
        const NodeId outside = step.outside(m_graph, node);
        if (!outside.valid()) return false;
        m_stack.push_back(outside);
        return true;
    }

    bool concat(const Step& step, const Expr& expr) {
        if (expr.arguments.empty()) return false;
        if (familyOf(expr) == Family::Onnx) return goOn(step, expr, expr.arguments.size());
        const Argument& list = expr.arguments.front();
        if (list.kind != Argument::Kind::List && list.kind != Argument::Kind::Tuple) return false;
        return std::all_of(list.items.begin(), list.items.end(), [&](const Argument& item) {
            return item.kind == Argument::Kind::Node && push(step, item.node);
        });
    }

    /// Additive constants are multiplied, everything else is followed.
    bool sum(const Step& step, const Expr& expr) {
        if (mutates(expr) || step.outer != step.inner || expr.arguments.size() < 2) return false;
        if (expr.op.domain == "aten" && argumentOf(expr, 2, "alpha") &&
            scalarOf(m_graph, argumentOf(expr, 2, "alpha")) != 1.0)
            return false;
        for (std::size_t i = 0; i < 2; ++i) {
            const Value* constant = constantOf(m_graph, &expr.arguments[i]);
            if (!constant) {
                if (expr.arguments[i].kind != Argument::Kind::Node || !push(step, expr.arguments[i].node)) return false;
            } else if (constant->isTensor() ? tensor::isFloating(constant->tensor().dtype()) : constant->isNumber()) {
                m_constants.emplace_back(step.inner, i);
            } else {
                return false;
            }
        }
        return true;
    }

    /// x * c: the other factor stays.
    bool product(const Step& step, const Expr& expr) {
        const auto operation = scalarOperation(m_graph, expr);
        return operation && !mutates(expr) && step.outer == step.inner && push(step, operation->node);
    }

    /// No value of the region but the last is seen by anybody else.
    bool staysInside(ExprId id) const {
        for (NodeId node : m_graph.expr(id).outputs) {
            if (m_rewrite.isResult(node)) return false;
            for (ExprId user : m_graph.node(node).users) {
                if (user != m_scale && !m_exprs.contains(user)) return false;
            }
        }
        return true;
    }

    base::Result<void> scaleConstant(ExprId id, std::size_t index, const std::string& why) {
        const Argument& argument = m_graph.expr(id).arguments[index];
        const Value& value = *constantOf(m_graph, &argument);
        if (value.isTensor()) {
            std::vector<double> numbers = numbersOf(value.tensor());
            for (double& number : numbers) number *= m_factor;
            SONDE_ASSIGN(Tensor scaled, tensorLike(value.tensor(), value.tensor().shape(), numbers));
            setKnownArgument(m_rewrite, id, index, {}, std::move(scaled), "constant", why);
            return {};
        }
        const double product = value.number() * m_factor;
        const bool whole = value.kind() == tensor::ValueKind::Int &&
                           product == static_cast<double>(static_cast<std::int64_t>(product));
        std::vector<Argument> arguments = m_graph.expr(id).arguments;
        arguments[index] =
            Argument::of(whole ? Value::ofInt(static_cast<std::int64_t>(product)) : Value::ofFloat(product));
        m_graph.setArguments(id, std::move(arguments), m_graph.expr(id).keywords);
        return {};
    }

    Rewrite& m_rewrite;
    InternalGraph& m_graph;
    ExprId m_scale;
    double m_factor;
    std::vector<NodeId> m_stack;
    std::set<ExprId> m_exprs;
    std::vector<KnownConv> m_convs;
    std::vector<std::pair<ExprId, std::size_t>> m_constants;
};

base::Result<bool> fold(Rewrite& rewrite, const SharedMemory& memory, ExprId id) {
    InternalGraph& graph = rewrite.graph();
    const Expr& expr = graph.expr(id);
    const bool isNeg = opClassOf(expr) == OpClass::Neg;
    if ((opClassOf(expr) != OpClass::Mul && !isNeg) || mutates(expr) || expr.inputs.empty() || expr.outputs.size() != 1)
        return false;
    NodeId node = expr.inputs.front();
    double factor = -1;
    if (!isNeg) {
        const auto operation = scalarOperation(graph, expr);
        if (!operation) return false;
        node = operation->node;
        factor = operation->scalar;
    }
    Region region(rewrite, id, factor);
    if (memory.readsWrittenConstant(graph, expr) || !region.collect(node) || !region.isConstant(memory)) return false;
    const std::vector<NodeId> inputs = expr.inputs;
    const NodeId result = rewrite.output(id);
    SONDE_TRY(region.fold(graph.node(result).name));
    rewrite.addOrigins(graph.node(node).producer, id);
    const std::string why = "its factor was folded into the weights of the convolutions before it";
    rewrite.replace(result, node, why);
    rewrite.erase(id, why);
    for (NodeId input : inputs) rewrite.eraseIfUnusedConstant(input, why);
    return true;
}

}  // namespace

base::Result<std::size_t> backwardFoldScale(Rewrite& rewrite) {
    const SharedMemory memory(rewrite.graph());
    std::size_t count = 0;
    for (BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (ExprId id : order) {
            if (rewrite.graph().isErased(id)) continue;
            SONDE_ASSIGN(const bool folded, fold(rewrite, memory, id));
            count += folded ? 1 : 0;
        }
    }
    return count;
}

}  // namespace sonde::passes
