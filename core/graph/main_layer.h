#pragma once

#include "core/graph/internal_graph.h"

namespace sonde::graph {

/// Stored, or made of what is stored in one step: a transpose, a cast, a dequantisation.
bool isWeight(const InternalGraph& graph, NodeId id);

/// Finds the operation that says what a small module is: its only convolution, product with weights, recurrent layer or
/// table of embeddings; where there are none or several, its only attention; else its only normalisation. Give it all
/// exprs of the module, then ask.
class MainLayer {
  public:
    explicit MainLayer(const InternalGraph& graph) : m_graph(graph) {}

    void add(ExprId id);
    /// None if no operation tells what the module is.
    ExprId found() const;

  private:
    struct Sole {
        ExprId expr;
        std::size_t count = 0;
        void add(ExprId id) { expr = count++ == 0 ? id : expr; }
    };

    const InternalGraph& m_graph;
    Sole m_layers, m_attention, m_norms;
};

/// The same of a called module or function with one body, whose exprs are few; none of other exprs.
ExprId mainLayerOf(const InternalGraph& graph, const Expr& call);

}  // namespace sonde::graph
