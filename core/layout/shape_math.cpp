#include "core/layout/shape_math.h"

#include <algorithm>

#include "core/graph/traits.h"

namespace sonde::layout {

namespace {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

/// Operations that ask a tensor for its shape and for nothing else.
bool asksForShape(const Expr& expr) {
    const operators::ShapeQuery query = graph::traitsOf(expr).query;
    return query != operators::ShapeQuery::None && query != operators::ShapeQuery::Length;
}

/// Operations whose results are as small as what they read, for results of unknown rank.
bool staysSmall(const Expr& expr) {
    return expr.op.domain == "prim" || graph::traitsOf(expr).is(operators::Trait::StaysSmall);
}

bool isConstant(const Expr& expr) { return expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr; }

class Finder {
  public:
    explicit Finder(const InternalGraph& graph)
        : m_graph(graph), m_state(graph.exprCount(), kData), m_found(graph.exprCount(), false),
          m_isResult(graph.nodeCount(), false) {
        for (std::size_t i = 0; i < graph.bodyCount(); ++i) {
            for (const NodeId output : graph.body(graph::BodyId(i)).outputs) {
                if (graph.expr(graph.node(output).producer).body == graph::BodyId(i)) m_isResult[output.index()] = true;
            }
        }
    }

    std::vector<bool> run() {
        const std::vector<ExprId> order = m_graph.recursiveOrder(m_graph.mainId());
        for (const ExprId id : order) m_state[id.index()] = stateOf(m_graph.expr(id));
        if (std::find(m_state.begin(), m_state.end(), kShape) == m_state.end()) return {};
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            const State state = m_state[it->index()];
            m_found[it->index()] = state == kShape || (state == kFixed && readByFoundOnly(m_graph.expr(*it)));
        }
        return std::move(m_found);
    }

  private:
    enum State : std::uint8_t { kData, kFixed, kShape };  ///< fixed: constant, or computed from constants alone

    State stateOf(const Expr& expr) const {
        if (isConstant(expr)) return kFixed;
        if (!expr.bodies.empty() || expr.outputs.empty() || expr.inputs.empty()) return kData;
        if (expr.kind != ExprKind::Apply && expr.kind != ExprKind::CallFunction && expr.kind != ExprKind::CallMethod)
            return kData;
        if (expr.op.name.empty() || isResult(expr)) return kData;
        if (asksForShape(expr)) return kShape;
        State state = kFixed;
        for (const NodeId input : expr.inputs) {
            const State read = m_state[m_graph.node(input).producer.index()];
            if (read == kData) return kData;
            state = std::max(state, read);
        }
        for (const NodeId output : expr.outputs) {
            const auto& type = m_graph.node(output).type;
            if (type.isTensor() && type.shape ? type.shape->size() > 1 : !staysSmall(expr)) return kData;
        }
        return state;
    }

    /// What leaves a body is data for those around it.
    bool isResult(const Expr& expr) const {
        return std::any_of(expr.outputs.begin(), expr.outputs.end(),
                           [&](NodeId output) { return m_isResult[output.index()]; });
    }

    bool readByFoundOnly(const Expr& expr) const {
        bool any = false;
        for (const NodeId output : expr.outputs) {
            for (const ExprId user : m_graph.node(output).users) {
                if (!m_found[user.index()]) return false;
                any = true;
            }
        }
        return any && !isResult(expr);
    }

    const InternalGraph& m_graph;
    std::vector<State> m_state;
    std::vector<bool> m_found;
    std::vector<bool> m_isResult;  // by NodeId: leaves the body that it is in
};

}  // namespace

std::vector<bool> shapeMath(const InternalGraph& graph) { return Finder(graph).run(); }

}  // namespace sonde::layout
