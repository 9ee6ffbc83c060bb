#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis/bisect.h"

namespace sonde::analysis {

/// Another model as the target of a bisection. Nodes are found by matchNodes().
class ModelTarget : public BisectTarget {
  public:
    /// `other` with its inputs. Values of A are given in the element types that the other model has there.
    ModelTarget(const graph::InternalGraph& model, BisectModel other, exec::Runner& runner);

    const std::vector<graph::NodeId>& matched() const override { return m_matched; }
    std::span<const graph::NodeId> editedInputs() const override { return m_editedInputs; }
    std::string title() const override;
    /// The first run must be without `given`: it tells the element types.
    base::Result<Values> run(const Values& given, std::span<const graph::NodeId> wanted,
                             const base::WorkContext& work) override;

    /// The counterpart of a node of A; an invalid id if it has none.
    graph::NodeId counterpart(graph::NodeId node) const;
    /// Values that the other model computes outside of loops and branches, each once.
    std::size_t computed() const;

  private:
    std::optional<std::size_t> inputIndex(graph::NodeId there) const;

    BisectModel m_other;
    exec::Runner& m_runner;
    std::vector<graph::NodeId> m_matched, m_editedInputs;
    /// Of values that have edits in A alone, by source: both have the counterpart of the one without edits.
    std::unordered_map<graph::NodeId, graph::NodeId> m_afterEdits;
    std::unordered_map<graph::NodeId, graph::NodeId> m_counterpart;  ///< by source
    std::unordered_map<graph::NodeId, tensor::DType> m_dtypes;       ///< by node of the other model
};

/// Values for the inputs of `other`, each that of its counterpart in `model`, in the element type that it declares.
/// Errors (Usage): an input has no counterpart.
base::Result<std::vector<tensor::Value>> inputsLike(const BisectModel& model, const graph::InternalGraph& other,
                                                    const std::string& otherTitle = "the other model");

}  // namespace sonde::analysis
