// Of the debugger: going on to a node.

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/exec/plan_impl.h"
#include "core/session/debug/missed_node.h"
#include "core/session/debugger.h"

namespace sonde::session {

using debug::ItemId;
using debug::kNoItem;
using debug::Target;
using graph::ExprId;
using graph::NodeId;

namespace {

/// What a body belongs to: a branch, a loop or a call; none of the main body.
ExprId ownerOfBody(const graph::InternalGraph& graph, ExprId expr) { return graph.body(graph.expr(expr).body).owner; }

bool isLoopExpr(const graph::Expr& expr) { return !exec::isCall(expr) && expr.bodies.size() == 1; }

bool isInLoop(const graph::InternalGraph& graph, ExprId expr) {
    for (ExprId owner = ownerOfBody(graph, expr); owner.valid(); owner = ownerOfBody(graph, owner))
        if (isLoopExpr(graph.expr(owner))) return true;
    return false;
}

/// Whether a run computes it, if it comes to it.
bool isPlanned(const exec::Plan& plan, const graph::Expr& expr) {
    const std::vector<exec::Step>& steps = plan.impl().bodies[expr.body.index()].steps;
    return std::ranges::find(steps, expr.id, &exec::Step::expr) != steps.end();
}

}  // namespace

std::string debug::whyMissed(const Debugger& debugger, NodeId node) {
    if (!debugger.hasBegun() || debugger.isRunning() || !debugger.place().isEnd) return {};
    const graph::InternalGraph& graph = debugger.run()->graph();
    const debug::Trace& trace = debugger.run()->trace();
    const ExprId expr = graph.node(node).producer;
    const std::string name = "'" + graph.node(node).name + "'";
    if (trace.times(expr) > 0) return name + " is not computed again before the run ends";
    for (ExprId owner = ownerOfBody(graph, expr); owner.valid(); owner = ownerOfBody(graph, owner)) {
        if (exec::isCall(graph.expr(owner)) || trace.times(owner) == 0) continue;
        const std::string of = "'" + graph.node(graph.expr(owner).outputs.front()).name + "'";
        return isLoopExpr(graph.expr(owner)) ? name + " was not computed: the loop " + of + " did not come to it"
                                             : name + " was not computed: " + of + " took another branch";
    }
    const bool hasEnds = !debugger.run()->plan().options().end.empty();
    return name + " was not computed: the run ended " + (hasEnds ? "at its end points" : "before it");
}

base::Result<void> Debugger::runTo(NodeId node, Direction direction) {
    if (!m_document) return base::usageError("no model is open");
    if (isRunning()) return base::usageError("the run goes on", {}, "pause it first");
    const graph::InternalGraph& graph = *m_document->graph;
    const graph::Expr& expr = graph.expr(graph.node(node).producer);
    const std::string& name = graph.node(node).name;
    if (expr.kind == graph::ExprKind::Input || graph.node(node).constant)
        return base::usageError("'" + name + "' is there before the run begins: no operation computes it");
    const Target target{Target::Kind::Node, expr.id, kNoItem};
    // What no result needs is computed by a run that is begun for it.
    if (direction == Direction::Forward && (!m_run || !isPlanned(m_run->plan(), expr)))
        return begin([=, this] {
            if (!isPlanned(m_run->plan(), m_document->graph->expr(target.expr))) {
                m_options.watch.push_back(node);
                auto run = makeRun(m_edits.planned(), nullptr);
                if (!run) return fail(std::move(run).error());
                m_run = m_base = std::move(*run);
            }
            go(target, direction);
        });
    // What has ended is looked at from its start.
    const bool hasEnded = m_state == DebugState::Finished || m_state == DebugState::Failed;
    if (m_run && hasEnded && direction == Direction::Forward) m_place = {};
    if (m_run && m_run->trace().size() > 0) {
        const auto last = static_cast<ItemId>(m_run->trace().size() - 1);
        const ItemId here = m_place.isEnd ? last + 1 : m_place.item == kNoItem ? 0 : m_place.item;
        const bool wasPassed =
            m_place.item != kNoItem || m_place.isEnd ? m_run->trace().lastOf(expr.id, here) != kNoItem : false;
        if (direction == Direction::Back && (here == 0 || m_run->trace().lastOf(expr.id, here - 1) == kNoItem))
            return base::usageError("'" + name + "' was not computed before");
        if (direction == Direction::Forward && wasPassed && !isInLoop(graph, expr.id))
            return base::usageError("the run is at or behind '" + name + "' already", {}, "go back to it");
    } else if (direction == Direction::Back) {
        return base::usageError("'" + name + "' was not computed before");
    }
    go(target, direction);
    return {};
}

}  // namespace sonde::session
