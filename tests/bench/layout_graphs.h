#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/graph/internal_graph.h"

// Graphs of the kinds that are hard to draw, made up: for the benchmark of the layout and for its tests. The same
// arguments give the same graph.

namespace layout_graphs {

using namespace sonde::graph;

/// Adds exprs to a graph, under module scopes that nest.
class GraphMaker {
  public:
    GraphMaker() : m_graph(std::make_shared<InternalGraph>()), m_scopes{m_graph->rootScope()} {}

    NodeId input(const std::string& name) { return m_graph->addInput(m_graph->mainId(), name, {}); }
    NodeId constant(const std::string& name) { return add(ExprKind::Constant, "Constant", name, {}); }

    /// One operation with one result.
    NodeId op(const std::string& op, const std::vector<NodeId>& inputs, std::string name = {}) {
        if (name.empty()) name = op + "_" + std::to_string(m_number++);
        return add(ExprKind::Apply, op, name, inputs);
    }

    /// An operation that is a module of its own, with a weight, as exporters write layers.
    NodeId layer(const std::string& module, const std::string& kind, const std::vector<NodeId>& inputs) {
        enter(module, kind);
        std::vector<NodeId> all = inputs;
        all.push_back(constant(path() + ".weight"));
        const NodeId result = op(kind, all);
        leave();
        return result;
    }

    void enter(const std::string& module, const std::string& moduleClass) {
        const std::string outer = path();
        m_scopes.push_back(
            m_graph->addScope(m_scopes.back(), outer.empty() ? module : outer + "." + module, moduleClass));
    }
    void leave() { m_scopes.pop_back(); }
    std::string path() const { return m_graph->scope(m_scopes.back()).qualname; }

    InternalGraph& graph() { return *m_graph; }
    std::shared_ptr<const InternalGraph> done(const std::vector<NodeId>& outputs) {
        std::vector<Argument> items;
        for (const NodeId node : outputs) items.push_back(Argument::of(node));
        m_graph->setResult(m_graph->mainId(), Argument::container(Argument::Kind::Tuple, std::move(items)));
        return m_graph;
    }

    NodeId addIn(BodyId body, ExprKind kind, const std::string& op, const std::string& name,
                 const std::vector<NodeId>& inputs) {
        Expr expr;
        expr.kind = kind;
        expr.op.name = op;
        expr.target = op;
        expr.scope = m_scopes.back();
        expr.qualname = path();
        expr.body = body;
        for (const NodeId node : inputs) expr.arguments.push_back(Argument::of(node));
        const ExprId id = m_graph->addExpr(std::move(expr), std::vector<std::string>{name});
        return m_graph->expr(id).outputs.front();
    }

  private:
    NodeId add(ExprKind kind, const std::string& op, const std::string& name, const std::vector<NodeId>& inputs) {
        return addIn(m_graph->mainId(), kind, op, name, inputs);
    }

    std::shared_ptr<InternalGraph> m_graph;
    std::vector<ScopeId> m_scopes;
    std::size_t m_number = 0;
};

/// Decoder blocks that all read one mask and two rotary tables: 32 operations each, and three hubs.
inline std::shared_ptr<const InternalGraph> transformer(std::size_t layers) {
    GraphMaker m;
    NodeId x = m.layer("embed", "Gather", {m.input("tokens")});
    const NodeId mask = m.op("Where", {m.op("Cast", {m.input("attention_mask")})}, "mask");
    m.enter("rotary", "RotaryEmbedding");
    const NodeId angles = m.op("MatMul", {m.input("positions"), m.constant("inv_freq")});
    const NodeId cos = m.op("Cos", {angles}, "cos"), sin = m.op("Sin", {angles}, "sin");
    m.leave();
    auto rotate = [&](NodeId v) {
        const NodeId turned = m.op("Concat", {m.op("Neg", {m.op("Slice", {v})}), m.op("Slice", {v})});
        return m.op("Add", {m.op("Mul", {v, cos}), m.op("Mul", {turned, sin})});
    };
    m.enter("layers", "ModuleList");
    for (std::size_t i = 0; i < layers; ++i) {
        m.enter(std::to_string(i), "DecoderLayer");
        m.enter("attn", "Attention");
        const NodeId n = m.layer("norm", "LayerNormalization", {x});
        const NodeId q = rotate(m.layer("q", "MatMul", {n})), k = rotate(m.layer("k", "MatMul", {n}));
        const NodeId v = m.layer("v", "MatMul", {n});
        const NodeId scores = m.op("Add", {m.op("MatMul", {q, m.op("Transpose", {k})}), mask});
        const NodeId attn = m.layer("out", "MatMul", {m.op("MatMul", {m.op("Softmax", {scores}), v})});
        m.leave();
        x = m.op("Add", {x, attn});
        m.enter("mlp", "MLP");
        const NodeId h = m.layer("norm", "LayerNormalization", {x});
        const NodeId gate =
            m.op("Mul", {m.op("Sigmoid", {m.layer("gate", "MatMul", {h})}), m.layer("up", "MatMul", {h})});
        const NodeId mlp = m.layer("down", "MatMul", {gate});
        m.leave();
        x = m.op("Add", {x, mlp});
        m.leave();
    }
    m.leave();
    return m.done({m.layer("head", "MatMul", {x})});
}

/// Blocks in which a router feeds many experts side by side.
inline std::shared_ptr<const InternalGraph> mixtureOfExperts(std::size_t layers, std::size_t experts) {
    GraphMaker m;
    NodeId x = m.input("x");
    for (std::size_t i = 0; i < layers; ++i) {
        m.enter("moe" + std::to_string(i), "MixtureOfExperts");
        const NodeId route = m.op("TopK", {m.op("Softmax", {m.layer("router", "MatMul", {x})})});
        std::vector<NodeId> results{x};
        for (std::size_t e = 0; e < experts; ++e) {
            m.enter("expert" + std::to_string(e), "Expert");
            const NodeId h = m.op("Gelu", {m.layer("up", "MatMul", {m.op("Gather", {x, route})})});
            results.push_back(m.op("Mul", {m.layer("down", "MatMul", {h}), route}));
            m.leave();
        }
        x = m.op("Sum", results);
        m.leave();
    }
    return m.done({x});
}

/// Blocks in which every layer reads all layers before it (as DenseNet).
inline std::shared_ptr<const InternalGraph> dense(std::size_t blocks, std::size_t layers) {
    GraphMaker m;
    NodeId x = m.input("x");
    for (std::size_t b = 0; b < blocks; ++b) {
        m.enter("block" + std::to_string(b), "DenseBlock");
        std::vector<NodeId> all{x};
        for (std::size_t i = 0; i < layers; ++i) {
            m.enter("layer" + std::to_string(i), "DenseLayer");
            const NodeId cat = m.op("Concat", all);
            all.push_back(m.layer("conv", "Conv", {m.op("Relu", {m.layer("norm", "BatchNormalization", {cat})})}));
            m.leave();
        }
        m.leave();
        x = m.layer("transition" + std::to_string(b), "AveragePool", {m.op("Concat", all)});
    }
    return m.done({x});
}

inline std::shared_ptr<const InternalGraph> flatChain(std::size_t length) {
    GraphMaker m;
    NodeId x = m.input("x");
    for (std::size_t i = 0; i < length; ++i) x = m.op(i % 3 ? "Relu" : "Conv", {x});
    return m.done({x});
}

/// Modules of random insides and sizes, nested at random; each operation reads one or two recent values, sometimes an
/// old one.
inline std::shared_ptr<const InternalGraph> randomModules(std::size_t count, unsigned seed) {
    GraphMaker m;
    std::mt19937 engine(seed);
    auto below = [&](std::size_t n) { return engine() % n; };
    std::vector<NodeId> values{m.input("a"), m.input("b")};
    std::size_t depth = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto dice = below(24);
        if (dice < 3 && depth < 5) {
            m.enter("m" + std::to_string(i), "Module" + std::to_string(below(9)));
            ++depth;
        } else if (dice < 5 && depth > 0) {
            m.leave();
            --depth;
        }
        std::vector<NodeId> inputs{values[values.size() - 1 - below(std::min<std::size_t>(values.size(), 3))]};
        if (below(3) == 0) inputs.push_back(values[values.size() - 1 - below(std::min<std::size_t>(values.size(), 8))]);
        if (below(40) == 0) inputs.push_back(values[below(values.size())]);
        values.push_back(m.op("Op" + std::to_string(below(12)), inputs));
    }
    while (depth-- > 0) m.leave();
    return m.done({values.back()});
}

}  // namespace layout_graphs
