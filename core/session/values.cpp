#include "core/session/values.h"

#include <algorithm>

namespace sonde::session {

using graph::ExprId;
using graph::NodeId;
using tensor::Value;

/// Null if it was not, or for a run before the last.
const std::vector<Value>* Values::recomputed(NodeId node) const {
    const auto found = m_recomputed.find(node);
    return found == m_recomputed.end() || m_recomputedOf.lock() != m_runs.last().recording ? nullptr : &found->second;
}

const Value* Values::of(NodeId node) const {
    const auto& graph = m_runs.graph();
    // Who hears of a new model late may still ask for nodes of the last one.
    if (!graph || !node.valid() || node.index() >= graph->nodeCount() || m_runs.fileHasChanged()) return nullptr;
    if (const auto& recording = m_runs.last().recording) {
        if (const Value* kept = recording->value(node)) return kept;
        if (const std::vector<Value>* again = recomputed(node)) return &again->back();
        const std::vector<NodeId>& outputs = m_runs.last().outputNodes();
        for (std::size_t i = 0; i < outputs.size() && i < recording->outputs.size(); ++i)
            if (outputs[i] == node && recording->computed(node)) return &recording->outputs[i];
    }
    if (const auto& constant = graph->node(node).constant) return &*constant;
    const Input* const input = m_inputs.of(node);
    return input && input->value ? &*input->value : nullptr;
}

std::size_t Values::iterations(NodeId node) const {
    const auto& recording = m_runs.last().recording;
    if (!recording || !node.valid()) return 0;
    if (const std::size_t kept = recording->iterations(node); kept > 0) return kept;
    const std::vector<Value>* const again = recomputed(node);
    return again ? again->size() : 0;
}

const Value* Values::of(NodeId node, std::size_t iteration) const {
    const auto& recording = m_runs.last().recording;
    if (!recording || !node.valid() || m_runs.fileHasChanged()) return nullptr;
    if (const Value* kept = recording->value(node, iteration)) return kept;
    const std::vector<Value>* const again = recomputed(node);
    return again && iteration < again->size() ? &(*again)[iteration] : nullptr;
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

/// In a loop every iteration is wanted: the run ends with the operation that the node is in.
exec::PlanOptions pointsFor(const graph::InternalGraph& graph, const std::vector<NodeId>& wanted) {
    exec::PlanOptions points;
    points.watch = wanted;
    for (const NodeId node : wanted) {
        const ExprId producer = graph.node(node).producer;
        ExprId at = producer;
        while (graph.expr(at).body != graph.mainId()) at = graph.body(graph.expr(at).body).owner;
        const std::vector<NodeId>& outputs = graph.expr(at).outputs;
        if (at == producer) points.end.push_back(node);
        else points.end.insert(points.end.end(), outputs.begin(), outputs.end());
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
        [graph = m_runs.last().plan->sharedGraph(), isExact = m_runs.settings().exact,
         wanted = std::exchange(m_wanted, {}), inputs = m_runs.last().inputs, runner = m_runner,
         options](const base::WorkContext& work) {
            exec::PlanOptions points = pointsFor(*graph, wanted);
            points.exact = isExact;
            Recomputed values;
            const auto plan = exec::Plan::make(graph, std::move(points));
            if (!plan) return values;
            exec::Recording recording = runner->run(**plan, inputs, work, options);
            for (const NodeId node : wanted)
                if (const auto found = recording.kept.find(node);
                    found != recording.kept.end() && !found->second.empty())
                    values.emplace_back(node, std::move(found->second));
            return values;
        },
        [this](Recomputed values) { adopt(std::move(values)); });
}

void Values::adopt(Recomputed values) {
    if (!m_runs.checkFiles()) return;
    m_recomputedOf = m_runs.last().recording;
    for (auto& [node, value] : values) m_recomputed[node] = std::move(value);
    for (const auto& [node, value] : values) m_observer.valueArrived(node);
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
