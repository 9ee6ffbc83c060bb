#include <algorithm>
#include <limits>

#include "core/passes/all_passes.h"
#include "core/passes/inplace.h"
#include "core/passes/shared_memory.h"
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
    if (traitsOf(expr).form != ViewForm::Slice || expr.arguments.size() != 4 || !expr.keywords.empty()) return false;
    return isBound(expr.arguments[2], 0) && isBound(expr.arguments[3], std::numeric_limits<std::int64_t>::max());
}

/// Read behind an expr in its body, or by somebody outside of it.
bool isReadLater(const Rewrite& rewrite, NodeId node, ExprId id) {
    const InternalGraph& graph = rewrite.graph();
    const bool isHere = graph.expr(graph.node(node).producer).body == graph.expr(id).body;
    return isHere ? rewrite.isReadBehind(node, id) : !graph.node(node).users.empty() || rewrite.isResult(node);
}

/// `copy_(a, b)` that overwrites all of `a`, which nobody reads any more: the result is `b`.
bool isWholeCopy(const Rewrite& rewrite, const SharedMemory& memory, const Expr& expr) {
    if (opClassOf(expr) != OpClass::Copy || !traitsOf(expr).is(Trait::InPlace) || expr.arguments.size() != 2 ||
        !expr.keywords.empty())
        return false;
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
    // Nobody may read `a`, or what shares memory with it, behind the copy; and no later write to the result may reach
    // `b`, nor one to `b` the result.
    if (memory.isWrittenBehind(expr.arguments[0].node, expr.id) ||
        memory.isWrittenBehind(expr.arguments[1].node, expr.id))
        return false;
    const std::vector<NodeId> sharers = memory.sharers(expr.arguments[0].node);
    return std::ranges::none_of(sharers, [&](NodeId node) {
        return node != result && !graph.isErased(graph.node(node).producer) && isReadLater(rewrite, node, expr.id);
    });
}

}  // namespace

std::size_t removeUnnecessarySlices(Rewrite& rewrite) {
    const SharedMemory memory(rewrite.graph());
    std::size_t count = 0;
    for (BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (ExprId id : order) {
            const Expr& expr = rewrite.graph().expr(id);
            if (!takesEverything(expr) || expr.arguments[0].kind != Argument::Kind::Node) continue;
            if (memory.isReformed(rewrite.output(id))) continue;
            const std::string why = "the slice takes the whole tensor";
            rewrite.replace(rewrite.output(id), expr.arguments[0].node, why);
            rewrite.erase(id, why);
            ++count;
        }
        for (std::size_t i = order.size(); i-- > 0;) {
            if (rewrite.graph().isErased(order[i]) || !isWholeCopy(rewrite, memory, rewrite.graph().expr(order[i])))
                continue;
            const std::string why = "the copy overwrites the whole tensor";
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
