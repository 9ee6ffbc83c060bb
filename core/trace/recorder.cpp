#include "core/trace/recorder.h"

#include <utility>

#include "core/trace/error.h"
#include "core/trace/live_object.h"
#include "core/trace/memory.h"
#include "core/trace/model_index.h"
#include "core/trace/trace_policy.h"

namespace sonde::trace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Value;

std::string CodePlace::sourceText() const {
    if (!site) return {};
    const graph::SourcePlace place = site->source().place();
    if (!place.file.empty()) return place.text();
    return place.stack.substr(place.stack.rfind('\n') + 1);  // the innermost call
}

void Recorder::begin() {
    const std::string className = m_model.root()->className();
    m_graph = std::make_shared<graph::InternalGraph>();
    m_graph->name = className;
    m_graph->mutableScope(m_graph->rootScope()).moduleClass = className;
    m_bodies.start(m_graph->mainId(), m_graph->rootScope());
    m_place = {{}, className, nullptr};
    m_isTensor.clear();
}

void Recorder::end() {
    m_place.module.clear();
    m_place.moduleClass.clear();
    m_bodies.close();
}

// --- exprs and nodes ------------------------------------------------------------------------------------------------

std::string Recorder::newName(std::string_view candidate) {
    OpenBody& body = m_bodies.top();
    return m_bodies.isInMain() ? m_policy.makeName(body.names, candidate) : body.uniqueName(candidate);
}

void Recorder::setTensor(NodeId node, bool isTensor) {
    m_isTensor.resize(m_graph->nodeCount(), false);
    m_isTensor[node.index()] = isTensor;
}

ExprId Recorder::addExpr(Expr expr, std::string_view candidate, std::size_t outputs) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i) names.push_back(newName(candidate));
    expr.body = m_bodies.top().id;
    expr.scope = m_bodies.top().scope;
    if (m_place.site) expr.source = m_place.site->source();
    const ExprId id = m_graph->addExpr(std::move(expr), names);
    m_isTensor.resize(m_graph->nodeCount(), false);
    return id;
}

Var Recorder::record(ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
                     std::vector<Var> arguments, Keywords keywords, bool makesTensor, std::size_t outputs) {
    Expr expr;
    expr.kind = kind;
    expr.op = std::move(op);
    expr.target = std::move(target);
    expr.arguments.reserve(arguments.size());
    for (const Var& argument : arguments) expr.arguments.push_back(toArgument(argument));
    for (const auto& [name, argument] : keywords) expr.keywords.emplace_back(name, toArgument(argument));
    expr.qualname = m_place.module;
    expr.moduleClass = m_place.moduleClass;
    const ExprId id = addExpr(std::move(expr), candidate, outputs);
    std::vector<Var> results;
    for (NodeId node : m_graph->expr(id).outputs) {
        m_isTensor[node.index()] = makesTensor;
        results.push_back(proxy(node));
    }
    if (m_oracle && kind != ExprKind::CallModule) m_oracle->recorded(id);
    return outputs == 1 ? results.front() : Var::tuple(std::move(results));
}

NodeId Recorder::addInput(std::string name, tensor::TypeInfo type, std::string target, bool isTensor) {
    const OpenBody& body = m_bodies.top();
    const NodeId input = m_graph->addInput(body.id, std::move(name), std::move(type), std::move(target));
    Expr& expr = m_graph->mutableExpr(m_graph->node(input).producer);
    expr.scope = body.scope;
    expr.moduleClass = m_place.moduleClass;
    setTensor(input, isTensor);
    return input;
}

NodeId Recorder::addOutput(ExprId owner, std::string name, bool isTensor) {
    const NodeId node = m_graph->addOutput(owner, std::move(name));
    setTensor(node, isTensor);
    return node;
}

NodeId Recorder::addConstant(const Value& value) {
    Expr expr;
    expr.kind = ExprKind::Constant;
    expr.target = "constant";
    expr.qualname = m_place.module;
    expr.moduleClass = m_place.moduleClass;
    const NodeId node = m_graph->expr(addExpr(std::move(expr), "constant")).outputs.front();
    m_graph->setConstant(node, value);
    m_graph->setType(node, tensor::TypeInfo::of(value));
    return node;
}

// --- tensors of the model -------------------------------------------------------------------------------------------

NodeId Recorder::addAttribute(const std::shared_ptr<const Slot>& slot, const std::string& path, bool withOrigin) {
    Expr expr;
    expr.kind = ExprKind::GetAttr;
    expr.target = path;
    expr.isParameter = slot->kind != Slot::Kind::Plain;
    if (withOrigin) {
        expr.qualname = m_place.module;
        expr.moduleClass = m_place.moduleClass;
    }
    // Inside a leaf the attribute's own name says enough: "conv1/weight".
    std::string_view candidate = path;
    if (m_bodies.top().insideLeaf && !m_place.module.empty() && path.starts_with(m_place.module + '.'))
        candidate.remove_prefix(m_place.module.size() + 1);
    const NodeId node = m_graph->expr(addExpr(std::move(expr), candidate)).outputs.front();
    m_graph->setConstant(node, Value(slot->value));
    m_graph->setType(node, tensor::TypeInfo::tensor(slot->value.dtype(), slot->value.shape()));
    m_isTensor[node.index()] = true;
    if (slot->value.isContiguous()) m_memory.markPacked(node);
    if (m_model.pathOf(slot.get())) m_memory.nameSlot(node, slot);
    if (m_oracle) m_oracle->recorded(m_graph->node(node).producer);
    return node;
}

Var Recorder::readParameter(const std::shared_ptr<const Slot>& slot) {
    const std::string* path = m_model.pathOf(slot.get());
    if (!path || m_bodies.empty()) return Var::ofSlot(slot);
    // One read per parameter in a body: what the main body has read is not read again by the modules it goes through.
    const auto& reads = m_bodies.top().parameters;
    if (const auto read = reads.find(slot.get()); read != reads.end()) return proxy(read->second);
    const NodeId node = addAttribute(slot, *path, true);
    m_bodies.top().parameters.emplace(slot.get(), node);
    return proxy(node);
}

// --- arguments ------------------------------------------------------------------------------------------------------

Argument Recorder::containerOf(const Var& var) {
    std::vector<Argument> items;
    items.reserve(var.items().size());
    for (const Var& item : var.items()) items.push_back(toArgument(item));
    if (var.kind() == Var::Kind::Dict) return Argument::container(Argument::Kind::Dict, std::move(items), var.keys());
    const auto kind = var.kind() == Var::Kind::List    ? Argument::Kind::List
                      : var.kind() == Var::Kind::Tuple ? Argument::Kind::Tuple
                                                       : Argument::Kind::Slice;
    return Argument::container(kind, std::move(items));
}

Argument Recorder::toArgument(const Var& var) {
    if (var.isProxy()) {
        if (&var.tracer() != &m_tracer) throw TraceError(TraceErrorKind::Runtime, "a proxy of another trace is used");
        return Argument::of(m_memory.current(var.node()));
    }
    if (var.kind() != Var::Kind::Value) return containerOf(var);
    if (const Var now = m_memory.current(var); now.kind() != Var::Kind::Value) return toArgument(now);
    const Value& value = var.value();
    if (value.kind() == tensor::ValueKind::Object && dynamic_cast<const LiveObject*>(value.object().get())) {
        throw TraceError(TraceErrorKind::Type,
                         "an object of class " + value.object()->typeName() + " cannot be part of a graph");
    }
    if (!value.isTensor()) return Argument::of(value);
    if (var.slot()) {
        if (const std::string* path = m_model.pathOf(var.slot().get()))
            return Argument::of(addAttribute(var.slot(), *path, false));
        if (var.slot()->kind == Slot::Kind::Parameter)
            throw TraceError(TraceErrorKind::Name, "parameter is not a member of the traced module");
    }
    const auto constant = std::make_shared<Slot>(Slot{Slot::Kind::Plain, value.tensor()});
    return Argument::of(addAttribute(constant, m_model.constantPath(value.tensor()), false));
}

// --- taking back ----------------------------------------------------------------------------------------------------

void Recorder::abandon(ExprId first) {
    for (std::size_t i = m_graph->exprCount(); i-- > first.index();) {
        const ExprId id(i);
        if (m_graph->isErased(id)) continue;
        for (graph::BodyId inner : m_graph->expr(id).bodies) m_graph->setResult(inner, Argument::omitted());
        m_graph->mutableExpr(id).bodies.clear();
        m_graph->erase(id);
    }
    // Cached reads among the erased exprs are gone, too.
    m_bodies.forgetReads([&](NodeId node) { return m_graph->isErased(m_graph->node(node).producer); });
    m_memory.takeBack(first.index());
}

bool Recorder::amendLast(NodeId node, const std::vector<Var>& arguments) {
    if (m_bodies.empty() || m_oracle) return false;  // the oracle has computed the expr as it was
    const ExprId producer = m_graph->node(node).producer;
    const std::vector<ExprId>& order = m_graph->body(m_bodies.top().id).order;
    if (order.empty() || order.back() != producer || !m_graph->node(node).users.empty()) return false;
    std::vector<Argument> amended;
    for (const Var& argument : arguments) amended.push_back(toArgument(argument));
    if (m_graph->body(m_bodies.top().id).order.back() != producer) return false;  // an argument was recorded after it
    m_graph->setArguments(producer, std::move(amended));
    return true;
}

void Recorder::eraseUnused(NodeId node) {
    if (m_bodies.empty()) return;
    const ExprId producer = m_graph->node(node).producer;
    if (!m_graph->isErased(producer) && m_graph->expr(producer).outputs.size() == 1 &&
        m_graph->node(node).users.empty())
        m_graph->erase(producer);
}

}  // namespace sonde::trace
