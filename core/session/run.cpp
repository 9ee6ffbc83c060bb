#include "core/session/run.h"

#include <algorithm>
#include <utility>

#include "core/analysis/infer.h"
#include "core/session/own_code_check.h"

namespace sonde::session {

using graph::ExprId;
using graph::NodeId;

RunProgress LiveRun::progress() const {
    RunProgress progress;
    progress.current.value = m_current.load(std::memory_order_relaxed);
    progress.total = m_total.load(std::memory_order_relaxed);
    progress.done = m_done.load(std::memory_order_relaxed);
    if (progress.total > 0) progress.done = std::min(progress.done, progress.total);  // loops count more than once
    return progress;
}

exec::ExprState LiveRun::state(ExprId expr) const {
    if (expr.index() >= m_states.size()) return exec::ExprState::NotReached;
    return static_cast<exec::ExprState>(m_states[expr.index()].load(std::memory_order_relaxed));
}

void LiveRun::exprFinished(ExprId expr, std::span<const tensor::Value> outputs, std::int64_t) {
    m_seen.add(expr, outputs);
    m_contradictions.add(expr, outputs);
    m_states[expr.index()].store(static_cast<std::uint8_t>(exec::ExprState::Done), std::memory_order_relaxed);
    m_done.fetch_add(1, std::memory_order_relaxed);
}

const std::vector<NodeId>& Run::outputNodes() const {
    static const std::vector<NodeId> none;
    if (!plan || !recording) return none;
    return plan->options().end.empty() ? plan->graph().outputs() : plan->options().end;
}

RunState Run::state() const {
    if (!error) return recording ? RunState::Finished : RunState::NotRun;
    return error->kind == base::ErrorKind::Cancelled ? RunState::Cancelled : RunState::Failed;
}

std::size_t Run::ranCount() const {
    if (!plan || !recording) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(
        plan->steps(), [this](ExprId id) { return recording->state(id) == exec::ExprState::Done; }));
}

namespace {

/// Whether the inputs say more of dim sizes than the graph does.
bool saysMore(const graph::InternalGraph& graph, const std::vector<tensor::TypeInfo>& inputs) {
    for (std::size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
        const tensor::TypeInfo& declared = graph.node(graph.inputs()[i]).type;
        if (inputs[i].isTensor() && declared.staticShape() != inputs[i].staticShape()) return true;
    }
    return false;
}

/// Types for the inputs and for what the run has shown; those known before, if they say all of it.
RunTypes typesOf(const RunTask& task) {
    RunTypes types;
    for (const tensor::Value& input : task.inputs) types.inputs.push_back(tensor::TypeInfo::of(input));
    const auto seen = task.live->seen().types();
    const graph::InternalGraph& known = task.known.graph ? *task.known.graph : *task.graph;
    const bool isKnown = std::ranges::all_of(
        seen, [&](const auto& entry) { return analysis::agree(known.node(entry.first).type, entry.second); });
    if (types.inputs == task.known.inputs && isKnown) types.graph = task.known.graph;
    else if (!seen.empty() || saysMore(*task.graph, types.inputs))
        types.graph = std::make_shared<const graph::InternalGraph>(analysis::typedFor(*task.graph, task.inputs, seen));
    return types;
}

exec::Recording record(const RunTask& task, const exec::Plan& plan, const base::WorkContext& work,
                       WatchedValues& watched) {
    WatchKeeper keeper(task.policy, task.keeps, work.stop);
    exec::RunOptions options;
    options.seed = task.settings.seed;
    options.observer = task.live.get();
    options.mayKeep = [&keeper](NodeId node, const tensor::Value& value) { return keeper.keep(node, value); };
    exec::Recording recording;
    for (std::size_t i = 0; i < std::max<std::size_t>(task.settings.repeat, 1); ++i) {
        keeper.begin();
        recording = task.runner->run(plan, task.inputs, work, options);
        if (recording.error) break;
    }
    watched = keeper.take();
    return recording;
}

}  // namespace

RunResult doRun(const RunTask& task, const base::WorkContext& work) {
    RunResult result;
    result.run.inputs = task.inputs;
    result.run.plan = task.plan;
    result.run.threads = task.runner->pool().threads();
    if (!result.run.plan) {
        auto plan = exec::Plan::make(task.graph, task.points);
        if (!plan) {
            result.run.error = std::move(plan).error();
            return result;
        }
        result.run.plan = std::move(*plan);
    }
    if (task.live) {
        task.live->setTotal(result.run.plan->steps().size());
        task.live->contradictions().bindInputs(task.inputs);
    }
    auto recording = std::make_shared<const exec::Recording>(record(task, *result.run.plan, work, result.watched));
    result.run.summaries = std::exchange(result.watched.summaries, {});
    result.run.error = recording->error;
    if (task.ownCode && !result.run.error && result.run.plan->options().end.empty()) {
        OwnCodeCheck check = checkWithOwnCode(task.ownCode, task.inputs, recording->outputs, work);
        result.run.error = std::move(check.error);
        result.run.doubt = std::move(check.doubt);
        if (result.run.error) return result;  // values of a wrong graph are not shown
    }
    if (task.live) result.types = typesOf(task);
    result.problems = RunProblems::of(*task.graph, *recording, task.accepted,
                                      task.live ? task.live->contradictions().types() : analysis::ContradictingTypes());
    result.run.recording = std::move(recording);
    return result;
}

}  // namespace sonde::session
