#include "core/session/precision/bisect_target.h"

#include <algorithm>

#include "core/analysis/injection.h"
#include "core/exec/flatten.h"
#include "core/ops/registry/registry.h"

namespace sonde::session::precision {

using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

PrecisionTarget::PrecisionTarget(analysis::BisectModel model, Simulation simulation, NumberType type,
                                 exec::Runner& runner)
    : m_model(std::move(model)), m_simulation(std::move(simulation)), m_type(type), m_runner(runner) {
    const InternalGraph& graph = *m_model.graph;
    m_sources = exec::valueSources(graph);
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        const bool isOperation = expr.kind != ExprKind::Input && expr.kind != ExprKind::Constant &&
                                 expr.kind != ExprKind::GetAttr && expr.kind != ExprKind::Output;
        if (!isOperation || exec::rowOf(graph, expr.body) != graph.mainId()) continue;
        for (const NodeId node : expr.outputs)
            if (m_sources[node.index()] == node) m_matched.push_back(node);
    }
}

base::Result<Value> PrecisionTarget::rounded(NodeId node, const Value& value, const base::WorkContext& work) const {
    if (!m_simulation.rounded.contains(node)) return value;
    const ops::OpDef* const op = ops::Registry::all().find("prim", "round_to", 0);
    ops::RunEnvironment environment{&m_runner.pool(), work.stop};
    SONDE_ASSIGN(std::vector<Value> made,
                 ops::call(*op, std::span(&value, 1), {{"type", std::string(name(m_type))}, {"axis", std::int64_t{-1}}},
                           1, environment));
    return std::move(made.front());
}

/// Whether the operation of a node computes as the model itself does, on the model's own values: what was rounded
/// before it is not its own error.
bool PrecisionTarget::roundsNothing(NodeId node, const Values& given) const {
    const Expr& expr = m_model.graph->expr(m_model.graph->node(node).producer);
    if (!expr.bodies.empty() || std::ranges::find(m_simulation.chosen, expr.id) != m_simulation.chosen.end())
        return false;
    return std::ranges::all_of(expr.inputs, [&](NodeId input) {
        const NodeId source = m_sources[input.index()];
        const ExprKind kind = m_model.graph->expr(m_model.graph->node(source).producer).kind;
        return m_model.graph->node(source).constant || kind == ExprKind::Input || given.contains(source);
    });
}

base::Result<analysis::BisectTarget::Values> PrecisionTarget::run(const Values& given, std::span<const NodeId> wanted,
                                                                  const base::WorkContext& work) {
    std::vector<NodeId> places;
    std::vector<Value> inputs = m_model.inputs;
    for (const auto& [node, value] : given) {
        places.push_back(m_simulation.readAs(node));
        SONDE_ASSIGN(Value there, rounded(node, value, work));
        inputs.push_back(std::move(there));
    }
    const auto graph = analysis::withInjected(m_simulation.graph, places);
    exec::PlanOptions options;
    for (const NodeId node : wanted) options.watch.push_back(m_simulation.readAs(node));
    SONDE_ASSIGN(const auto plan, exec::Plan::make(graph, options));
    exec::RunOptions how;
    how.seed = m_model.seed;
    const exec::Recording recording = m_runner.run(*plan, inputs, work, how);
    if (recording.error) return *recording.error;
    Values values;
    for (const NodeId node : wanted) {
        if (const auto same = given.find(node); same != given.end() && roundsNothing(node, given)) {
            values.emplace(node, same->second);
            continue;
        }
        const NodeId there = m_simulation.readAs(node);
        const auto& constant = graph->node(there).constant;
        if (const Value* const value = constant ? &*constant : recording.value(there)) values.emplace(node, *value);
    }
    return values;
}

}  // namespace sonde::session::precision
