#include "core/session/points.h"

#include <algorithm>
#include <unordered_set>

namespace sonde::session {

using graph::NodeId;

namespace {

/// What is known of a node without a look at the rest of its graph.
NodeIdentity nameOf(const graph::InternalGraph& graph, NodeId node) {
    NodeIdentity identity;
    identity.name = graph.node(node).name;
    identity.qualname = graph.expr(graph.node(node).producer).qualname.value_or("");
    return identity;
}

}  // namespace

bool PointSet::contains(NodeId node) const { return std::ranges::find(m_nodes, node) != m_nodes.end(); }

FoundBy PointSet::foundBy(NodeId node) const {
    const auto entry = std::ranges::find(m_entries, node, &Entry::node);
    return entry == m_entries.end() ? FoundBy::Missing : entry->by;
}

std::vector<NodeIdentity> PointSet::missing() const {
    std::vector<NodeIdentity> missing;
    for (const Entry& entry : m_entries)
        if (!entry.node.valid()) missing.push_back(entry.identity);
    return missing;
}

bool PointSet::set(const graph::InternalGraph& graph, NodeId node, bool member) {
    if (!node.valid() || contains(node) == member) return false;
    if (member) m_entries.push_back({nameOf(graph, node), node});
    else std::erase_if(m_entries, [node](const Entry& entry) { return entry.node == node; });
    collect();
    return true;
}

bool PointSet::clear() {
    const bool had = !m_entries.empty();
    m_entries.clear();
    m_nodes.clear();
    return had;
}

bool PointSet::forget(const NodeIdentity& missing) {
    return std::erase_if(m_entries,
                         [&](const Entry& entry) { return !entry.node.valid() && entry.identity == missing; }) > 0;
}

void PointSet::assign(const graph::InternalGraph& graph, std::span<const NodeId> nodes) {
    m_entries.clear();
    for (const NodeId node : nodes) m_entries.push_back({nameOf(graph, node), node});
    collect();
}

void PointSet::assign(const graph::InternalGraph& graph, std::span<const NodeIdentity> identities) {
    m_entries.clear();
    for (const NodeIdentity& identity : identities) m_entries.push_back({identity, {}, FoundBy::Missing});
    m_entries.empty() ? collect() : bind(graph, nullptr);
}

std::vector<NodeIdentity> PointSet::identities(const graph::InternalGraph& graph) const {
    std::vector<NodeIdentity> identities;
    if (m_entries.empty()) return identities;
    const IdentityIndex index(graph);
    for (const Entry& entry : m_entries)
        identities.push_back(entry.node.valid() ? index.of(entry.node) : entry.identity);
    return identities;
}

void PointSet::bind(const graph::InternalGraph& graph, const graph::InternalGraph* before) {
    if (m_entries.empty()) return;
    if (before) {
        const std::vector<NodeIdentity> known = identities(*before);
        for (std::size_t i = 0; i < known.size(); ++i) m_entries[i].identity = known[i];
    }
    const IdentityIndex index(graph);
    for (Entry& entry : m_entries) {
        const IdentityIndex::Found found = index.find(entry.identity);
        entry.node = found.node;
        entry.by = found.by;
    }
    collect();
}

/// Two names may have become one node: it counts once.
void PointSet::collect() {
    m_nodes.clear();
    for (const Entry& entry : m_entries)
        if (entry.node.valid() && !contains(entry.node)) m_nodes.push_back(entry.node);
}

std::vector<NodeId> Points::kept() const {
    std::vector<NodeId> kept = watched.nodes();
    const std::unordered_set<NodeId> own(kept.begin(), kept.end());
    for (const NodeId node : groups.nodes())
        if (!own.contains(node)) kept.push_back(node);
    return kept;
}

}  // namespace sonde::session
