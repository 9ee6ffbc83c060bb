#include "core/session/values.h"

#include <algorithm>

namespace sonde::session {

using graph::ExprId;
using graph::NodeId;
using tensor::Value;

const exec::Recording* Values::recordingOf(NodeId node) const {
    const auto& last = m_runs.last().recording;
    if (!last || !node.valid()) return nullptr;
    if (last->iterations(node) > 0) return last.get();
    // What was computed again may be of a run before the last.
    const auto again = m_recomputed.find(node);
    return again == m_recomputed.end() || m_recomputedOf.lock() != last ? nullptr : again->second.get();
}

const Value* Values::of(NodeId node) const {
    const auto& graph = m_runs.graph();
    // Who hears of a new model late may still ask for nodes of the last one.
    if (!graph || !node.valid() || node.index() >= graph->nodeCount() || m_runs.fileHasChanged()) return nullptr;
    if (const exec::Recording* const kept = recordingOf(node)) return kept->value(node);
    if (const auto& recording = m_runs.last().recording) {
        const std::vector<NodeId>& outputs = m_runs.last().outputNodes();
        for (std::size_t i = 0; i < outputs.size() && i < recording->outputs.size(); ++i)
            if (outputs[i] == node && recording->computed(node)) return &recording->outputs[i];
    }
    if (const auto& constant = graph->node(node).constant) return &*constant;
    const Input* const input = m_inputs.of(node);
    return input && input->value ? &*input->value : nullptr;
}

std::size_t Values::iterations(NodeId node) const {
    const exec::Recording* const kept = recordingOf(node);
    return kept ? kept->iterations(node) : 0;
}

const Value* Values::of(NodeId node, std::size_t iteration) const {
    const exec::Recording* const kept = m_runs.fileHasChanged() ? nullptr : recordingOf(node);
    return kept ? kept->value(node, iteration) : nullptr;
}

bool Values::isStale(NodeId node) const {
    const auto& graph = m_runs.graph();
    if (!graph || !node.valid() || node.index() >= graph->nodeCount() || graph->node(node).constant ||
        m_runs.staleReason().empty())
        return false;
    const Input* const given = m_inputs.of(node);
    if (!given) return true;
    const Value* const shown = of(node);
    return shown && given->value && !same(*shown, *given->value);
}

void Values::request(NodeId node) {
    const auto& recording = m_runs.last().recording;
    if (!recording || m_runs.isRunning() || of(node) || !recording->computed(node)) return;
    if (std::ranges::find(m_wanted, node) != m_wanted.end()) return;
    m_wanted.push_back(node);
    if (!m_executor.isActive(Activity::Recompute)) start();
}

namespace {

/// In a loop every iteration is wanted that the last run made: the run ends with the operation that the node is in, or
/// where the last one ended.
exec::PlanOptions pointsFor(const graph::InternalGraph& graph, const std::vector<NodeId>& wanted,
                            const std::vector<NodeId>& lastEnds) {
    exec::PlanOptions points;
    points.watch = wanted;
    for (const NodeId node : wanted) {
        const ExprId producer = graph.node(node).producer;
        ExprId at = producer;
        while (graph.expr(at).body != graph.mainId()) at = graph.body(graph.expr(at).body).owner;
        const std::vector<NodeId>& outputs = graph.expr(at).outputs;
        const std::vector<NodeId>& ends = lastEnds.empty() ? outputs : lastEnds;
        if (at == producer) points.end.push_back(node);
        else points.end.insert(points.end.end(), ends.begin(), ends.end());
    }
    return points;
}

}  // namespace

void Values::start() {
    const std::size_t threads = m_runs.settings().threads;
    if (!m_runner || m_runnerThreads != threads) m_runner = std::make_shared<exec::Runner>(threads);
    m_runnerThreads = threads;
    m_stop.renew();
    exec::RunOptions options;
    options.seed = m_runs.settings().seed;
    session::start(
        m_executor, Activity::Recompute, m_stop.token(),
        [last = m_runs.last().plan, isExact = m_runs.settings().exact, wanted = std::exchange(m_wanted, {}),
         inputs = m_runs.last().inputs, runner = m_runner, options](const base::WorkContext& work) {
            exec::PlanOptions points = pointsFor(last->graph(), wanted, last->options().end);
            points.exact = isExact;
            const auto plan = exec::Plan::make(last->sharedGraph(), std::move(points));
            if (!plan) return Recomputed{wanted, nullptr};
            exec::Recording recording = runner->run(**plan, inputs, work, options);
            recording.outputs.clear();
            recording.elapsed = recording.started = {};
            return Recomputed{wanted, std::make_shared<const exec::Recording>(std::move(recording))};
        },
        [this](const Recomputed& again) { adopt(again); });
}

void Values::adopt(const Recomputed& again) {
    if (!m_runs.checkFiles()) return;
    m_recomputedOf = m_runs.last().recording;
    std::vector<NodeId> arrived;
    for (const NodeId node : again.nodes)
        if (again.recording && again.recording->iterations(node) > 0) arrived.push_back(node);
    for (const NodeId node : arrived) m_recomputed[node] = again.recording;
    for (const NodeId node : arrived) m_observer.valueArrived(node);
    if (!m_wanted.empty() && !m_executor.isActive(Activity::Recompute)) start();
}

void Values::abandon() {
    m_executor.abandon(Activity::Recompute);
    m_wanted.clear();
}

void Values::forget() { m_recomputed.clear(); }

void Values::bind() {
    abandon();
    forget();
    m_executor.discard(std::exchange(m_runner, {}));
}

}  // namespace sonde::session
