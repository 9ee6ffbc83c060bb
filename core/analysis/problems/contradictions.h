#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/analysis/problem.h"

namespace sonde::analysis {

/// Values of a run whose types are not those that the graph tells: declared in the file, or inferred. A dimension with
/// a name has one size in a run. Told by an exec::RunObserver on the thread of the run.
class Contradictions {
  public:
    explicit Contradictions(std::shared_ptr<const graph::InternalGraph> graph);

    /// In the order of graph->inputs(): what the names of dimensions stand for. An input that a file declares is
    /// refused before a run if it does not fit: one that is among types() had a guessed type.
    void bindInputs(std::span<const tensor::Value> inputs);
    void add(graph::ExprId expr, std::span<const tensor::Value> outputs);
    const ContradictingTypes& types() const { return m_types; }

  private:
    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::unordered_map<std::string, std::int64_t> m_sizes;  ///< by symbol
    ContradictingTypes m_types;
};

/// "dimension 1 is 4 instead of 3", "its dtype is int64 instead of float32"; empty if they agree. `sizes`: what names
/// of dimensions stand for; null: a name agrees with every size.
std::string contradiction(const tensor::TypeInfo& told, const tensor::TypeInfo& actual,
                          const std::unordered_map<std::string, std::int64_t>* sizes = nullptr);

}  // namespace sonde::analysis
