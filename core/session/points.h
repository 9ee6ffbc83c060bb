#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/session/watch/node_identity.h"
#include "core/session/watch/watch_groups.h"

namespace sonde::session {

/// Nodes that a user has chosen, in the order of choosing. Kept by name, module and structure (see NodeIdentity), so
/// that they are there again when the model is traced in another way or exported again; what the present graph has no
/// node for is kept, and waits.
class PointSet {
  public:
    struct Entry {
        NodeIdentity identity;  ///< complete if the node is missing; else what a look at the graph does not give
        graph::NodeId node;     ///< none: missing
        FoundBy by = FoundBy::Name;
    };

    /// Those of the present graph.
    const std::vector<graph::NodeId>& nodes() const { return m_nodes; }
    const std::vector<Entry>& entries() const { return m_entries; }
    bool contains(graph::NodeId node) const;
    /// How a node was found in the present graph; Name of one that was set there.
    FoundBy foundBy(graph::NodeId node) const;
    /// Those that the present graph has no node for.
    std::vector<NodeIdentity> missing() const;

    /// Adds or removes; whether anything changed.
    bool set(const graph::InternalGraph& graph, graph::NodeId node, bool member);
    /// Removes all, also those that are missing; whether there were any.
    bool clear();
    /// Drops one that is missing; whether there was one.
    bool forget(const NodeIdentity& missing);
    /// In place of what was there.
    void assign(const graph::InternalGraph& graph, std::span<const graph::NodeId> nodes);
    /// The same of a session that was kept: by identity.
    void assign(const graph::InternalGraph& graph, std::span<const NodeIdentity> identities);
    /// All of them, for keeping. Linear in the graph if there are any.
    std::vector<NodeIdentity> identities(const graph::InternalGraph& graph) const;
    /// Looks all of them up in another graph. `before`: the one that they were in; null if there was none.
    void bind(const graph::InternalGraph& graph, const graph::InternalGraph* before);

  private:
    void collect();

    std::vector<Entry> m_entries;
    std::vector<graph::NodeId> m_nodes;
};

/// Watch points (keep the value at each run), those of whole modules or queries among them, and end points (stop as
/// soon as all are computed).
struct Points {
    PointSet watched;
    PointSet ends;
    WatchGroups groups;

    /// Watched by themselves or in a group, each once: those watched by themselves first.
    std::vector<graph::NodeId> kept() const;
    bool keeps(graph::NodeId node) const { return watched.contains(node) || groups.contains(node); }
};

}  // namespace sonde::session
