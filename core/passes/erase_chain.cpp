#include <algorithm>

#include "core/passes/inplace.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

bool isUnused(const Rewrite& rewrite, const Expr& expr) {
    return std::all_of(expr.outputs.begin(), expr.outputs.end(), [&](NodeId node) {
        return rewrite.graph().node(node).users.empty() && !rewrite.isResult(node);
    });
}

/// Numbers do not keep anything alive.
bool isNumber(const Argument& argument) {
    return argument.kind == Argument::Kind::Omitted ||
           (argument.kind == Argument::Kind::Constant && (argument.constant.isNumber() || argument.constant.isNone()));
}

/// The node to go on with: the first argument, if the others are numbers.
NodeId nextOf(const Expr& expr) {
    if (expr.kind != ExprKind::CallFunction || expr.arguments.empty() || expr.arguments[0].kind != Argument::Kind::Node)
        return {};
    const bool plain =
        std::all_of(expr.arguments.begin() + 1, expr.arguments.end(), isNumber) &&
        std::all_of(expr.keywords.begin(), expr.keywords.end(), [](const auto& each) { return isNumber(each.second); });
    return plain ? expr.arguments[0].node : NodeId{};
}

}  // namespace

base::Result<std::size_t> eraseChain(Rewrite& rewrite, ExprId id) {
    const InternalGraph& graph = rewrite.graph();
    if (!isUnused(rewrite, graph.expr(id))) {
        return base::usageError("the node still has users", "node '" + graph.node(rewrite.output(id)).name + "'");
    }
    std::size_t count = 0;
    while (true) {
        const NodeId next = nextOf(graph.expr(id));
        rewrite.erase(id, count == 0 ? "unused" : "was used only by a removed node");
        ++count;
        if (!next.valid()) return count;
        const Expr& producer = rewrite.producer(next);
        // An input belongs to the program's signature, and a write may be seen elsewhere.
        if (producer.kind == ExprKind::Input || mutates(producer) || opClassOf(producer) == OpClass::Assertion ||
            holdsEffect(graph, producer))
            return count;
        if (!isUnused(rewrite, producer)) return count;
        id = producer.id;
    }
}

base::Result<std::size_t> graphEraseNode(InternalGraph& graph, NodeId node) {
    Notes notes;
    Rewrite rewrite(graph, notes);
    return eraseChain(rewrite, graph.node(node).producer);
}

}  // namespace sonde::passes
