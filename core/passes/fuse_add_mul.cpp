// (x + a) + b -> x + (a + b), (x * a) * b -> x * (a * b) with neg(x) as x * -1; x + 0 and x * 1 are x. Scalars only.

#include <cmath>

#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// node + scalar or node * scalar.
struct Term {
    OpClass opClass = OpClass::Other;  ///< Add or Mul
    NodeId node;
    double scalar = 0;
    bool wholeNumber = false;
    bool mayBroadcast = false;  ///< the scalar has shape (1,)
    bool isNeg = false;
};

std::optional<Term> termOf(const InternalGraph& graph, const Expr& expr) {
    if (mutates(expr) || expr.outputs.size() != 1) return std::nullopt;
    const OpClass opClass = opClassOf(expr);
    if (opClass == OpClass::Neg && !expr.inputs.empty())
        return Term{OpClass::Mul, expr.inputs.front(), -1, true, false, true};
    if (opClass != OpClass::Add && opClass != OpClass::Mul) return std::nullopt;
    const auto operation = scalarOperation(graph, expr);
    if (!operation || operation->scalarFirst) return std::nullopt;
    if (familyOf(expr) == Family::Onnx && !tensor::isFloating(dtypeOf(graph, operation->node))) return std::nullopt;
    Term term{opClass, operation->node, operation->scalar, operation->wholeNumber, false, false};
    if (operation->isTensor) {
        const Tensor& constant = constantOf(graph, argumentOf(expr, 1, "other"))->tensor();
        term.wholeNumber = !tensor::isFloating(constant.dtype());
        term.mayBroadcast = constant.rank() > 0;
    }
    return term;
}

bool isNeutral(const Term& term) { return term.scalar == (term.opClass == OpClass::Add ? 0 : 1); }

/// x + 0 is x itself only if the sum has x's dtype and shape.
bool mayVanish(const InternalGraph& graph, const Term& term) {
    if (!term.wholeNumber && !tensor::isFloating(dtypeOf(graph, term.node))) return false;
    const auto& shape = graph.node(term.node).type.shape;
    return !term.mayBroadcast || (shape && !shape->empty());
}

/// A number that both a double and an int hold.
bool fits(const Term& term) {
    return std::isfinite(term.scalar) && (!term.wholeNumber || std::abs(term.scalar) < 9e15);
}

bool apply(Rewrite& rewrite, const SharedMemory& memory, ExprId id) {
    InternalGraph& graph = rewrite.graph();
    if (memory.readsWrittenConstant(graph, graph.expr(id))) return false;
    const auto outer = termOf(graph, graph.expr(id));
    if (!outer) return false;
    const NodeId result = rewrite.output(id);
    const auto vanish = [&](NodeId node, const std::string& why) {
        const std::vector<NodeId> inputs = graph.expr(id).inputs;
        rewrite.replace(result, node, why);
        rewrite.erase(id, why);
        for (NodeId input : inputs) rewrite.eraseIfUnusedConstant(input, why);
    };
    const auto eraseInner = [&](ExprId inner) {
        const NodeId output = rewrite.output(inner);
        if (!graph.node(output).users.empty() || rewrite.isResult(output)) return;
        const std::vector<NodeId> inputs = graph.expr(inner).inputs;
        rewrite.erase(inner, "its constant was folded into the next one");
        for (NodeId input : inputs) rewrite.eraseIfUnusedConstant(input, "was folded into another constant");
    };
    // What takes the place of a value shares its memory: neither may be written.
    const auto isApart = [&](NodeId node) { return !memory.isWritten(node) && !memory.isWritten(result); };
    if (isNeutral(*outer) && mayVanish(graph, *outer) && isApart(outer->node)) {
        vanish(outer->node, outer->opClass == OpClass::Add ? "x + 0 is x" : "x * 1 is x");
        return true;
    }
    const ExprId inner = graph.node(outer->node).producer;
    const auto first = termOf(graph, graph.expr(inner));
    if (!first || first->opClass != outer->opClass || graph.expr(inner).body != graph.expr(id).body) return false;
    const bool isStale = memory.readsWrittenConstant(graph, graph.expr(inner)) ||
                         memory.isWrittenBetween(outer->node, inner, id) ||
                         memory.isWrittenBetween(first->node, inner, id);
    if (isStale) return false;
    Term sum = *first;
    sum.scalar = sum.opClass == OpClass::Add ? first->scalar + outer->scalar : first->scalar * outer->scalar;
    sum.wholeNumber = first->wholeNumber && outer->wholeNumber;
    sum.mayBroadcast = first->mayBroadcast || outer->mayBroadcast;
    if (!fits(sum)) return false;
    const bool both = first->isNeg && outer->isNeg;
    const std::string why = both                          ? "neg(neg(x)) is x"
                            : sum.opClass == OpClass::Add ? "two consecutive additions of scalars"
                                                          : "two consecutive multiplications by scalars";
    if (isNeutral(sum) && mayVanish(graph, sum) && isApart(first->node)) {
        vanish(first->node, why + (both ? "" : ", and cancel out"));
        eraseInner(inner);
        return true;
    }
    // The vocabulary is that of an operation with a constant; neg has none.
    const Expr like = graph.expr(outer->isNeg ? inner : id);
    const std::string name = graph.node(outer->isNeg ? rewrite.output(inner) : result).name;
    Argument operand = scalarOperand(rewrite, id, sum.scalar, sum.wholeNumber, dtypeOf(graph, first->node), why);
    const ExprId made =
        rewrite.insertBefore(id, makeArithmetic(like, sum.opClass, first->node, std::move(operand)), name, why);
    const NodeId renewed = rewrite.output(made);
    graph.setType(renewed, graph.node(result).type);
    rewrite.addOrigins(made, inner);
    rewrite.addOrigins(made, id);
    vanish(renewed, why);
    eraseInner(inner);
    // The name of what it stands for is free now.
    if (!graph.findNode(name).valid()) (void)graph.rename(renewed, name);
    return true;
}

}  // namespace

base::Result<std::size_t> fuseAddMul(Rewrite& rewrite) {
    const SharedMemory memory(rewrite.graph());
    std::size_t count = 0;
    for (BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (ExprId id : order) {
            if (!rewrite.graph().isErased(id) && apply(rewrite, memory, id)) ++count;
        }
    }
    return count;
}

}  // namespace sonde::passes
