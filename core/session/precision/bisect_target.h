#pragma once

#include "core/analysis/bisect.h"
#include "core/session/precision/simulation.h"

namespace sonde::session::precision {

/// The model itself at a lower precision, as the target of a bisection.
class PrecisionTarget : public analysis::BisectTarget {
  public:
    /// The simulation is of the model's graph.
    PrecisionTarget(analysis::BisectModel model, Simulation simulation, NumberType type, exec::Runner& runner);

    const std::vector<graph::NodeId>& matched() const override { return m_matched; }
    /// Values that are given are rounded where the operation that computes them is.
    base::Result<Values> run(const Values& given, std::span<const graph::NodeId> wanted,
                             const base::WorkContext& work) override;

  private:
    base::Result<tensor::Value> rounded(graph::NodeId node, const tensor::Value& value,
                                        const base::WorkContext& work) const;
    bool roundsNothing(graph::NodeId node, const Values& given) const;

    analysis::BisectModel m_model;
    Simulation m_simulation;
    NumberType m_type;
    exec::Runner& m_runner;
    std::vector<graph::NodeId> m_matched;
    std::vector<graph::NodeId> m_sources;  ///< by node
};

}  // namespace sonde::session::precision
