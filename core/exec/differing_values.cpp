#include "core/exec/differing_values.h"

#include <algorithm>
#include <cstdint>

#include "core/exec/expr_effect.h"
#include "core/exec/flatten.h"
#include "core/graph/traits.h"

namespace sonde::exec {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using operators::OpClass;

namespace {

class ValueFollower {
  public:
    ValueFollower(const InternalGraph& graph, const Edits& edits)
        : m_graph(graph), m_sources(valueSources(graph)), m_order(graph.recursiveOrder(graph.mainId())),
          m_differs(graph.nodeCount(), false), m_isOneThing(graph.exprCount(), false) {
        for (const ExprId id : m_order) {
            const Expr& expr = graph.expr(id);
            m_isOneThing[id.index()] = !expr.bodies.empty() && !isCall(expr) && hasEffect(graph, id);
        }
        for (const ValueEdit& edit : edits.values) change(edit.node);
        for (const auto& [node, value] : edits.constants) change(node);
        for (const NodeId node : edits.inputs) change(node);
    }

    std::vector<bool> follow() {
        // What an iteration gives to the next one is met again in the next pass.
        do {
            m_isNew = m_mayOpaqueDiffer = false;
            for (const ExprId id : m_order) pass(m_graph.expr(id));
        } while (m_isNew);
        std::vector<bool> found(m_graph.nodeCount());
        for (std::size_t i = 0; i < found.size(); ++i) found[i] = differs(NodeId(i));
        return found;
    }

  private:
    bool differs(NodeId node) const { return m_differs[m_sources[node.index()].index()]; }
    bool differs(const Argument& argument) const {
        bool any = false;
        argument.forEachNode([&](NodeId node) { any = any || differs(node); });
        return any;
    }
    bool anyDiffers(const std::vector<NodeId>& nodes) const {
        return std::ranges::any_of(nodes, [this](NodeId node) { return differs(node); });
    }
    void change(NodeId node) {
        const std::size_t source = m_sources[node.index()].index();
        if (m_differs[source]) return;
        m_differs[source] = m_isNew = true;
    }
    void change(const std::vector<NodeId>& nodes) {
        for (const NodeId node : nodes) change(node);
    }

    void pass(const Expr& expr) {
        if (isCall(expr)) {
            // As a rule its outputs are what the body gives; else it puts that together.
            for (const BodyId body : expr.bodies)
                if (anyDiffers(m_graph.body(body).outputs) && !expr.outputs.empty() &&
                    m_sources[expr.outputs.front().index()] == expr.outputs.front())
                    change(expr.outputs);
        } else if (!expr.bodies.empty()) {
            if (m_isOneThing[expr.id.index()] || !followsInside(expr)) passWhole(expr);
        } else if (anyDiffers(expr.inputs) || (expr.callable && m_mayOpaqueDiffer)) {
            change(expr.outputs);
            // It may keep a state, which the next one sees.
            m_mayOpaqueDiffer = m_mayOpaqueDiffer || expr.callable;
        }
    }

    void passWhole(const Expr& expr) {
        bool any = m_mayOpaqueDiffer || anyDiffers(expr.inputs) || anyDiffers(expr.outputs);
        for (const BodyId body : expr.bodies)
            for (const ExprId inner : m_graph.recursiveOrder(body))
                any = any || anyDiffers(m_graph.expr(inner).inputs) || anyDiffers(m_graph.expr(inner).outputs);
        if (any) changeAll(expr);
    }
    void changeAll(const Expr& expr) {
        change(expr.outputs);
        for (const BodyId body : expr.bodies) {
            change(m_graph.body(body).inputs);
            for (const ExprId inner : m_graph.recursiveOrder(body)) change(m_graph.expr(inner).outputs);
        }
    }

    /// Whether it is known what goes in and out of the bodies; what differs is followed through them then.
    bool followsInside(const Expr& expr) {
        switch (graph::traitsOf(expr).opClass) {
            case OpClass::If: return followsBranches(expr);
            case OpClass::Loop: return followsLoop(expr);
            case OpClass::Scan: return followsScan(expr);
            default: return false;
        }
    }

    bool followsBranches(const Expr& expr) {
        if (expr.arguments.size() != 1) return false;
        for (const BodyId body : expr.bodies) {
            const Body& branch = m_graph.body(body);
            if (!branch.inputs.empty() || branch.outputs.size() != expr.outputs.size()) return false;
        }
        if (differs(expr.arguments.front())) {
            changeAll(expr);
            return true;
        }
        for (const BodyId body : expr.bodies)
            for (std::size_t i = 0; i < expr.outputs.size(); ++i)
                if (differs(m_graph.body(body).outputs[i])) change(expr.outputs[i]);
        return true;
    }

    /// Arguments are the trip count, the condition and the states; the body takes the iteration, the condition and the
    /// states, and gives the condition, the states, and what is stacked.
    bool followsLoop(const Expr& expr) {
        if (expr.bodies.size() != 1 || expr.arguments.size() < 2) return false;
        const Body& body = m_graph.body(expr.bodies.front());
        const std::size_t states = expr.arguments.size() - 2;
        if (body.inputs.size() != states + 2 || body.outputs.size() != expr.outputs.size() + 1 ||
            expr.outputs.size() < states)
            return false;
        if (differs(expr.arguments[0]) || differs(expr.arguments[1]) || differs(body.outputs[0])) {
            changeAll(expr);
            return true;
        }
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            const bool isState = i < states;
            const bool any = differs(body.outputs[i + 1]) || (isState && differs(expr.arguments[i + 2]));
            if (any) change(expr.outputs[i]);
            if (any && isState) change(body.inputs[i + 2]);
        }
        return true;
    }

    /// The body takes states and a part of each scanned argument, and gives the states and what is stacked. The count
    /// of iterations is the size of what is scanned.
    bool followsScan(const Expr& expr) {
        if (expr.bodies.size() != 1) return false;
        const Body& body = m_graph.body(expr.bodies.front());
        const std::size_t first = expr.op.version < 9 ? 1 : 0, taken = body.inputs.size();
        const auto scanned = static_cast<std::size_t>(
            std::clamp<std::int64_t>(expr.attributes.getInt("num_scan_inputs", 0), 0, std::int64_t(taken)));
        const std::size_t states = taken - scanned;
        if (expr.arguments.size() != first + taken || body.outputs.size() != expr.outputs.size() ||
            expr.outputs.size() < states)
            return false;
        bool mayOthersRun = first == 1 && differs(expr.arguments[0]);  // lengths
        for (std::size_t i = states; i < taken; ++i) {
            const Argument& whole = expr.arguments[first + i];
            if (!differs(whole)) continue;
            change(body.inputs[i]);
            mayOthersRun =
                mayOthersRun || whole.kind != Argument::Kind::Node || !m_graph.node(whole.node).type.staticShape();
        }
        if (mayOthersRun) {
            changeAll(expr);
            return true;
        }
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            const bool isState = i < states;
            const bool any = differs(body.outputs[i]) || (isState && differs(expr.arguments[first + i]));
            if (any) change(expr.outputs[i]);
            if (any && isState) change(body.inputs[i]);
        }
        return true;
    }

    const InternalGraph& m_graph;
    const std::vector<NodeId> m_sources;
    const std::vector<ExprId> m_order;
    std::vector<bool> m_differs;     ///< by source node
    std::vector<bool> m_isOneThing;  ///< by expr: with bodies that nothing is followed through
    bool m_isNew = false;
    bool m_mayOpaqueDiffer = false;  ///< opaque code that has come up so far
};

}  // namespace

std::vector<bool> differingValues(const InternalGraph& graph, const Edits& edits) {
    return ValueFollower(graph, edits).follow();
}

}  // namespace sonde::exec
