#include "core/session/debug/plan_size.h"

#include <optional>
#include <vector>

#include "core/exec/flatten.h"

namespace sonde::session::debug {

namespace {

using graph::Expr;
using graph::ExprId;

std::optional<std::size_t> leavesOf(const graph::InternalGraph& graph, const std::vector<ExprId>& steps, bool isMain) {
    std::size_t count = 0;
    for (const ExprId id : steps) {
        const Expr& expr = graph.expr(id);
        if (expr.bodies.empty()) {
            const bool isOutside =
                expr.kind == graph::ExprKind::Input || (expr.kind == graph::ExprKind::Output && !isMain);
            const bool isStep = !isOutside && !expr.outputs.empty() && !graph.node(expr.outputs.front()).constant;
            count += isStep ? 1 : 0;
            continue;
        }
        if (!exec::isCall(expr) || expr.bodies.size() != 1) return std::nullopt;
        const auto inside = leavesOf(graph, graph.body(expr.bodies.front()).order, false);
        if (!inside) return std::nullopt;
        count += *inside;
    }
    return count;
}

}  // namespace

std::size_t operationCount(const exec::Plan& plan) { return leavesOf(plan.graph(), plan.steps(), true).value_or(0); }

}  // namespace sonde::session::debug
