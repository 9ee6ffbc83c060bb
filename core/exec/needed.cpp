#include "core/exec/needed.h"

#include <set>
#include <unordered_map>

#include "core/exec/dependants.h"
#include "core/exec/flatten.h"
#include "core/ops/registry/effects.h"

namespace sonde::exec {

using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprKind;

namespace {

class Finder {
  public:
    Finder(const InternalGraph& graph, const PlanOptions& options, const ops::Registry& registry)
        : m_graph(graph), m_options(options), m_registry(registry), m_behind(graph.exprCount(), false) {
        m_needed.runs.assign(graph.exprCount(), false);
        m_needed.effect.assign(graph.exprCount(), false);
        m_needed.given.assign(graph.nodeCount(), false);
        const bool hasEdits = options.edits && !options.edits->values.empty();
        if (hasEdits || !options.given.empty()) m_sources = valueSources(graph);
        if (hasEdits)
            for (const ValueEdit& edit : options.edits->values)
                for (const NodeId operand : edit.operands) m_operands[edit.node].push_back(operand);
        if (options.given.empty()) return;
        m_isGiven.assign(graph.nodeCount(), false);
        for (const NodeId node : options.given) m_isGiven[node.index()] = true;
        m_again = dependantsOf(graph, options.edits ? *options.edits : Edits()).exprs;
    }

    Needed find(const std::vector<bool>* effect) {
        if (effect) m_needed.effect = *effect;
        else findEffects();
        std::vector<ExprId> ends;  // constants are there from the beginning
        for (NodeId node : m_options.end) {
            if (!m_graph.node(node).constant) ends.push_back(m_graph.node(node).producer);
        }
        if (!m_options.end.empty()) findBehind(m_graph.mainId(), ends);

        if (m_options.end.empty()) {
            for (NodeId node : m_graph.outputs()) need(node);
            for (ExprId id : m_graph.main().order) {
                if (m_graph.expr(id).kind == ExprKind::Output) needExpr(id);
            }
        }
        for (NodeId node : m_options.end) need(node);
        needEffects(m_graph.mainId());
        follow();
        m_needed.required = m_needed.runs;

        for (NodeId node : m_options.watch) need(node);
        for (std::size_t i = 0; m_options.watchAll && i < m_graph.exprCount(); ++i) needExpr(ExprId(i));
        follow();
        return std::move(m_needed);
    }

  private:
    void need(NodeId node) {
        if (m_isGiven.empty()) return needExpr(m_graph.node(node).producer);
        const NodeId source = m_sources[node.index()];
        if (!m_isGiven[source.index()]) {
            needExpr(m_graph.node(node).producer);
            if (source != node) needExpr(m_graph.node(source).producer);
        } else if (!m_needed.given[source.index()]) {
            m_needed.given[source.index()] = true;
            needOperands(source);
        }
    }

    /// What is read for the edits of a node.
    void needOperands(NodeId node) {
        if (m_operands.empty() || m_sources[node.index()] != node) return;
        if (const auto found = m_operands.find(node); found != m_operands.end())
            for (const NodeId operand : found->second) need(operand);
    }

    void needExpr(ExprId id) {
        if (m_graph.isErased(id) || m_needed.runs[id.index()]) return;
        m_needed.runs[id.index()] = true;
        m_stack.push_back(id);
    }

    void needEffects(BodyId body) {
        for (ExprId id : m_graph.body(body).order) {
            const bool wasDone = !m_again.empty() && !m_again[id.index()];
            if (m_needed.effect[id.index()] && !m_behind[id.index()] && !wasDone) needExpr(id);
        }
    }

    void follow() {
        while (!m_stack.empty()) {
            const ExprId id = m_stack.back();
            m_stack.pop_back();
            const Expr& expr = m_graph.expr(id);
            for (NodeId input : expr.inputs) need(input);
            for (NodeId output : expr.outputs) needOperands(output);
            for (BodyId inner : expr.bodies) {
                for (NodeId input : m_graph.body(inner).inputs) needOperands(input);
                for (NodeId output : m_graph.body(inner).outputs) need(output);
                needEffects(inner);
            }
            if (const ExprId owner = m_graph.body(expr.body).owner; owner.valid()) needExpr(owner);
        }
    }

    bool hasOwnEffect(const Expr& expr) const {
        if (expr.op.name.empty()) return expr.bodies.empty() && expr.callable != nullptr;
        const ops::OpDef* op = m_registry.find(expr.op.domain, expr.op.name, expr.op.version);
        return op ? ops::hasEffect(*op) : ops::mayWriteUnknown(expr.op.domain, expr.op.name);
    }

    void findEffects() {
        for (std::size_t i = 0; i < m_graph.exprCount(); ++i) {
            ExprId id(i);
            if (m_graph.isErased(id) || !hasOwnEffect(m_graph.expr(id))) continue;
            while (id.valid() && !m_needed.effect[id.index()]) {
                m_needed.effect[id.index()] = true;
                id = m_graph.body(m_graph.expr(id).body).owner;
            }
        }
    }

    /// Marks what comes after the last of the end points, which are somewhere in the body; of a body that the last one
    /// is in, its rest. A loop may come by again: its body has no such rest.
    void findBehind(BodyId id, const std::vector<ExprId>& ends) {
        const std::vector<ExprId>& order = m_graph.body(id).order;
        std::set<ExprId> holders;
        for (ExprId end : ends) holders.insert(holder(end, id));
        ExprId last;
        for (std::size_t i = order.size(); i-- > 0 && !last.valid();) {
            if (holders.contains(order[i])) last = order[i];
            else m_behind[order[i].index()] = true;
        }
        if (!last.valid()) return;
        const Expr& owner = m_graph.expr(last);
        const bool isLoop = owner.bodies.size() == 1 && !isCall(owner);
        for (BodyId inner : owner.bodies) {
            std::vector<ExprId> within;
            for (ExprId end : ends) {
                if (holder(end, inner).valid()) within.push_back(end);
            }
            if (!isLoop && !within.empty()) findBehind(inner, within);
        }
    }

    /// The expr of a body that an expr is, or is in; none if it is elsewhere.
    ExprId holder(ExprId id, BodyId body) const {
        while (id.valid() && m_graph.expr(id).body != body) id = m_graph.body(m_graph.expr(id).body).owner;
        return id;
    }

    const InternalGraph& m_graph;
    const PlanOptions& m_options;
    const ops::Registry& m_registry;
    std::vector<bool> m_behind;  ///< by expr: comes after the last end point
    // Of edits and given values; empty without them.
    std::vector<NodeId> m_sources;
    std::unordered_map<NodeId, std::vector<NodeId>> m_operands;  ///< by source node
    std::vector<bool> m_isGiven;                                 ///< by source node
    std::vector<bool> m_again;                                   ///< by expr: depends on an edit
    std::vector<ExprId> m_stack;
    Needed m_needed;
};

}  // namespace

Needed neededExprs(const InternalGraph& graph, const PlanOptions& options, const ops::Registry& registry,
                   const std::vector<bool>* effect) {
    return Finder(graph, options, registry).find(effect);
}

}  // namespace sonde::exec
