#include "core/trace/control_recorder.h"

#include <utility>

#include "core/trace/error.h"
#include "core/trace/recorder.h"

namespace sonde::trace {

using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;

namespace {

/// Branches and loops nest as deep as a model's source says.
constexpr std::size_t kMaxOpenBodies = 200;

}  // namespace

ExprId ControlRecorder::begin(std::string_view op, const std::vector<Var>& arguments) {
    if (m_recorder.bodies().size() > kMaxOpenBodies)
        throw TraceError(TraceErrorKind::Runtime, "branches and loops nest too deeply");
    Expr expr;
    expr.kind = ExprKind::CallFunction;
    expr.op = {"prim", std::string(op), 0};
    expr.target = "prim." + std::string(op);
    for (const Var& argument : arguments) expr.arguments.push_back(m_recorder.toArgument(argument));
    expr.qualname = m_recorder.place().module;
    expr.moduleClass = m_recorder.place().moduleClass;
    return m_recorder.addExpr(std::move(expr), op);
}

void ControlRecorder::enterBody(ExprId owner, std::string label) {
    graph::InternalGraph& graph = m_recorder.graph();
    const OpenBody& outer = m_recorder.bodies().top();
    std::string prefix = graph.node(graph.expr(owner).outputs.front()).name + '/' + label + '/';
    const BodyId body = graph.addBody(owner, std::move(label));
    m_recorder.bodies().enter(
        {.id = body, .scope = outer.scope, .prefix = std::move(prefix), .insideLeaf = outer.insideLeaf});
}

Var ControlRecorder::input(std::string_view name, tensor::TypeInfo type, bool isTensor) {
    std::string unique = m_recorder.bodies().top().uniqueName(name);
    return m_recorder.proxy(m_recorder.addInput(std::move(unique), std::move(type), std::string(name), isTensor));
}

void ControlRecorder::leaveBody() { m_recorder.bodies().leaveForNow(); }

void ControlRecorder::resumeBody(ExprId owner, std::size_t index) {
    m_recorder.bodies().resume(m_recorder.graph().expr(owner).bodies[index]);
}

void ControlRecorder::setResults(ExprId owner, std::size_t index, const std::vector<Var>& results) {
    resumeBody(owner, index);
    leaveBody(results);
}

void ControlRecorder::leaveBody(const std::vector<Var>& results) {
    std::vector<Argument> nodes;
    for (const Var& result : results) {
        // Results are nodes, so that each can be watched in its branch.
        if (result.isProxy() || (result.kind() == Var::Kind::Value && result.value().isTensor())) {
            nodes.push_back(m_recorder.toArgument(result));
        } else if (result.kind() == Var::Kind::Value) {
            nodes.push_back(Argument::of(m_recorder.addConstant(result.value())));
        } else {
            const std::string op = result.kind() == Var::Kind::List ? "ListConstruct" : "TupleConstruct";
            nodes.push_back(m_recorder.toArgument(m_recorder.record(ExprKind::CallFunction, {"prim", op, 0},
                                                                    "prim." + op, op, result.items(), {}, false)));
        }
    }
    BodyStack& bodies = m_recorder.bodies();
    m_recorder.graph().setResult(bodies.top().id, Argument::container(Argument::Kind::Tuple, std::move(nodes)));
    bodies.leave();
}

Var ControlRecorder::output(ExprId owner, std::size_t index, bool isTensor) {
    graph::InternalGraph& graph = m_recorder.graph();
    while (graph.expr(owner).outputs.size() <= index)
        m_recorder.addOutput(owner, m_recorder.bodies().top().uniqueName(graph.expr(owner).op.name), false);
    const NodeId node = graph.expr(owner).outputs[index];
    m_recorder.setTensor(node, isTensor);
    return m_recorder.proxy(node);
}

void ControlRecorder::abandon(ExprId owner) { m_recorder.abandon(owner); }

}  // namespace sonde::trace
