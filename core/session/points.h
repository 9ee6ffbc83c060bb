#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/session/node_ref.h"

namespace sonde::session {

/// Nodes that a user has chosen, in the order of choosing. Kept by name and module, so that they are there again when
/// the model is traced in another way or exported again; what the present graph has no node for is kept, and waits.
class PointSet {
  public:
    /// Those of the present graph.
    const std::vector<graph::NodeId>& nodes() const { return m_nodes; }
    bool contains(graph::NodeId node) const;
    /// Those that the present graph has no node for.
    std::vector<NodeRef> missing() const;

    /// Adds or removes; whether anything changed.
    bool set(const graph::InternalGraph& graph, graph::NodeId node, bool member);
    /// Removes all, also those that are missing; whether there was a node among them.
    bool clear();
    /// In place of what was there.
    void assign(const graph::InternalGraph& graph, std::span<const graph::NodeId> nodes);
    /// Looks all of them up in another graph.
    void bind(const graph::InternalGraph& graph);

  private:
    struct Entry {
        NodeRef ref;
        graph::NodeId node;  ///< none: missing
    };
    void collect();

    std::vector<Entry> m_entries;
    std::vector<graph::NodeId> m_nodes;
};

/// Watch points (keep the value at each run) and end points (stop as soon as all are computed).
struct Points {
    PointSet watched;
    PointSet ends;
};

}  // namespace sonde::session
