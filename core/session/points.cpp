#include "core/session/points.h"

#include <algorithm>

namespace sonde::session {

using graph::NodeId;

bool PointSet::contains(NodeId node) const { return std::ranges::find(m_nodes, node) != m_nodes.end(); }

std::vector<NodeRef> PointSet::missing() const {
    std::vector<NodeRef> refs;
    for (const Entry& entry : m_entries)
        if (!entry.node.valid()) refs.push_back(entry.ref);
    return refs;
}

bool PointSet::set(const graph::InternalGraph& graph, NodeId node, bool member) {
    if (!node.valid() || contains(node) == member) return false;
    if (member) m_entries.push_back({refOf(graph, node), node});
    else std::erase_if(m_entries, [node](const Entry& entry) { return entry.node == node; });
    collect();
    return true;
}

bool PointSet::clear() {
    const bool had = !m_nodes.empty();
    m_entries.clear();
    m_nodes.clear();
    return had;
}

void PointSet::assign(const graph::InternalGraph& graph, std::span<const NodeId> nodes) {
    m_entries.clear();
    for (const NodeId node : nodes) m_entries.push_back({refOf(graph, node), node});
    collect();
}

void PointSet::bind(const graph::InternalGraph& graph) {
    for (Entry& entry : m_entries) entry.node = findNode(graph, entry.ref);
    collect();
}

/// Two names may have become one node: it counts once.
void PointSet::collect() {
    m_nodes.clear();
    for (const Entry& entry : m_entries)
        if (entry.node.valid() && !contains(entry.node)) m_nodes.push_back(entry.node);
}

}  // namespace sonde::session
