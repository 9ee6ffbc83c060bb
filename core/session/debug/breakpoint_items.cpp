#include "core/session/debug/breakpoint_items.h"

#include <algorithm>

namespace sonde::session::debug {

void BreakpointItems::setPoints(const graph::InternalGraph& graph, const Breakpoints& points) {
    m_exprs.assign(graph.exprCount(), false);
    m_scopes.assign(graph.scopeCount(), false);
    m_items.clear();
    m_known = 0;
    m_hasAny = false;
    for (const Breakpoint& point : points.all()) {
        if (!point.isEnabled || point.kind == Breakpoint::Kind::Event) continue;
        m_hasAny = true;
        if (point.kind == Breakpoint::Kind::Module && !point.isLeaf) {
            for (std::size_t i = 0; i < m_scopes.size(); ++i)
                if (graph.scope(graph::ScopeId(i)).qualname == point.name) m_scopes[i] = true;
            continue;
        }
        for (std::size_t i = 0; i < m_exprs.size(); ++i)
            if (!graph.isErased(graph::ExprId(i)) && Breakpoints::isOf(point, graph, graph.expr(graph::ExprId(i))))
                m_exprs[i] = true;
    }
}

bool BreakpointItems::isAt(const Item& item) const {
    if (item.kind == Item::Kind::Module) return item.scope.valid() && m_scopes[item.scope.index()];
    return item.kind == Item::Kind::Operation && item.expr.valid() && m_exprs[item.expr.index()];
}

void BreakpointItems::add(const Timeline& timeline) {
    if (timeline.size() < m_known) {
        m_items.clear();
        m_known = 0;
    }
    for (; m_hasAny && m_known < timeline.size(); ++m_known)
        if (isAt(timeline[static_cast<ItemId>(m_known)])) m_items.push_back(static_cast<ItemId>(m_known));
}

std::vector<ItemId> BreakpointItems::hits(const Breakpoints& points) {
    std::vector<ItemId> items;
    for (const Breakpoint& point : points.all())
        if (!point.isLog) items.insert(items.end(), point.hits.begin(), point.hits.end());
    std::ranges::sort(items);
    items.erase(std::unique(items.begin(), items.end()), items.end());
    return items;
}

}  // namespace sonde::session::debug
