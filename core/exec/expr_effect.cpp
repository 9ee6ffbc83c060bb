#include "core/exec/expr_effect.h"

#include <algorithm>

#include "core/ops/registry/effects.h"

namespace sonde::exec {

bool hasEffect(const graph::InternalGraph& graph, graph::ExprId id) {
    const graph::Expr& expr = graph.expr(id);
    if (expr.kind == graph::ExprKind::Output) return false;
    if (expr.op.name.empty() && expr.bodies.empty()) return expr.callable != nullptr;
    if (!expr.op.name.empty()) {
        const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        if (op ? ops::hasEffect(*op) : ops::mayWriteUnknown(expr.op.domain, expr.op.name)) return true;
    }
    return std::ranges::any_of(expr.bodies, [&](graph::BodyId body) {
        return std::ranges::any_of(graph.body(body).order,
                                   [&](graph::ExprId inner) { return hasEffect(graph, inner); });
    });
}

}  // namespace sonde::exec
