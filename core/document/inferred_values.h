#pragma once

#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/trace/record.h"
#include "core/trace/value_oracle.h"

namespace sonde::document {

/// What a trace can know of its nodes without computing: what follows from the dtypes and shapes of the inputs. Answers
/// with a guard (core/graph/guard.h), as a trace with values does. An oracle that knows values may stand behind it:
/// then that one answers, and this one only knows shapes.
class InferredValues final : public trace::ValueOracle {
  public:
    /// The inputs that the main body will have, in order; of tensors only dtype and shape are looked at.
    InferredValues(std::vector<tensor::Value> inputs, std::shared_ptr<const trace::Evaluator> evaluator,
                   std::shared_ptr<trace::ValueOracle> values = {});

    /// Of a tensor; nothing if the shape does not follow from those of the inputs.
    std::optional<tensor::Shape> shapeOf(graph::NodeId node);

    void began(trace::Tracer& tracer, graph::InternalGraph& graph) override;
    void inputMade(graph::NodeId input) override;
    void inputBound(graph::NodeId inner, graph::NodeId outer) override;
    void recorded(graph::ExprId expr) override;
    void rebound(graph::NodeId before, graph::NodeId after) override;
    std::optional<tensor::Value> known(graph::NodeId node, trace::KnownUse use) override;

  private:
    const tensor::TypeInfo* typeOf(graph::NodeId node);
    graph::NodeId current(graph::NodeId node) const;
    std::optional<tensor::Value> valueOf(graph::NodeId node, int depth);
    std::optional<tensor::Value> shapeOnly(graph::NodeId node);

    std::vector<tensor::Value> m_inputs;
    std::shared_ptr<const trace::Evaluator> m_evaluator;
    std::shared_ptr<trace::ValueOracle> m_values;
    trace::Tracer* m_tracer = nullptr;
    graph::InternalGraph* m_graph = nullptr;
    std::vector<tensor::TypeInfo> m_types;                         ///< by node, of the last inference
    std::unordered_map<graph::NodeId, graph::NodeId> m_standsFor;  ///< inputs of bodies, and what writes renewed
    std::unordered_map<graph::NodeId, tensor::Value> m_known;
    std::set<std::tuple<std::size_t, std::size_t, trace::KnownUse>> m_guarded;  ///< by body, node and use
};

}  // namespace sonde::document
