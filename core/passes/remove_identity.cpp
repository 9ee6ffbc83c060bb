#include <algorithm>

#include "core/graph/memory.h"
#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// The node that an expr gives unchanged; invalid if it computes something.
NodeId passedOn(const InternalGraph& graph, ExprId id) {
    const Expr& outer = graph.expr(id);
    if (outer.outputs.empty() || outer.kind == ExprKind::Output) return {};
    // A module whose forward returns its input: nothing else stands in its body.
    if (outer.op.name.empty() && outer.bodies.size() == 1 && outer.outputs.size() == 1 && !outer.callable) {
        const graph::Body& body = graph.body(outer.bodies.front());
        const bool onlyInputs = std::all_of(body.order.begin(), body.order.end(), [&](ExprId each) {
            const ExprKind kind = graph.expr(each).kind;
            return kind == ExprKind::Input || kind == ExprKind::Constant || kind == ExprKind::GetAttr;
        });
        if (onlyInputs && body.result.kind == Argument::Kind::Node)
            return Step{id, ExprId{}, OpClass::Other}.outside(graph, body.result.node);
    }
    const Step step = stepOf(graph, id);
    const Expr& expr = graph.expr(step.inner);
    if (expr.arguments.empty() || expr.arguments[0].kind != Argument::Kind::Node || mutates(expr)) return {};
    const bool onnx = familyOf(expr) == Family::Onnx;
    if (step.opClass == OpClass::Dropout) {
        // A second output is the mask; a third input says that the model trains.
        if (expr.outputs.size() > 1 && !graph.node(expr.outputs[1]).users.empty()) return {};
        if (onnx && argumentOf(expr, 2) && boolOf(graph, argumentOf(expr, 2), true)) return {};
        if (!onnx && boolOf(graph, argumentOf(expr, 2, "train"), true)) return {};
    } else if (step.opClass != OpClass::Identity || expr.outputs.size() != 1) {
        return {};
    }
    return step.outside(graph, expr.arguments[0].node);
}

}  // namespace

base::Result<std::size_t> removeIdentity(Rewrite& rewrite) {
    InternalGraph& graph = rewrite.graph();
    const SharedMemory memory(graph);
    std::size_t count = 0;
    for (BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = graph.body(body).order;
        for (ExprId id : order) {
            if (graph.isErased(id)) continue;
            NodeId source = passedOn(graph, id);
            const Expr& expr = graph.expr(id);
            const bool isCopy = opClassOf(expr) == OpClass::Clone && !mutates(expr) && expr.arguments.size() == 1;
            if (!source.valid() && isCopy && expr.arguments[0].kind == Argument::Kind::Node)
                source = expr.arguments[0].node;
            if (!source.valid()) continue;
            const NodeId node = rewrite.output(id);
            // A copy is its original only where neither is written; others are the same memory anyway.
            const bool mayCopy = isCopy || graph::memoryEffect(graph, graph.expr(stepOf(graph, id).inner)).sharing ==
                                               graph::Sharing::MaybeView;
            if (mayCopy ? memory.isWritten(source) || memory.isWritten(node) : memory.isReformed(node)) continue;
            // An output that is an input or a weight needs an operation of its own in most formats.
            const ExprKind kind = rewrite.producer(source).kind;
            const bool isPlain = kind == ExprKind::Input || kind == ExprKind::Constant || kind == ExprKind::GetAttr;
            if (rewrite.isResult(node) && (isPlain || rewrite.isResult(source))) continue;
            const std::string why = "returns " + graph.node(source).name + " unchanged";
            rewrite.addOrigins(graph.node(source).producer, id);
            rewrite.replace(node, source, why);
            const std::vector<NodeId> inputs = expr.inputs;
            rewrite.erase(id, why);
            for (NodeId input : inputs) rewrite.eraseIfUnusedConstant(input, why);
            ++count;
        }
    }
    return count;
}

}  // namespace sonde::passes
