#include "core/session/flow_walk.h"

#include <algorithm>

#include "core/graph/scope_output.h"
#include "core/layout/shape_math.h"

namespace sonde::session {

using graph::ExprId;
using graph::ScopeId;
using layout::GroupId;
using layout::Outline;

namespace {

class Walker {
  public:
    Walker(const Outline& outline, const layout::ViewState& view)
        : m_outline(outline), m_graph(outline.graph()), m_view(view) {
        if (view.foldShapes) m_shapes = layout::shapeMath(m_graph);
    }

    std::vector<WalkStop> run() {
        m_stack.push_back({m_outline.root(), 0});
        // An explicit stack: modules of a hostile file may be thousands deep.
        while (!m_stack.empty()) {
            Place& place = m_stack.back();
            const auto& members = m_outline.group(place.group).members;
            if (place.member == members.size()) {
                m_stack.pop_back();
                continue;
            }
            const Outline::Member member = members[place.member++];
            if (member.expr.valid()) visitExpr(member.expr, member.group);
            else visitGroup(member.group);
        }
        return inOrder();
    }

  private:
    struct Place {
        GroupId group;
        std::size_t member;
    };
    struct Found {
        WalkStop stop;
        ExprId begins;  // its first operation that is no constant
    };

    /// Weights may come first in a file: the order of groups is not that in which they compute.
    std::vector<WalkStop> inOrder() {
        std::vector<std::size_t> turn(m_graph.exprCount(), 0);
        std::size_t next = 0;
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) turn[id.index()] = next++;
        std::stable_sort(m_found.begin(), m_found.end(), [&turn](const Found& a, const Found& b) {
            return turn[a.begins.index()] < turn[b.begins.index()];
        });
        std::vector<WalkStop> walk;
        walk.reserve(m_found.size());
        for (const Found& found : m_found) walk.push_back(found.stop);
        return walk;
    }

    bool isLeftOut(ExprId expr) const {
        return Outline::isConstant(m_graph.expr(expr)) || layout::isFiltered(m_view, expr) ||
               (expr.index() < m_shapes.size() && m_shapes[expr.index()]);
    }

    void visitExpr(ExprId id, GroupId operation) {
        if (isLeftOut(id)) return;
        const graph::Expr& expr = m_graph.expr(id);
        WalkStop stop{id, {}, {}};
        // A traced graph's output is a node of its own: what it gives is what it reads.
        const bool isOutput = expr.kind == graph::ExprKind::Output && !expr.inputs.empty();
        if (isOutput && (expr.inputs.size() == 1 || expr.outputs.empty())) stop.value = expr.inputs.front();
        else if (!expr.outputs.empty()) stop.value = expr.outputs.front();
        m_found.push_back({stop, id});
        if (operation.valid() && layout::isOpen(m_outline, m_view, operation)) m_stack.push_back({operation, 0});
    }

    void visitGroup(GroupId id) {
        const Outline::Group& group = m_outline.group(id);
        if (group.kind != Outline::Kind::Module || layout::isOpen(m_outline, m_view, id)) {
            if (!standsBehind(id)) m_stack.push_back({id, 0});
            return;
        }
        if (standsBehind(id)) return;
        if (const ExprId single = layout::inlined(m_outline, m_view, id); single.valid())
            return visitExpr(single, m_outline.operationGroup(single));
        const std::vector<ExprId> inside = exprsInside(id);
        for (const ExprId expr : inside) {
            if (isLeftOut(expr)) continue;
            m_found.push_back({{{}, group.scope, graph::outputOfScope(m_graph, group.scope, inside)}, expr});
            return;
        }
    }

    /// Whether another instance of a folded run is drawn in its place.
    bool standsBehind(GroupId id) const {
        const std::uint32_t run = m_outline.runOf(id);
        return layout::isFolded(m_outline, m_view, run) &&
               m_outline.instanceOf(id) != layout::shownInstance(m_outline, m_view, run);
    }

    /// In the order of execution.
    std::vector<ExprId> exprsInside(GroupId top) const {
        std::vector<ExprId> exprs;
        std::vector<Place> stack{{top, 0}};
        while (!stack.empty()) {
            Place& place = stack.back();
            const auto& members = m_outline.group(place.group).members;
            if (place.member == members.size()) {
                stack.pop_back();
                continue;
            }
            const Outline::Member member = members[place.member++];
            if (member.expr.valid()) exprs.push_back(member.expr);
            if (member.group.valid()) stack.push_back({member.group, 0});
        }
        return exprs;
    }

    const Outline& m_outline;
    const graph::InternalGraph& m_graph;
    const layout::ViewState& m_view;
    std::vector<bool> m_shapes;  // by ExprId; empty: nothing is folded
    std::vector<Place> m_stack;
    std::vector<Found> m_found;
};

/// The stop of a closed module around a scope, or of the scope itself.
std::optional<std::size_t> enclosing(const std::vector<WalkStop>& walk, const graph::InternalGraph& graph,
                                     ScopeId scope) {
    if (!scope.valid()) return {};
    for (std::size_t i = 0; i < walk.size(); ++i)
        if (walk[i].scope.valid() && graph.encloses(walk[i].scope, scope)) return i;
    return {};
}

}  // namespace

std::vector<WalkStop> flowWalk(const Outline& outline, const layout::ViewState& view,
                               const std::function<bool(graph::NodeId)>& isLeftOut) {
    std::vector<WalkStop> walk = Walker(outline, view).run();
    if (isLeftOut)
        std::erase_if(walk, [&](const WalkStop& stop) { return stop.value.valid() && isLeftOut(stop.value); });
    return walk;
}

std::optional<std::size_t> stopOf(const std::vector<WalkStop>& walk, const graph::InternalGraph& graph, ExprId expr) {
    if (!expr.valid() || expr.index() >= graph.exprCount()) return {};
    for (std::size_t i = 0; i < walk.size(); ++i)
        if (walk[i].expr == expr) return i;
    return enclosing(walk, graph, graph.expr(expr).scope);
}

std::optional<std::size_t> stopOf(const std::vector<WalkStop>& walk, const graph::InternalGraph& graph, ScopeId scope) {
    if (const auto around = enclosing(walk, graph, scope)) return around;
    if (!scope.valid()) return {};
    for (std::size_t i = 0; i < walk.size(); ++i)
        if (graph.encloses(scope, walk[i].scope.valid() ? walk[i].scope : graph.expr(walk[i].expr).scope)) return i;
    return {};
}

}  // namespace sonde::session
