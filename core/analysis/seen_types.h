#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/tensor/type_info.h"

namespace sonde::analysis {

/// Whether nothing is left open: a tensor of known dtype and dimensions, or a list or tuple of such.
bool isExact(const tensor::TypeInfo& type);

/// Whether two exact types are of one value: a list may tell one type for all its items, or each.
bool agree(const tensor::TypeInfo& a, const tensor::TypeInfo& b);

/// What a run shows of types that the graph leaves open. Told by an exec::RunObserver, on the thread of the run.
class SeenTypes {
  public:
    explicit SeenTypes(std::shared_ptr<const graph::InternalGraph> graph);

    void add(graph::ExprId expr, std::span<const tensor::Value> outputs);
    /// By node. One that had different types in different passes of a loop is not in it.
    std::map<graph::NodeId, tensor::TypeInfo> types() const;

  private:
    enum class State : unsigned char { Unknown, Exact, Open };
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::vector<State> m_states;                       ///< by expr
    std::map<graph::NodeId, tensor::TypeInfo> m_seen;  ///< without a kind: differed
};

}  // namespace sonde::analysis
