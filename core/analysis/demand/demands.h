#pragma once

#include <unordered_map>
#include <vector>

#include "core/analysis/demand/extents.h"
#include "core/analysis/demand/facts.h"

namespace sonde::analysis::demand {

/// Walks a graph backwards and collects what is wanted of each value.
class Demands {
  public:
    explicit Demands(const graph::InternalGraph& graph)
        : m_graph(graph), m_facts(graph), m_demands(graph.nodeCount()) {}

    void collect() { collect(m_graph.main(), 0); }
    Demand of(graph::NodeId node) const;

  private:
    // demands.cpp: bodies and plain values
    void collect(const graph::Body& body, int depth);
    void collectCall(const graph::Expr& expr, int depth);
    void collectBranches(const graph::Expr& expr, int depth);
    void wantBatch(const graph::Expr& expr, std::size_t output);
    void collectPlain(const graph::Expr& expr);
    void collectAsserted(const graph::Argument& condition, bool holds, int depth);
    void wantEqual(const graph::Argument& number, std::optional<std::int64_t> value);
    void wantUnpacked(const graph::Expr& expr);
    void wantIndexed(const graph::Expr& expr);
    bool isShape(const graph::Expr& expr) const;

    // layers.cpp: operators with weights
    void collectOperator(const graph::Expr& expr);
    bool collectLayer(const graph::Expr& expr, const Traits& traits, const Demand& result);
    void wantConvolved(const graph::Expr& expr, const Traits& traits, const Demand& result);
    void wantRecurrent(const graph::Expr& expr);
    void wantLinear(const graph::Argument& x, const Ints& weight, tensor::DType dtype, const Demand& result);
    void wantMultiplied(const graph::Expr& expr, OpClass opClass, const Demand& result);
    void wantNormed(const graph::Expr& expr, const Demand& result);
    void wantBatchNormed(const graph::Expr& expr, const Demand& result);
    void wantIndices(const graph::Expr& expr, const Demand& result);
    void wantBags(const graph::Expr& expr);
    void wantAttended(const graph::Expr& expr, std::size_t count);

    // shapes.cpp: operators that make other shapes
    bool collectShaped(const graph::Expr& expr, const Traits& traits, const Demand& result);
    bool collectCut(const graph::Expr& expr, const Traits& traits, const Demand& result);
    void wantExtent(const graph::Expr& expr);
    void wantBroadcast(const graph::Expr& expr, const Demand& result);
    Demand broadcastOver(const Ints& constant, const Demand& result) const;
    void wantPooled(const graph::Expr& expr, const Traits& traits, const Demand& result);
    void wantPermuted(const graph::Expr& expr, const Demand& result);
    void wantTransposed(const graph::Expr& expr, const Demand& result);
    void wantJoined(const graph::Expr& expr, const Demand& result);
    void wantFlattened(const graph::Expr& expr, const Demand& result);
    void wantViewed(const graph::Expr& expr, const Demand& result);
    void wantReshaped(const graph::Argument& x, std::int64_t features, std::size_t rank);
    void wantSliced(const graph::Expr& expr, const Demand& result);
    void wantSelected(const graph::Expr& expr, const Demand& result);
    void wantUnsqueezed(const graph::Expr& expr, const Demand& result);
    void wantReduced(const graph::Expr& expr, const Demand& result);

    Demand of(const graph::Expr& expr) const { return of(expr.outputs.front()); }
    void want(graph::NodeId node, const Demand& demand);
    void want(const graph::Argument& value, const Demand& demand) {
        if (value.kind == graph::Argument::Kind::Node) want(value.node, demand);
    }

    const graph::InternalGraph& m_graph;
    Facts m_facts;
    std::vector<Demand> m_demands;  ///< by node
    std::vector<std::unordered_map<std::size_t, Demand>>
        m_branches;  ///< what the branches want that are being looked at
};

}  // namespace sonde::analysis::demand
