#pragma once

#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::lessons {

/// Where values of a graph come from and who reads them, through the borders of called modules. Linear to make. The
/// graph must outlive it.
class ValueFlow {
  public:
    explicit ValueFlow(const graph::InternalGraph& graph);

    const graph::InternalGraph& graph() const { return m_graph; }
    /// The node that it always has the value of: what a called module was given, or what is computed in it.
    graph::NodeId sourceOf(graph::NodeId node) const { return m_sources[node.index()]; }
    /// The same behind operations that hand on what they get: identities, dropout of a model in use.
    graph::NodeId originOf(graph::NodeId node) const;
    const graph::Expr& producerOf(graph::NodeId node) const;
    /// Whether it may be another one with other inputs of the model. What is handed to the body of a loop may be.
    bool dependsOnInput(graph::NodeId node) const { return m_depends[sourceOf(node).index()]; }
    /// Operations that read the value, wherever they are.
    const std::vector<graph::ExprId>& readersOf(graph::NodeId node) const { return m_readers[sourceOf(node).index()]; }

  private:
    void spread(std::vector<graph::NodeId> nodes);

    const graph::InternalGraph& m_graph;
    std::vector<graph::NodeId> m_sources;               ///< by node
    std::vector<std::vector<graph::ExprId>> m_readers;  ///< by source
    std::vector<bool> m_depends;                        ///< by source
};

}  // namespace sonde::lessons
