#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/base/thread_pool.h"
#include "core/graph/internal_graph.h"
#include "core/ops/registry/registry.h"

namespace sonde::exec {

using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

/// What a run is for. Watch and end points are sets of nodes; only what they and the outputs need is computed.
struct PlanOptions {
    std::vector<NodeId> watch;  ///< keep these nodes' values
    std::vector<NodeId> end;    ///< stop as soon as all of these are computed; empty: run to the outputs
    bool watchAll = false;      ///< keep every node's value
    bool exact = false;         ///< see ops::RunEnvironment::exact
};

/// What to compute, in which order, where each value lives and what is kept. Made once for (graph, watch set, end set)
/// and then run any number of times; immutable and thread-safe.
class Plan {
  public:
    /// Never fails for an unknown operator: that expr is in the plan and fails when it is reached.
    static base::Result<std::shared_ptr<const Plan>> make(std::shared_ptr<const InternalGraph> graph,
                                                          PlanOptions options,
                                                          const ops::Registry& registry = ops::Registry::all());
    ~Plan();

    const InternalGraph& graph() const;
    const std::shared_ptr<const InternalGraph>& sharedGraph() const;
    const PlanOptions& options() const;
    /// Exprs of the main body that will run, in order.
    const std::vector<ExprId>& steps() const;
    /// Operators that the plan needs and the registry lacks: one line each, all of them.
    const std::vector<std::string>& missingOperators() const;

    struct Impl;
    const Impl& impl() const { return *m_impl; }

  private:
    Plan();
    std::unique_ptr<Impl> m_impl;
};

enum class ExprState : std::uint8_t { NotReached, Done, Failed };

/// NaN and infinite elements of a node's value; inside loops of all iterations together.
struct BadValues {
    std::int64_t nan = 0;
    std::int64_t inf = 0;
    bool isOrigin = false;  ///< at least once everything that it was computed from was finite (weights aside), or an
                            ///< input of the model
};

/// An operation that could not be done.
struct Failure {
    ExprId expr;  ///< the innermost one
    base::Error error;
    std::vector<std::string> inputTypes;  ///< of its arguments, in order: "float32[1,3,224,224]"
};

/// What happened in one run. Also what is left after a failed or cancelled one: everything computed so far is there.
class Recording {
  public:
    /// The kept value: of the last time the node was computed, or of one pass of the loop that it is in.
    const Value* value(NodeId node) const;
    const Value* value(NodeId node, std::size_t iteration) const;
    std::size_t iterations(NodeId node) const;  ///< how many values were kept: 0 if none, more than 1 inside loops
    /// Passes of the loops around the node in which its kept value was made, outermost loop first and from 0: {2, 0}.
    /// Empty outside loops. A node in a branch may have been skipped in some passes.
    std::vector<std::int64_t> passOf(NodeId node, std::size_t iteration) const;
    std::string passText(NodeId node, std::size_t iteration) const;  ///< "2.0"; empty outside loops
    /// The iteration whose passText is `text`, if there is one.
    std::optional<std::size_t> iterationOf(NodeId node, std::string_view text) const;
    /// Branches that an expr with several bodies took, as indices into Expr::bodies, one for each time it ran.
    const std::vector<std::size_t>& branches(ExprId expr) const;
    bool computed(NodeId node) const;  ///< computed in this run, kept or not
    ExprState state(ExprId expr) const;
    /// The expr whose kernel did this one's work too, piece by piece while its own result was in the cache: that one's
    /// time contains this one's, which is 0 here. Of a call: the expr that did all of its steps. None otherwise, and
    /// never while somebody observes the run.
    ExprId doneWith(const InternalGraph& graph, ExprId expr) const;
    /// Sum over all times the expr ran; 0 if it did not, or if it was done with another one. Calls contain their steps.
    std::int64_t elapsedNs(ExprId expr) const;
    std::int64_t startNs(ExprId expr) const;  ///< of the first time, from the run's start

    /// Why an operation failed, whether it ended the run or not; null if it did not fail.
    const Failure* failure(ExprId expr) const;

    std::vector<Value> outputs;  ///< graph outputs, or the end points' values in the order given
    std::int64_t totalNs = 0;
    std::optional<base::Error> error;  ///< why it stopped early
    ExprId failedAt;                   ///< of the main body: the operation itself, or the one that it is inside of

    // Filled by the runner.
    std::unordered_map<NodeId, std::vector<Value>> kept;
    std::unordered_map<NodeId, std::vector<std::vector<std::int64_t>>>
        keptPasses;  ///< of nodes in loops: one per kept value
    std::unordered_map<ExprId, std::vector<std::size_t>> branchesTaken;
    std::vector<ExprState> states;      ///< by expr
    std::vector<std::int64_t> elapsed;  ///< by expr
    std::vector<std::int64_t> started;  ///< by expr
    std::vector<bool> computedNodes;    ///< by node
    std::vector<ExprId> joinedTo;       ///< by expr: done by this one's kernel
    /// The one that ended the run first, if an operation did; then those that only watch points asked for: the run went
    /// on without their values. `failedAt` is the operation of the main body around the first.
    std::vector<Failure> failures;
    std::unordered_map<NodeId, BadValues> bad;  ///< nodes whose values have NaN or infinite elements
};

/// Told about a run while it goes on, on the running thread. The values are only valid during the call.
class RunObserver {
  public:
    virtual ~RunObserver() = default;
    virtual void exprStarted(ExprId) {}
    /// `outputs` in the order of the expr's outputs.
    virtual void exprFinished(ExprId, std::span<const Value> outputs, std::int64_t elapsedNs) {
        (void)outputs, (void)elapsedNs;
    }
    /// Asked before each expr of the main body; may block (stepping, pausing). False cancels the run.
    virtual bool mayContinue(ExprId) { return true; }
};

struct RunOptions {
    std::uint64_t seed = 0;
    RunObserver* observer = nullptr;
    bool countsBad = true;  ///< fill Recording::bad; false only to measure what that costs
};

/// Runs plans with one thread pool, and keeps memory between runs. One run at a time; not thread-safe.
class Runner {
  public:
    explicit Runner(std::size_t threads = 0);
    ~Runner();

    /// `inputs` in the order of graph().inputs(), already of the right kinds; none for an input that is not given (it
    /// fails only if something needs it). The error, if any, is inside the recording; it names the node, its qualname,
    /// the operator, and the types of its inputs.
    Recording run(const Plan& plan, std::span<const Value> inputs, const base::WorkContext& work = {},
                  const RunOptions& options = {});
    base::ThreadPool& pool();

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace sonde::exec
