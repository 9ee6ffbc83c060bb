#include <limits>

#include "core/passes/all_passes.h"
#include "core/passes/inplace.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// Start and end of a slice that leaves nothing out.
bool isBound(const Argument& argument, std::int64_t neutral) {
    if (argument.kind == Argument::Kind::Omitted) return true;
    if (argument.kind != Argument::Kind::Constant) return false;
    const Value& value = argument.constant;
    return value.isNone() || (value.kind() == tensor::ValueKind::Int && value.toInt() == neutral);
}

bool takesEverything(const Expr& expr) {
    if (expr.op.domain != "aten" || baseName(expr) != "slice" || expr.arguments.size() != 4 || !expr.keywords.empty()) return false;
    return isBound(expr.arguments[2], 0) && isBound(expr.arguments[3], std::numeric_limits<std::int64_t>::max());
}

/// `copy_(a, b)` that overwrites all of `a`, which nobody reads any more: the result is `b`.
bool isWholeCopy(const Rewrite& rewrite, const Expr& expr) {
    if (expr.op.domain != "aten" || baseName(expr) != "copy_" || expr.arguments.size() != 2 || !expr.keywords.empty()) return false;
    if (expr.arguments[0].kind != Argument::Kind::Node || expr.arguments[1].kind != Argument::Kind::Node) return false;
    const InternalGraph& graph = rewrite.graph();
    const NodeId result = rewrite.output(expr.id);
    if (graph.node(result).users.empty() && !rewrite.isResult(result)) return false;
    const auto& a = graph.node(expr.arguments[0].node).type;
    const auto& b = graph.node(expr.arguments[1].node).type;
    const auto shapeA = a.staticShape();
    const auto shapeB = b.staticShape();
    if (!shapeA || !shapeB || *shapeA != *shapeB) return false;
    if (a.dtype != tensor::DType::Undefined && b.dtype != tensor::DType::Undefined && a.dtype != b.dtype) return false;
    // Nobody may read `a`, or what it is a part of, behind the copy.
    for (NodeId target = expr.arguments[0].node;;) {
        if (rewrite.isReadBehind(target, expr.id)) return false;
        const Expr& producer = rewrite.producer(target);
        if (!makesView(producer) || producer.arguments.empty() || producer.arguments[0].kind != Argument::Kind::Node) break;
        target = producer.arguments[0].node;
    }
    // A later write to the result must not reach `b`.
    for (ExprId user : graph.node(result).users) {
        if (mutates(graph.expr(user)) || makesView(graph.expr(user))) return false;
    }
    return true;
}

}  // namespace

std::size_t removeUnnecessarySlices(Rewrite& rewrite) {
    std::size_t count = 0;
    for (BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (ExprId id : order) {
            const Expr& expr = rewrite.graph().expr(id);
            if (!takesEverything(expr) || expr.arguments[0].kind != Argument::Kind::Node) continue;
            const std::string why = "the slice takes everything";
            rewrite.replace(rewrite.output(id), expr.arguments[0].node, why);
            rewrite.erase(id, why);
            ++count;
        }
        for (std::size_t i = order.size(); i-- > 0;) {
            if (rewrite.graph().isErased(order[i]) || !isWholeCopy(rewrite, rewrite.graph().expr(order[i]))) continue;
            const std::string why = "the copy overwrites the whole tensor: its value is what was copied";
            rewrite.replace(rewrite.output(order[i]), rewrite.graph().expr(order[i]).arguments[1].node, why);
            rewrite.erase(order[i], why);
            ++count;
        }
    }
    return count;
}

std::size_t removeUnnecessarySlices(InternalGraph& graph) {
    Notes notes;
    Rewrite rewrite(graph, notes);
    return removeUnnecessarySlices(rewrite);
}

base::Result<std::size_t> removeUnnecessarySlicesPass(Rewrite& rewrite) { return removeUnnecessarySlices(rewrite); }

}  // namespace sonde::passes
