#pragma once

#include "core/trace/recording.h"

namespace sonde::trace {

class Memory;
class ModelIndex;
class Recorder;

/// What a trace records into an InternalGraph, and what is known of its nodes before a run.
class GraphRecording final : public Recording {
  public:
    GraphRecording(Recorder& recorder, const ModelIndex& model, const Memory& memory)
        : m_recorder(recorder), m_model(model), m_memory(memory) {}

    Var record(graph::ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
               std::vector<Var> arguments, Keywords keywords, bool makesTensor, std::size_t outputs) override;
    graph::NodeId recordGuard(graph::NodeId node, KnownUse use, const tensor::AttributeValue& expected,
                              const std::string& description, const std::string& traced) override;
    graph::NodeId nodeOfValue(const Var& var) override;
    std::size_t recordedExprs() const override;
    const graph::InternalGraph* recordedGraph() const override;
    bool isTensor(graph::NodeId node) const override;
    std::optional<tensor::ValueKind> kindOf(graph::NodeId node) const override;
    std::string placeOf(graph::NodeId node) const override;
    bool isRecordedHere(graph::NodeId node) const override;
    bool mayRepeat(graph::NodeId view, graph::NodeId base) const override;
    bool recordsWriteTo(const Var& var) const override;
    std::shared_ptr<const Slot> slotOn(const tensor::Storage& storage) const override;

  private:
    /// kindOf without looking at how the arguments of its expr were made.
    std::optional<tensor::ValueKind> kindAlone(graph::NodeId node) const;

    Recorder& m_recorder;
    const ModelIndex& m_model;
    const Memory& m_memory;
};

}  // namespace sonde::trace
