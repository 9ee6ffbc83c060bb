#include <algorithm>

#include "core/passes/all_passes.h"
#include "core/passes/opaque.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// Has an effect beside its value, or belongs to the form of the graph.
bool mustStay(const Expr& expr) {
    if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || expr.outputs.empty()) return true;
    const OpClass opClass = opClassOf(expr);
    return mutates(expr) || opClass == OpClass::Assertion;
}

}  // namespace

base::Result<std::size_t> removeDeadCode(Rewrite& rewrite) {
    InternalGraph& graph = rewrite.graph();
    const SharedMemory memory(graph);
    std::size_t count = 0;
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    // Backward: what only dead code reads is dead.
    for (std::size_t i = order.size(); i-- > 0;) {
        if (graph.isErased(order[i])) continue;
        const Expr& expr = graph.expr(order[i]);
        if (mustStay(expr)) continue;
        // An operation that holds a check, or a write to what is known outside of it, stays whole; and so does a call
        // of which nobody knows what it does.
        const auto holdsEffect = [&] {
            return isOpaque(expr) ||
                   std::any_of(expr.bodies.begin(), expr.bodies.end(),
                               [&](BodyId body) {
                                   const std::vector<ExprId> inner = graph.recursiveOrder(body);
                                   return std::any_of(inner.begin(), inner.end(), [&](ExprId id) {
                                       return opClassOf(graph.expr(id)) == OpClass::Assertion ||
                                              isOpaque(graph.expr(id));
                                   });
                               }) ||
                   memory.writesOutside(graph, expr);
        };
        const bool isRead = std::any_of(expr.outputs.begin(), expr.outputs.end(), [&](NodeId node) {
            return !graph.node(node).users.empty() || rewrite.isResult(node);
        });
        if (isRead || holdsEffect()) continue;
        rewrite.erase(order[i], "no output depends on it");
        ++count;
    }
    return count;
}

}  // namespace sonde::passes
