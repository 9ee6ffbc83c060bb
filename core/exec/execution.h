#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/progress.h"
#include "core/exec/block_cache.h"
#include "core/exec/census.h"
#include "core/exec/file_check.h"
#include "core/exec/plan.h"
#include "core/exec/plan_impl.h"
#include "core/exec/prepared_cache.h"
#include "core/exec/recording.h"
#include "core/exec/replay.h"
#include "core/exec/run_options.h"
#include "core/ops/kernels/epilogue.h"

namespace sonde::exec {

/// What a runner keeps between runs.
struct RunMemory {
    BlockCache blocks;
    PreparedCache prepared;
    CensusMemory census;
};

class RunTrace;

/// One run of one plan. Lives on the stack of Runner::run.
class Execution {
  public:
    Execution(const Plan& plan, const base::WorkContext& work, const RunOptions& options,
              ops::RunEnvironment& environment, RunMemory& memory, FileCheck& files);

    /// `inputs` as for Runner::run.
    Recording run(std::span<const Value> inputs);
    /// As Runner::replay.
    base::Result<std::vector<Value>> replay(const ReplayInputs& inputs);

  private:
    /// What is passed up when a run ends early without having failed.
    enum class Outcome : std::uint8_t { Finished, AllEndsReached, Failed };
    class KernelBodies;
    using BadCount = ops::kernels::BadCount;
    using ElementMoments = ops::kernels::ElementMoments;
    using Epilogue = ops::kernels::Epilogue;

    Outcome runBody(graph::BodyId id, int depth);
    /// What the kernel that made a value knows of it.
    struct Known {
        Value kept = {};                             ///< goes into the recording in its place, if it is there
        std::optional<BadCount> bad = {};            ///< if it has counted
        std::optional<ElementMoments> moments = {};  ///< if it has measured
    };
    Outcome publish(NodeId node, Value value) { return publish(node, std::move(value), Known()); }
    Outcome publish(NodeId node, Value value, Known known);
    void keepOrMeasure(NodeId node, const Value& value, Known& known);
    void fail(base::Error error) { m_recording.error = std::move(error); }
    /// The value of a node: constants are read from the graph, everything else from this run.
    const Value& read(NodeId node) const {
        const NodeId source = m_plan.source[node.index()];
        const std::optional<Value>& constant = m_plan.constantOf(source);
        return constant ? *constant : m_values[source.index()];
    }
    Value build(const graph::Argument& argument) const;

    Outcome bindInputs(std::span<const Value> inputs);
    Outcome bindGiven();
    void keepHandedOn();
    base::Result<void> edit(NodeId node, Value& value);
    void collectOutputs();
    Outcome runRowStep(const Step& step, int depth);
    Outcome runStep(const Step& step, int depth);
    Outcome goOnWithout(const graph::Expr& expr);
    bool keeps(NodeId node) const { return m_options.keepsWatched && m_plan.keep[node.index()]; }
    bool isMissing(NodeId node) const { return m_isMissing[m_plan.source[node.index()].index()]; }
    bool lacksInput(const graph::Expr& expr) const;
    bool isKnown(const Step& step, const graph::Expr& expr);
    void handOnResults(const graph::Expr& call);
    void closeCall(ExprState state);
    Outcome execute(const Step& step, const graph::Expr& expr, int depth);
    Outcome runOperator(const Step& step, const graph::Expr& expr, int depth);
    static bool areFloats(std::span<const Value> inputs);
    std::vector<Epilogue::Link> linksOf(const Step& step);
    Outcome publishEpilogue(const Step& step, const graph::Expr& expr, Value result, const Epilogue& epilogue);
    Outcome runInner(const graph::Expr& expr, int depth);
    Outcome publishInputs(const graph::Expr& call);
    Outcome publishResults(const graph::Expr& call);
    Outcome publishAll(const graph::Expr& expr, std::vector<Value> values);
    base::Error described(base::Error error, const Step& step, const graph::Expr& expr);
    std::uint64_t seedOf(const Step& step);

    const PlanImpl& m_plan;
    const InternalGraph& m_graph;
    const base::WorkContext& m_work;
    const RunOptions& m_options;
    RunTrace* m_trace = nullptr;  ///< takes down steps and memory
    ops::RunEnvironment& m_environment;
    RunMemory& m_memory;
    FileCheck& m_files;
    std::vector<Value> m_values;    ///< by source node
    std::vector<bool> m_isMissing;  ///< by source node: an operation that is only watched failed before it
    std::optional<Census> m_census;
    Failure m_failure;                           ///< the last one
    std::unordered_map<NodeId, Value> m_keptAs;  ///< by source node: what is kept instead of the value
    struct Call {
        ExprId expr;
        std::int64_t startNs;
    };
    std::vector<Call> m_calls;                          ///< entered and not left, outermost first
    const std::string* m_title = nullptr;               ///< of the step of the main body that the run is in
    std::vector<std::int64_t> m_passes;                 ///< of the loops that are running, outermost first
    std::unordered_map<ExprId, std::uint64_t> m_draws;  ///< how often steps that draw random numbers have run
    Recording m_recording;
    std::size_t m_endsLeft = 0;
    std::vector<Value> m_known;                        ///< see isKnown
    std::vector<std::pair<NodeId, Value>> m_handedOn;  ///< watched names of given values
    std::vector<bool> m_fused;  ///< by expr: done by the kernel of the step that it is fused to, the last time that ran
    std::int64_t m_startNs = 0;
};

}  // namespace sonde::exec
