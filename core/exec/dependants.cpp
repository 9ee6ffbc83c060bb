#include "core/exec/dependants.h"

#include "core/exec/flatten.h"

namespace sonde::exec {

using graph::BodyId;
using graph::Expr;

namespace {

class DependantFinder {
  public:
    DependantFinder(const InternalGraph& graph, const Edits& edits)
        : m_graph(graph), m_sources(valueSources(graph)), m_changed(graph.nodeCount(), false),
          m_readers(graph.nodeCount()), m_editedFrom(graph.nodeCount()) {
        m_found.exprs.assign(graph.exprCount(), false);
        collectReaders();
        for (const ValueEdit& edit : edits.values)
            for (const NodeId operand : edit.operands) m_editedFrom[source(operand)].push_back(edit.node);
        for (const ValueEdit& edit : edits.values) change(edit.node);
        for (const auto& [node, value] : edits.constants) change(node);
        for (const NodeId node : edits.inputs) change(node);
    }

    Dependants find() {
        do follow();
        while (spreadThroughOpaqueCode());
        m_found.nodes.assign(m_graph.nodeCount(), false);
        for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) m_found.nodes[i] = m_changed[m_sources[i].index()];
        return std::move(m_found);
    }

  private:
    std::size_t source(NodeId node) const { return m_sources[node.index()].index(); }

    void change(NodeId node) {
        const std::size_t index = source(node);
        if (m_changed[index]) return;
        m_changed[index] = true;
        m_open.push_back(index);
    }

    /// The outermost branch or loop that an expr is in; itself if it is in none.
    ExprId whole(ExprId id) const {
        ExprId outermost = id;
        for (ExprId owner = m_graph.body(m_graph.expr(id).body).owner; owner.valid();
             owner = m_graph.body(m_graph.expr(owner).body).owner)
            if (!isCall(m_graph.expr(owner))) outermost = owner;
        return outermost;
    }

    void collectReaders() {
        const auto reads = [this](ExprId reader, NodeId node) { m_readers[source(node)].push_back(reader); };
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            const Expr& expr = m_graph.expr(id);
            // A call hands its inputs on and, as a rule, its results; else it puts these together.
            const bool handsOn = isCall(expr);
            if (!handsOn)
                for (const NodeId input : expr.inputs) reads(id, input);
            const bool putsTogether =
                handsOn && !expr.outputs.empty() && source(expr.outputs.front()) == expr.outputs.front().index();
            if (!handsOn || putsTogether)
                for (const BodyId body : expr.bodies)
                    for (const NodeId output : m_graph.body(body).outputs) reads(id, output);
        }
    }

    void addWhole(ExprId id) {
        if (m_found.exprs[id.index()]) return;
        add(id);
        if (isCall(m_graph.expr(id))) return;
        for (const BodyId body : m_graph.expr(id).bodies) {
            for (const NodeId input : m_graph.body(body).inputs) change(input);
            for (const ExprId inner : m_graph.recursiveOrder(body)) add(inner);
        }
    }
    void add(ExprId id) {
        m_found.exprs[id.index()] = true;
        for (const NodeId output : m_graph.expr(id).outputs) change(output);
    }

    void follow() {
        while (!m_open.empty()) {
            const std::size_t node = m_open.back();
            m_open.pop_back();
            for (const ExprId reader : m_readers[node]) addWhole(whole(reader));
            for (const NodeId edited : m_editedFrom[node]) change(edited);
            // What is inside of a branch or loop is made by all of it.
            const ExprId maker = m_graph.node(NodeId(node)).producer;
            if (!m_graph.isErased(maker) && whole(maker) != maker) addWhole(whole(maker));
        }
    }

    /// Whether something was added.
    bool spreadThroughOpaqueCode() {
        bool mayDiffer = false;
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            if (!m_graph.expr(id).callable || !m_graph.expr(id).bodies.empty()) continue;
            if (mayDiffer) addWhole(whole(id));
            mayDiffer = mayDiffer || m_found.exprs[id.index()];
        }
        return !m_open.empty();
    }

    const InternalGraph& m_graph;
    const std::vector<NodeId> m_sources;
    std::vector<bool> m_changed;  ///< by source node
    std::vector<std::size_t> m_open;
    std::vector<std::vector<ExprId>> m_readers;     ///< by source node
    std::vector<std::vector<NodeId>> m_editedFrom;  ///< by source node: what edits read it for
    Dependants m_found;
};

}  // namespace

Dependants dependantsOf(const InternalGraph& graph, const Edits& edits) { return DependantFinder(graph, edits).find(); }

}  // namespace sonde::exec
