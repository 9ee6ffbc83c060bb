#include "core/graph/operation_count.h"

#include <algorithm>

namespace sonde::graph {

bool isOperation(const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::Input:
        case ExprKind::Output:
        case ExprKind::Constant:
        case ExprKind::GetAttr: return false;
        case ExprKind::CallModule: return expr.bodies.empty();
        default: return true;
    }
}

std::size_t operationCount(const InternalGraph& graph) {
    return static_cast<std::size_t>(std::ranges::count_if(graph.recursiveOrder(graph.mainId()),
                                                          [&graph](ExprId id) { return isOperation(graph.expr(id)); }));
}

}  // namespace sonde::graph
