#include "core/session/node_ref.h"

#include "core/layout/outline.h"

namespace sonde::session {

using graph::NodeId;

NodeRef refOf(const graph::InternalGraph& graph, NodeId node) {
    return {graph.node(node).name, graph.expr(graph.node(node).producer).qualname.value_or("")};
}

NodeId findNode(const graph::InternalGraph& graph, const NodeRef& ref) {
    const NodeId byName = graph.findNode(ref.name);
    if (byName.valid()) return byName;
    NodeId last;
    if (ref.qualname.empty()) return last;
    for (const graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.qualname == ref.qualname && !expr.outputs.empty() && !layout::Outline::isConstant(expr))
            last = expr.outputs.front();
    }
    return last;
}

}  // namespace sonde::session
