// Control flow that depends on the data: exprs that own bodies.

#include "core/trace/tracer.h"

namespace sonde::trace {

using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;

namespace {

/// Branches and loops nest as deep as a model's source says.
constexpr std::size_t kMaxFrames = 200;

}  // namespace

ExprId Tracer::beginControl(std::string_view op, const std::vector<Var>& arguments) {
    if (m_frames.size() > kMaxFrames) throw TraceError(TraceErrorKind::Runtime, "branches and loops nest too deeply");
    Expr expr;
    expr.kind = ExprKind::CallFunction;
    expr.op = {"prim", std::string(op), 0};
    expr.target = "prim." + std::string(op);
    for (const Var& argument : arguments) expr.arguments.push_back(toArgument(argument));
    expr.qualname = m_currentModule;
    expr.moduleClass = m_currentClass;
    return addExpr(std::move(expr), op);
}

void Tracer::enterBody(ExprId owner, std::string label) {
    const Frame& outer = m_frames.back();
    const std::string prefix = m_graph->node(m_graph->expr(owner).outputs.front()).name + '/' + label + '/';
    const BodyId body = m_graph->addBody(owner, std::move(label));
    m_frames.push_back({body, outer.scope, prefix, {}, {}, outer.insideLeaf});
}

Var Tracer::bodyInput(std::string_view name, tensor::TypeInfo type, bool isTensor) {
    Frame& frame = m_frames.back();
    const NodeId input = m_graph->addInput(frame.body, frame.prefix + frame.names.unique(nameCandidate(name)), std::move(type), std::string(name));
    Expr& expr = m_graph->mutableExpr(m_graph->node(input).producer);
    expr.scope = frame.scope;
    expr.moduleClass = m_currentClass;
    m_isTensor.resize(m_graph->nodeCount(), false);
    m_isTensor[input.index()] = isTensor;
    return Var::proxy(*this, input);
}

void Tracer::leaveBody(const std::vector<Var>& results) {
    std::vector<Argument> nodes;
    for (const Var& result : results) {
        // Results are nodes, so that each can be watched in its branch.
        const bool isPlain = result.kind() == Var::Kind::Value && !result.value().isTensor();
        nodes.push_back(isPlain ? Argument::of(constantNode(result.value())) : toArgument(result));
    }
    m_graph->setResult(m_frames.back().body, Argument::container(Argument::Kind::Tuple, std::move(nodes)));
    m_frames.pop_back();
}

Var Tracer::controlOutput(ExprId owner, std::size_t index, bool isTensor) {
    Frame& frame = m_frames.back();
    while (m_graph->expr(owner).outputs.size() <= index) {
        m_graph->addOutput(owner, frame.prefix + frame.names.unique(nameCandidate(m_graph->expr(owner).op.name)));
    }
    const NodeId node = m_graph->expr(owner).outputs[index];
    m_isTensor.resize(m_graph->nodeCount(), false);
    m_isTensor[node.index()] = isTensor;
    return Var::proxy(*this, node);
}

NodeId Tracer::constantNode(const tensor::Value& value) {
    Expr expr;
    expr.kind = ExprKind::Constant;
    expr.target = "constant";
    expr.qualname = m_currentModule;
    expr.moduleClass = m_currentClass;
    const NodeId node = m_graph->expr(addExpr(std::move(expr), "constant")).outputs.front();
    m_graph->setConstant(node, value);
    m_graph->setType(node, tensor::TypeInfo::of(value));
    return node;
}

}  // namespace sonde::trace
