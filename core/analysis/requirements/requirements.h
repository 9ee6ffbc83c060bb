#pragma once

#include <unordered_map>
#include <vector>

#include "core/analysis/requirements/dim_sizes.h"
#include "core/analysis/requirements/facts.h"

namespace sonde::analysis::requirement {

/// Walks a graph backwards and collects what is wanted of each value.
class Requirements {
  public:
    explicit Requirements(const graph::InternalGraph& graph)
        : m_graph(graph), m_facts(graph), m_requirements(graph.nodeCount()) {}

    void collect() { collect(m_graph.main(), 0); }
    Requirement of(graph::NodeId node) const;

  private:
    // requirements.cpp: bodies and plain values
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
    bool collectLayer(const graph::Expr& expr, const Traits& traits, const Requirement& result);
    void wantConvolved(const graph::Expr& expr, const Traits& traits, const Requirement& result);
    void wantRecurrent(const graph::Expr& expr);
    void wantLinear(const graph::Argument& x, const Ints& weight, tensor::DType dtype, const Requirement& result);
    void wantMultiplied(const graph::Expr& expr, OpClass opClass, const Requirement& result);
    void wantNormed(const graph::Expr& expr, const Requirement& result);
    void wantBatchNormed(const graph::Expr& expr, const Requirement& result);
    void wantIndices(const graph::Expr& expr, const Requirement& result);
    void wantBags(const graph::Expr& expr);
    void wantAttended(const graph::Expr& expr, std::size_t count);

    // shapes.cpp: operators that make other shapes
    bool collectShaped(const graph::Expr& expr, const Traits& traits, const Requirement& result);
    bool collectCut(const graph::Expr& expr, const Traits& traits, const Requirement& result);
    void wantDimSize(const graph::Expr& expr);
    void wantBroadcast(const graph::Expr& expr, const Requirement& result);
    Requirement broadcastOver(const Ints& constant, const Requirement& result) const;
    void wantPooled(const graph::Expr& expr, const Traits& traits, const Requirement& result);
    void wantPermuted(const graph::Expr& expr, const Requirement& result);
    void wantTransposed(const graph::Expr& expr, const Requirement& result);
    void wantJoined(const graph::Expr& expr, const Requirement& result);
    void wantFlattened(const graph::Expr& expr, const Requirement& result);
    void wantViewed(const graph::Expr& expr, const Requirement& result);
    void wantReshaped(const graph::Argument& x, std::int64_t features, std::size_t rank);
    void wantSliced(const graph::Expr& expr, const Requirement& result);
    void wantSelected(const graph::Expr& expr, const Requirement& result);
    void wantUnsqueezed(const graph::Expr& expr, const Requirement& result);
    void wantReduced(const graph::Expr& expr, const Requirement& result);

    Requirement of(const graph::Expr& expr) const { return of(expr.outputs.front()); }
    void want(graph::NodeId node, const Requirement& requirement);
    void want(const graph::Argument& value, const Requirement& requirement) {
        if (value.kind == graph::Argument::Kind::Node) want(value.node, requirement);
    }

    const graph::InternalGraph& m_graph;
    Facts m_facts;
    std::vector<Requirement> m_requirements;  ///< by node
    std::vector<std::unordered_map<std::size_t, Requirement>>
        m_branches;  ///< what the branches want that are being looked at
};

}  // namespace sonde::analysis::requirement
