// Control flow that depends on the data: exprs that own bodies.

#include "core/graph/guard.h"
#include "core/trace/guard_sentence.h"
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
    const NodeId input = m_graph->addInput(frame.body, frame.prefix + frame.names.unique(nameCandidate(name)),
                                           std::move(type), std::string(name));
    Expr& expr = m_graph->mutableExpr(m_graph->node(input).producer);
    expr.scope = frame.scope;
    expr.moduleClass = m_currentClass;
    m_isTensor.resize(m_graph->nodeCount(), false);
    m_isTensor[input.index()] = isTensor;
    return Var::proxy(*this, input);
}

void Tracer::leaveBody() {
    m_leftBodies[m_frames.back().body] = std::move(m_frames.back());
    m_frames.pop_back();
}

void Tracer::resumeBody(ExprId owner, std::size_t index) {
    const auto left = m_leftBodies.find(m_graph->expr(owner).bodies[index]);
    m_frames.push_back(std::move(left->second));
    m_leftBodies.erase(left);
}

void Tracer::setBodyResults(ExprId owner, std::size_t index, const std::vector<Var>& results) {
    resumeBody(owner, index);
    leaveBody(results);
}

void Tracer::leaveBody(const std::vector<Var>& results) {
    std::vector<Argument> nodes;
    for (const Var& result : results) {
        // Results are nodes, so that each can be watched in its branch.
        if (result.isProxy() || (result.kind() == Var::Kind::Value && result.value().isTensor())) {
            nodes.push_back(toArgument(result));
        } else if (result.kind() == Var::Kind::Value) {
            nodes.push_back(Argument::of(constantNode(result.value())));
        } else {
            const std::string op = result.kind() == Var::Kind::List ? "ListConstruct" : "TupleConstruct";
            nodes.push_back(toArgument(
                record(ExprKind::CallFunction, {"prim", op, 0}, "prim." + op, op, result.items(), {}, false)));
        }
    }
    m_graph->setResult(m_frames.back().body, Argument::container(Argument::Kind::Tuple, std::move(nodes)));
    m_frames.pop_back();
}

std::string Tracer::sourceText() const {
    if (!m_site) return {};
    const graph::SourcePlace place = m_site->source().place();
    if (!place.file.empty()) return place.text();
    return place.stack.substr(place.stack.rfind('\n') + 1);  // the innermost call
}

NodeId Tracer::recordGuard(NodeId node, KnownUse use, const tensor::AttributeValue& expected,
                           const std::string& sentence, const std::string& traced) {
    const Var guard = record(ExprKind::Apply, {graph::kGuardDomain, graph::kGuardName, 0}, graph::kGuardName,
                             graph::kGuardName, {Var::proxy(*this, node)}, {}, false);
    Expr& expr = m_graph->mutableExpr(m_graph->node(guard.node()).producer);
    expr.attributes.set(graph::kGuardKind, std::string(guardKind(use)));
    expr.attributes.set(graph::kGuardExpected, expected);
    expr.attributes.set(graph::kGuardSentence, sentence);
    if (!traced.empty()) expr.attributes.set(graph::kGuardTraced, traced);
    expr.attributes.set(graph::kGuardSource, m_currentModule);
    expr.attributes.set(graph::kGuardClass, std::string(expr.moduleClass));
    return guard.node();
}

bool Tracer::amendLast(NodeId node, const std::vector<Var>& arguments) {
    // Who goes along has computed the expr as it was.
    if (!recorded() || m_follower) return false;
    const ExprId producer = m_graph->node(node).producer;
    const std::vector<ExprId>& order = m_graph->body(m_frames.back().body).order;
    if (order.empty() || order.back() != producer || !m_graph->node(node).users.empty()) return false;
    std::vector<Argument> amended;
    for (const Var& argument : arguments) amended.push_back(toArgument(argument));
    if (m_graph->body(m_frames.back().body).order.back() != producer)
        return false;  // an argument was recorded after it
    m_graph->setArguments(producer, std::move(amended));
    return true;
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

void Tracer::eraseUnused(NodeId node) {
    if (!recorded()) return;
    const ExprId producer = m_graph->node(node).producer;
    if (!m_graph->isErased(producer) && m_graph->expr(producer).outputs.size() == 1 &&
        m_graph->node(node).users.empty())
        m_graph->erase(producer);
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
