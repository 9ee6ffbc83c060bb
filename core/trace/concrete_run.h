#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "core/trace/record.h"
#include "core/trace/value_oracle.h"

namespace sonde::trace {

/// Knows the values of a trace with example inputs: computes every node as it is recorded, answers what the model asks
/// of a value, and records each answer as a guard (core/graph/guard.h), so that a later run whose input decides
/// otherwise fails there instead of giving numbers of the wrong program.
///
/// Every node's value is kept until the trace is over. A node whose value cannot be computed fails only if it is asked
/// for.
class ConcreteRun final : public ValueOracle {
  public:
    /// Example values by the names of the root's parameters. A parameter without an example has its default.
    ConcreteRun(std::map<std::string, tensor::Value> examples, std::shared_ptr<const Evaluator> evaluator)
        : m_examples(std::move(examples)), m_evaluator(std::move(evaluator)) {}

    void began(Tracer& tracer, graph::InternalGraph& graph) override;
    void inputMade(graph::NodeId input) override;
    void inputBound(graph::NodeId inner, graph::NodeId outer) override;
    void recorded(graph::ExprId expr) override;
    /// The old node is worth what the new one is from now on; what shares its memory otherwise is not known any more.
    void rebound(graph::NodeId before, graph::NodeId after) override;
    std::optional<tensor::Value> known(graph::NodeId node, KnownUse use) override;

    /// The trace is over: every node gets the type that its value had, and the values are let go.
    void finish(graph::InternalGraph& graph);

  private:
    const tensor::Value* find(graph::NodeId node) const;
    void set(graph::NodeId node, tensor::Value value) { m_values.insert_or_assign(node, std::move(value)); }
    base::Result<std::vector<tensor::Value>> compute(const graph::Expr& expr) const;
    base::Result<std::vector<tensor::Value>> resultOf(graph::BodyId body) const;
    void forget(graph::NodeId node);
    void guard(graph::NodeId node, KnownUse use, const tensor::Value& value);

    std::map<std::string, tensor::Value> m_examples;
    std::shared_ptr<const Evaluator> m_evaluator;
    Tracer* m_tracer = nullptr;
    graph::InternalGraph* m_graph = nullptr;
    std::unordered_map<graph::NodeId, tensor::Value> m_values;
    std::unordered_map<graph::NodeId, std::string> m_problems;                         ///< why there is no value
    std::map<std::tuple<std::size_t, std::size_t, KnownUse>, graph::ExprId> m_guards;  ///< by body, node and use
};

/// A guard that was recorded, and what the program was told.
struct RecordedGuard {
    graph::NodeId node;
    tensor::Value asked;
};
/// Records that the program was told `value` of the node: any other is another program. Throws TraceError for what is
/// not even asked rightly (bool() of many elements).
RecordedGuard recordGuard(Tracer& tracer, const graph::InternalGraph& graph, graph::NodeId node, KnownUse use,
                          const tensor::Value& value);

}  // namespace sonde::trace
