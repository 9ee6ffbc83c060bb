#include "core/graph/scope_output.h"

namespace sonde::graph {

NodeId outputOfScope(const InternalGraph& graph, ScopeId scope, const std::vector<ExprId>& order) {
    NodeId last;
    NodeId leaving;
    for (ExprId id : order) {
        const Expr& expr = graph.expr(id);
        if (expr.isParameter || !graph.encloses(scope, expr.scope)) continue;
        for (NodeId output : expr.outputs) {
            if (expr.kind != ExprKind::Constant) last = output;
            for (ExprId user : graph.node(output).users) {
                if (!graph.encloses(scope, graph.expr(user).scope)) leaving = output;
            }
            for (NodeId result : graph.outputs()) {
                if (result == output) leaving = output;
            }
        }
    }
    return leaving.valid() ? leaving : last;
}

}  // namespace sonde::graph
