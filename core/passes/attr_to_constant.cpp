#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"

namespace sonde::passes {

base::Result<std::size_t> attrToConstant(Rewrite& rewrite) {
    InternalGraph& graph = rewrite.graph();
    const SharedMemory memory(graph);
    std::size_t count = 0;
    for (ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.kind != ExprKind::GetAttr || expr.outputs.size() != 1) continue;
        const auto& constant = graph.node(rewrite.output(id)).constant;
        // By their names all reads of an attribute are one tensor: a write is seen by all.
        if (!constant || !constant->isTensor() || memory.isWritten(rewrite.output(id))) continue;
        graph.mutableExpr(id).kind = ExprKind::Constant;
        rewrite.say(rewrite.output(id), "the attribute " + expr.target + " is now a constant");
        ++count;
    }
    return count;
}

}  // namespace sonde::passes
