#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/edits.h"
#include "core/exec/plan_options.h"
#include "core/ops/registry/registry.h"

namespace sonde::exec {

struct StepCall;

/// How one expr is executed.
struct Step {
    enum class Kind : std::uint8_t {
        Operator,    ///< a registered kernel
        Body,        ///< the expr's first body, in place: a called module, a model-local function
        Callable,    ///< opaque code
        Collect,     ///< Output: the structure of its arguments becomes the value
        Impossible,  ///< fails when reached: `problem` says why
        Enter,       ///< of a called body whose steps follow in the same row: its inputs get their values
        Leave        ///< the call's outputs get theirs
    };
    ExprId expr;
    Kind kind = Kind::Operator;
    std::shared_ptr<const StepCall> call;
    std::vector<NodeId> release;  ///< values whose last consumer this step is
    /// Element-wise steps that may be done piece by piece while this one's result is in the cache. Each reads the
    /// result of the one before as argument `fusedAt`; `ownInputs` tells which of its other arguments come from this
    /// step (0) or an earlier one of the epilogue (number + 1); `overwrites`: nobody else wants what it is fused to.
    /// They keep their place in the row.
    std::vector<Step> epilogue;
    std::size_t fusedAt = 0;
    std::vector<std::size_t> ownInputs;
    bool overwrites = false;
    bool onlyKept = false;    ///< what it is fused to is kept for later, and no other step reads it
    bool isKept = false;      ///< its own result is kept for later
    bool hasEffect = false;   ///< see Needed::effect: nothing of what comes after it is done before it
    bool isOptional = false;  ///< only watched: if it fails, it and what reads it are missing, and the run goes on
    bool isFused = false;     ///< is in another step's `epilogue`: nothing to do if that one's kernel did it
};

/// What one expr calls: the same in every plan of a graph; plans share it (PlanOptions::alike).
struct StepCall {
    Step::Kind kind = Step::Kind::Operator;
    const ops::OpDef* op = nullptr;
    ops::Attributes attributes;                     ///< completed with defaults
    std::vector<const graph::Argument*> arguments;  ///< by parameter position; null: use the fallback
    std::vector<Value> fallbacks;                   ///< for null arguments
    bool runsEpilogue = false;                      ///< its kernel can run an epilogue, see ops::kernels::Epilogue
    bool joinsEpilogue = false;                     ///< it can be part of one
    /// Of the random numbers that it draws, from 1: operations that come after each other in the program draw other
    /// ones. 0: it draws none, or has a seed of its own (ONNX), which gives the same numbers wherever it is written.
    std::uint64_t stream = 0;
    base::Error problem;  ///< of Kind::Impossible
    std::string missing;  ///< the operator that the registry lacks
};

/// The steps of one body that are needed, in order.
struct BodyPlan {
    std::vector<Step> steps;
    bool isRow = true;  ///< not called: it has a row, see PlanImpl::joined
};

/// See Plan.
struct PlanImpl {
    std::shared_ptr<const InternalGraph> graph;
    PlanOptions options;
    const ops::Registry* registry = nullptr;
    std::vector<BodyPlan> bodies;                        ///< by body
    std::vector<std::shared_ptr<const StepCall>> calls;  ///< by expr; null: no step of a plan like this one does it
    std::vector<bool> effect;                            ///< by expr, see Needed
    std::vector<bool> keep;                              ///< by node: its value goes into the recording
    std::vector<bool> isEnd;                             ///< by node
    std::vector<NodeId> source;                          ///< by node: the one whose value it has, see valueSources
    std::vector<ExprId> mainSteps;
    std::vector<std::string> missing;
    std::unordered_map<NodeId, std::vector<const ValueEdit*>> edits;  ///< by source node
    std::unordered_map<NodeId, std::optional<Value>> constants;       ///< edited ones
    /// Of PlanOptions::given those that something needs, in the order of the program: position there, and node.
    std::vector<std::pair<std::size_t, NodeId>> given;

    /// For runs that nobody observes step by step: the steps of a body that is a row, with those of called bodies in
    /// their place and epilogues fused. Made when the first one is asked for: a run that is debugged has none.
    const std::vector<Step>& joined(graph::BodyId body) const;

    bool isEdited(NodeId source) const { return !edits.empty() && edits.contains(source); }
    /// What a node has in every run, if it is a constant.
    const std::optional<Value>& constantOf(NodeId node) const {
        if (!constants.empty())
            if (const auto found = constants.find(node); found != constants.end()) return found->second;
        return graph->node(node).constant;
    }
    /// Calls visit(operand) for what is read for the edits of an expr's results.
    template <typename Visit>
    void forEachOperand(std::span<const NodeId> outputs, const Visit& visit) const {
        if (edits.empty()) return;
        for (const NodeId output : outputs)
            if (const auto found = edits.find(output); found != edits.end() && source[output.index()] == output)
                for (const ValueEdit* const edit : found->second)
                    for (const NodeId operand : edit->operands) visit(operand);
    }

  private:
    mutable std::once_flag m_onceJoined;
    mutable std::vector<std::vector<Step>> m_joined;  ///< by body
};

}  // namespace sonde::exec
