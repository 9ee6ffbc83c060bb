#include "core/layout/outline.h"

#include <unordered_map>

namespace sonde::layout {

class Outline::Builder {
  public:
    explicit Builder(Outline& outline) : m_outline(outline), m_graph(*outline.m_graph) {}

    void run() {
        m_outline.m_groupOfExpr.assign(m_graph.exprCount(), GroupId());
        m_outline.m_groupOfScope.assign(m_graph.scopeCount(), GroupId());
        m_pending.push_back(
            {m_graph.mainId(), add({.kind = Kind::Body, .scope = m_graph.rootScope(), .body = m_graph.mainId()})});
        // A queue, not recursion: bodies and modules nest as deep as the file says.
        for (std::size_t next = 0; next < m_pending.size(); ++next) {
            const auto [body, group] = m_pending[next];
            fill(body, group);
        }
        count();
    }

  private:
    GroupId add(Group group) {
        const GroupId id(m_outline.m_groups.size());
        if (group.parent.valid()) {
            group.depth = m_outline.m_groups[group.parent.index()].depth + (group.kind == Kind::Body ? 0 : 1);
        }
        m_outline.m_groups.push_back(std::move(group));
        return id;
    }

    Group& group(GroupId id) { return m_outline.m_groups[id.index()]; }

    void fill(BodyId body, GroupId bodyGroup) {
        m_groupOf.clear();
        const ScopeId base = group(bodyGroup).scope;
        m_groupOf.emplace(base, bodyGroup);
        m_groupOf.emplace(m_graph.rootScope(), bodyGroup);
        for (const ExprId id : m_graph.body(body).order) {
            const graph::Expr& expr = m_graph.expr(id);
            const GroupId home = groupFor(expr.scope, body);
            m_outline.m_groupOfExpr[id.index()] = home;
            Member member{id, {}};
            if (!expr.bodies.empty()) {
                member.group =
                    add({.kind = Kind::Operation, .parent = home, .scope = expr.scope, .expr = id, .body = body});
                for (const BodyId inner : expr.bodies) {
                    const GroupId box =
                        add({.kind = Kind::Body, .parent = member.group, .scope = expr.scope, .body = inner});
                    group(member.group).members.push_back({{}, box});
                    m_pending.push_back({inner, box});
                }
            }
            group(home).members.push_back(member);
        }
    }

    /// The group of a scope in the body being filled, made with those around it when first needed.
    GroupId groupFor(ScopeId scope, BodyId body) {
        std::vector<ScopeId> missing;
        auto found = m_groupOf.find(scope);
        while (found == m_groupOf.end()) {
            missing.push_back(scope);
            scope = m_graph.scope(scope).parent;
            // Without a parent it is a second root: it is at the top.
            found = scope.valid() ? m_groupOf.find(scope) : m_groupOf.find(m_graph.rootScope());
        }
        GroupId at = found->second;
        for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
            const GroupId made = add({.kind = Kind::Module, .parent = at, .scope = *it, .body = body});
            group(at).members.push_back({{}, made});
            m_groupOf.emplace(*it, made);
            GroupId& first = m_outline.m_groupOfScope[it->index()];
            if (!first.valid()) first = made;
            at = made;
        }
        return at;
    }

    /// Groups were made after those around them.
    void count() {
        for (std::size_t i = m_outline.m_groups.size(); i-- > 0;) {
            Group& inner = m_outline.m_groups[i];
            for (const Member& member : inner.members) {
                if (!member.expr.valid()) continue;
                ++inner.exprs;
                if (isConstant(m_graph.expr(member.expr))) ++inner.constants;
            }
            if (!inner.parent.valid()) continue;
            if (inner.kind == Kind::Operation && isCall(m_graph.expr(inner.expr))) continue;
            group(inner.parent).exprs += inner.exprs;
            group(inner.parent).constants += inner.constants;
        }
    }

    Outline& m_outline;
    const InternalGraph& m_graph;
    std::vector<std::pair<BodyId, GroupId>> m_pending;
    std::unordered_map<ScopeId, GroupId> m_groupOf;
};

Outline::Outline(std::shared_ptr<const InternalGraph> graph) : m_graph(std::move(graph)) {
    Builder(*this).run();
    findRuns();
}

GroupId Outline::operationGroup(ExprId expr) const {
    const GroupId home = groupOf(expr);
    if (!home.valid() || m_graph->expr(expr).bodies.empty()) return {};
    for (const Member& member : group(home).members) {
        if (member.expr == expr) return member.group;
    }
    return {};
}

}  // namespace sonde::layout
