#include "core/exec/flatten.h"

namespace sonde::exec {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprKind;

namespace {

/// Calls that are nested deeper stay steps of their own.
constexpr int kMaxDepth = 200;

/// Of one that nothing is fused to.
Step copyOf(const Step& step, bool keepsReleases) {
    Step copy;
    copy.expr = step.expr;
    copy.kind = step.kind;
    copy.call = step.call;
    copy.hasEffect = step.hasEffect;
    copy.isOptional = step.isOptional;
    if (keepsReleases) copy.release = step.release;
    return copy;
}

void append(std::vector<Step>& row, const std::vector<BodyPlan>& bodies, BodyId body, const InternalGraph& graph,
            bool keepsReleases, int depth) {
    for (const Step& step : bodies[body.index()].steps) {
        if (step.kind != Step::Kind::Body || depth >= kMaxDepth) {
            row.push_back(copyOf(step, keepsReleases));
            continue;
        }
        row.push_back(copyOf(step, keepsReleases));
        row.back().kind = Step::Kind::Enter;
        append(row, bodies, graph.expr(step.expr).bodies.front(), graph, keepsReleases, depth + 1);
        row.push_back(copyOf(step, keepsReleases));
        row.back().kind = Step::Kind::Leave;
    }
}

}  // namespace

bool isCall(const Expr& expr) { return expr.op.name.empty() && !expr.bodies.empty() && expr.kind != ExprKind::Output; }

std::vector<NodeId> valueSources(const InternalGraph& graph) {
    std::vector<NodeId> next(graph.nodeCount());  // one step nearer to the source
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        if (graph.isErased(ExprId(i))) continue;
        const Expr& expr = graph.expr(ExprId(i));
        if (expr.kind == ExprKind::Output && !expr.outputs.empty() && !expr.arguments.empty() &&
            expr.arguments.front().kind == Argument::Kind::Node) {
            next[expr.outputs.front().index()] = expr.arguments.front().node;
        }
        if (!isCall(expr)) continue;
        const Body& body = graph.body(expr.bodies.front());
        for (std::size_t k = 0; k < body.inputs.size() && k < expr.inputs.size(); ++k)
            next[body.inputs[k].index()] = expr.inputs[k];
        if (expr.outputs.size() == 1) {
            if (body.result.kind == Argument::Kind::Node) next[expr.outputs.front().index()] = body.result.node;
        } else {
            for (std::size_t k = 0; k < expr.outputs.size() && k < body.outputs.size(); ++k)
                next[expr.outputs[k].index()] = body.outputs[k];
        }
    }
    std::vector<NodeId> sources(graph.nodeCount());
    for (std::size_t i = 0; i < sources.size(); ++i) {
        NodeId node(i);
        while (!graph.node(node).constant && next[node.index()].valid()) {
            node = next[node.index()];
            if (node.index() >= i) continue;
            node = sources[node.index()];  // long rows of calls that hand on are walked once
            break;
        }
        sources[i] = node;
    }
    return sources;
}

BodyId rowOf(const InternalGraph& graph, BodyId body) {
    for (;;) {
        const ExprId owner = graph.body(body).owner;
        if (!owner.valid() || !isCall(graph.expr(owner)) || graph.expr(owner).bodies.front() != body) return body;
        body = graph.expr(owner).body;
    }
}

std::vector<Step> flattened(const std::vector<BodyPlan>& bodies, BodyId body, const InternalGraph& graph,
                            bool keepsReleases) {
    std::vector<Step> row;
    row.reserve(bodies[body.index()].steps.size());
    append(row, bodies, body, graph, keepsReleases, 0);
    return row;
}

}  // namespace sonde::exec
