#include "core/exec/replay.h"

#include <algorithm>
#include <set>

#include "core/exec/plan_impl.h"

namespace sonde::exec {

using graph::BodyId;
using graph::Expr;

namespace {

const Step* stepOf(const PlanImpl& plan, ExprId id) {
    const std::vector<Step>& steps = plan.bodies[plan.graph->expr(id).body.index()].steps;
    const auto found = std::ranges::find(steps, id, &Step::expr);
    return found == steps.end() ? nullptr : &*found;
}

/// Calls visit(step) for a step and for those of the bodies inside of it.
template <typename Visit>
void forEachStep(const PlanImpl& plan, const Step& step, const Visit& visit) {
    visit(step);
    for (const BodyId body : plan.graph->expr(step.expr).bodies)
        for (const Step& inner : plan.bodies[body.index()].steps) forEachStep(plan, inner, visit);
}

}  // namespace

/// `hasEffect` of a step is that of its bodies too, and the model's own code has one.
std::vector<bool> replayable(const Plan& plan) {
    std::vector<bool> can(plan.graph().exprCount(), false);
    for (const BodyPlan& body : plan.impl().bodies)
        for (const Step& step : body.steps)
            can[step.expr.index()] = step.kind == Step::Kind::Operator && !step.hasEffect;
    return can;
}

std::vector<NodeId> readsOf(const Plan& plan, ExprId expr) {
    const PlanImpl& impl = plan.impl();
    const InternalGraph& graph = *impl.graph;
    std::vector<NodeId> reads;
    const Step* const step = stepOf(impl, expr);
    if (!step) return reads;
    std::set<NodeId> made;
    forEachStep(impl, *step, [&](const Step& inner) {
        const Expr& e = graph.expr(inner.expr);
        reads.insert(reads.end(), e.inputs.begin(), e.inputs.end());
        for (const BodyId body : e.bodies) {
            const graph::Body& b = graph.body(body);
            reads.insert(reads.end(), b.outputs.begin(), b.outputs.end());
            made.insert(b.inputs.begin(), b.inputs.end());
        }
        impl.forEachOperand(e.outputs, [&](NodeId operand) { reads.push_back(operand); });
        if (inner.expr != expr) made.insert(e.outputs.begin(), e.outputs.end());
    });
    for (NodeId& node : reads) node = impl.source[node.index()];
    std::ranges::sort(reads);
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    std::erase_if(reads, [&](NodeId node) { return graph.node(node).constant || made.contains(node); });
    return reads;
}

std::vector<ExprId> drawsOf(const Plan& plan, ExprId expr) {
    std::vector<ExprId> draws;
    if (const Step* const step = stepOf(plan.impl(), expr))
        forEachStep(plan.impl(), *step, [&](const Step& inner) {
            if (inner.call->stream != 0) draws.push_back(inner.expr);
        });
    return draws;
}

}  // namespace sonde::exec
