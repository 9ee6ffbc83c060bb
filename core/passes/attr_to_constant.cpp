#include "core/passes/all_passes.h"

namespace sonde::passes {

base::Result<std::size_t> attrToConstant(Rewrite& rewrite) {
    InternalGraph& graph = rewrite.graph();
    std::size_t count = 0;
    for (ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.kind != ExprKind::GetAttr || expr.outputs.size() != 1) continue;
        const auto& constant = graph.node(rewrite.output(id)).constant;
        if (!constant || !constant->isTensor()) continue;
        graph.mutableExpr(id).kind = ExprKind::Constant;
        rewrite.say(rewrite.output(id), "the attribute " + expr.target + " became a constant");
        ++count;
    }
    return count;
}

}  // namespace sonde::passes
