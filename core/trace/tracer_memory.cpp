// What a tracer's values share: calls in place, and bodies that write to what is older than they are.

#include <algorithm>
#include <functional>

#include "core/graph/memory.h"
#include "core/graph/traits.h"
#include "core/operators/names.h"
#include "core/operators/same_tensor.h"
#include "core/trace/at_once.h"
#include "core/trace/memory.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::ValueKind;

namespace {

/// The node may show a part of its storage, or all of it in another order.
bool mayShowPart(const graph::InternalGraph& graph, NodeId node) {
    while (true) {
        const Expr& expr = graph.expr(graph.node(node).producer);
        const graph::Sharing sharing = graph::memoryEffect(graph, expr).sharing;
        if (sharing == graph::Sharing::Fresh || expr.inputs.empty()) return false;
        const operators::Traits& traits = graph::traitsOf(expr);
        const bool isAll = sharing == graph::Sharing::Written || traits.form == operators::ViewForm::Same ||
                           traits.form == operators::ViewForm::Contiguous || traits.isIdentityAtInference() ||
                           operators::keepsOrder(traits.form);
        if (!isAll) return true;
        node = expr.inputs.front();
    }
}

/// Its elements are in memory in row-major order, as far as what made it tells.
bool isSurelyPacked(const graph::InternalGraph& graph, NodeId node, const std::function<bool(NodeId)>& isKnown) {
    constexpr std::size_t kMaxNodes = 1000;
    std::vector<NodeId> waiting{node};
    std::unordered_set<NodeId> seen{node};
    while (!waiting.empty()) {
        const NodeId each = waiting.back();
        waiting.pop_back();
        if (isKnown(each)) continue;
        const Expr& expr = graph.expr(graph.node(each).producer);
        const operators::Traits& traits = graph::traitsOf(expr);
        if (traits.density == operators::Density::Always) continue;
        const bool isLikeAll = traits.density == operators::Density::LikeArguments;
        const bool isLikeFirst = traits.form == operators::ViewForm::Same || operators::keepsOrder(traits.form) ||
                                 traits.memory.sharing == graph::Sharing::Written;
        if ((!isLikeAll && !isLikeFirst) || expr.inputs.empty() || seen.size() > kMaxNodes) return false;
        for (const NodeId input : expr.inputs) {
            if (seen.insert(input).second) waiting.push_back(input);
            if (isLikeFirst && !isLikeAll) break;
        }
    }
    return true;
}

}  // namespace

NodeId Tracer::current(NodeId node) const { return m_memory->current(node); }

Var Tracer::recordedRaw(OperatorCall call) {
    return record(call.kind, {call.domain, call.op, 0}, call.target, call.display, std::move(call.arguments),
                  std::move(call.keywords), call.makesTensor, call.outputs);
}

Var Tracer::called(OperatorCall call) {
    return raising([&] { return follow(std::move(call)); });
}

Var Tracer::follow(OperatorCall call) {
    if (followsInPlace()) return m_memory->call(std::move(call));
    const auto out = std::ranges::find_if(
        call.keywords, [](const auto& entry) { return entry.first == "out" && !entry.second.isNone(); });
    if (out != call.keywords.end())
        throw TraceError(
            TraceErrorKind::Runtime,
            call.display + " with out= is not supported while in-place operations are recorded as they are");
    const bool isStrided = operators::readsWholeStorage(call.domain, call.op) && !call.arguments.empty();
    if (isStrided && call.arguments[0].isProxy() && mayShowPart(*m_graph, call.arguments[0].node()))
        throw TraceError(TraceErrorKind::Runtime,
                         placeOf(call.arguments[0].node()) +
                             " is seen through other strides, and where it begins in its storage is not known: not "
                             "supported; call clone() on it before");
    const auto isPacked = [this](NodeId node) {
        const std::optional<ValueKind> kind = kindOf(node);
        return m_memory->isPacked(node) || (kind && *kind != ValueKind::Tensor);
    };
    if (isStrided && call.arguments[0].isProxy() && !isSurelyPacked(*m_graph, call.arguments[0].node(), isPacked))
        throw TraceError(TraceErrorKind::Runtime,
                         placeOf(call.arguments[0].node()) + ' ' + operators::kUnknownLayoutText);
    const Link link = linkOf(call, this, false);
    const Var target = call.arguments.empty() ? Var() : call.arguments.front();
    const bool writes = link == Link::Write || link == Link::Reform;
    if (writes && target.kind() == Var::Kind::Value && target.value().isTensor()) m_memory->noteRawWrite(target);
    const Var result = recordedRaw(std::move(call));
    if (writes && m_follower && target.isProxy() && result.isProxy()) m_follower->rebound(target.node(), result.node());
    return result;
}

bool Tracer::recordsWriteTo(const Var& var) const {
    if (var.kind() != Var::Kind::Value || !var.value().isTensor() || m_frames.empty()) return false;
    const tensor::Tensor& tensor = var.value().tensor();
    const bool isShown = std::ranges::any_of(
        m_constants, [&](const Constant& constant) { return constant.tensor.storage() == tensor.storage(); });
    return isShown || m_memory->isLifted(var.value()) || slotOn(*tensor.storage()) != nullptr;
}

std::shared_ptr<const Slot> Tracer::slotOn(const tensor::Storage& storage) const {
    if (!m_root) return nullptr;
    for (const NamedTensor& named : namedTensors(*m_root)) {
        if (named.slot->value.storage().get() == &storage) return named.slot;
    }
    return nullptr;
}

std::optional<ValueKind> Tracer::kindAlone(NodeId node) const {
    if (isTensor(node)) return ValueKind::Tensor;
    const graph::Node& known = m_graph->node(node);
    if (known.constant) return known.constant->kind();
    if (known.type.kind) return known.type.kind;
    const Expr& expr = m_graph->expr(known.producer);
    const operators::Traits& traits = graph::traitsOf(expr);
    const bool isOne = traits.opClass == operators::OpClass::Shape && operators::overloadOf(expr.op.name) == "int";
    if (isOne || traits.query == operators::ShapeQuery::Length) return ValueKind::Int;
    if (expr.op.domain != "prim" || expr.arguments.empty()) return std::nullopt;
    const auto producerOf = [&](const Argument& argument) {
        return argument.kind == Argument::Kind::Node ? &m_graph->expr(m_graph->node(argument.node).producer) : nullptr;
    };
    if (traits.form == operators::ViewForm::Index) {
        // x.shape[i], x.size()[i]
        const Expr* list = producerOf(expr.arguments.front());
        const bool isShape =
            list &&
            (graph::traitsOf(*list).opClass == operators::OpClass::Shape ||
             (graph::traitsOf(*list).opClass == operators::OpClass::GetAttr && list->arguments.size() > 1 &&
              list->arguments[1].kind == Argument::Kind::Constant && list->arguments[1].constant.text() == "'shape'"));
        return isShape ? std::optional(ValueKind::Int) : std::nullopt;
    }
    return std::nullopt;
}

namespace {

bool keepsInts(const Expr& expr) {
    return expr.op.domain == "prim" && !expr.arguments.empty() && graph::traitsOf(expr).is(operators::Trait::KeepsInts);
}

}  // namespace

std::optional<ValueKind> Tracer::kindOf(NodeId node) const {
    const auto producer = [&](NodeId made) -> const Expr& { return m_graph->expr(m_graph->node(made).producer); };
    const std::optional<ValueKind> alone = kindAlone(node);
    if (alone || !keepsInts(producer(node))) return alone;
    // What is computed from integers alone is one. Chains are as long as programs: no recursion, and of a very long one
    // the kind is not known.
    constexpr std::size_t kMaxNodes = 1000;
    std::vector<NodeId> waiting{node};
    std::unordered_set<NodeId> seen{node};
    while (!waiting.empty()) {
        const Expr& expr = producer(waiting.back());
        waiting.pop_back();
        for (const Argument& argument : expr.arguments) {
            if (argument.kind == Argument::Kind::Constant && argument.constant.kind() == ValueKind::Int) continue;
            if (argument.kind != Argument::Kind::Node) return std::nullopt;
            if (!seen.insert(argument.node).second) continue;
            const std::optional<ValueKind> kind = kindAlone(argument.node);
            if (kind == ValueKind::Int) continue;
            if (kind || seen.size() > kMaxNodes || !keepsInts(producer(argument.node))) return std::nullopt;
            waiting.push_back(argument.node);
        }
    }
    return ValueKind::Int;
}

std::string Tracer::placeOf(NodeId node) const {
    const graph::Node& known = m_graph->node(node);
    const graph::Body& body = m_graph->body(m_graph->expr(known.producer).body);
    const auto at = std::ranges::find(body.order, known.producer) - body.order.begin();
    return "node '" + known.name + "' (operation " + std::to_string(at) + ")";
}

bool Tracer::isRecordedHere(NodeId node) const {
    return m_graph->expr(m_graph->node(node).producer).body == m_frames.back().body;
}

bool Tracer::mayRepeat(NodeId view, NodeId base) const {
    const auto shown = m_graph->node(view).type.staticShape();
    const auto whole = m_graph->node(base).type.staticShape();
    return !shown || !whole || shown->numel() != whole->numel();
}

std::size_t Tracer::recordedExprs() const { return m_graph->exprCount(); }

NodeId Tracer::nodeOfValue(const Var& var) { return toArgument(var).node; }

/// Leaves the body of a call with its result, and as further results what it has written of what is older than it. The
/// changes that the caller sees are returned: to be made when the call is complete.
std::function<void()> Tracer::finishCall(ExprId call, const MemoryMark& mark,
                                         const std::vector<std::pair<NodeId, Var>>& inputs, const Var& result,
                                         std::size_t depth) {
    std::vector<NodeId> nodes;
    for (const auto& [inner, outer] : inputs) nodes.push_back(inner);
    const auto effects = followsInPlace() ? m_memory->effectsSince(mark, nodes, result) : Memory::Effects();
    for (const auto& [index, value] : effects.inputs) {
        for (std::size_t other = 0; other < inputs.size(); ++other) {
            if (other == index || !m_memory->mayShareMemory(inputs[index].second, inputs[other].second)) continue;
            throw TraceError(
                TraceErrorKind::Runtime,
                placeOf(inputs[index].first) +
                    " is changed in place and shares memory with another argument of the module: not supported");
        }
    }
    Argument structure = toArgument(result);
    const graph::BodyId body = m_frames.back().body;
    if (effects.anyWrite()) {
        // Every result is a node of its own then.
        if (structure.kind != Argument::Kind::Node)
            structure = toArgument(record(ExprKind::Output, {}, "output", "output", {result}, {}, false));
        std::vector<Argument> results{std::move(structure)};
        for (const auto& [index, value] : effects.inputs) results.push_back(toArgument(value));
        for (const auto& [cell, value] : effects.outer) {
            if (value.isProxy()) results.push_back(toArgument(value));
        }
        structure = Argument::container(Argument::Kind::Tuple, std::move(results));
    }
    const bool isPacked = result.isProxy() && m_memory->isPacked(current(result.node()));
    m_graph->setResult(body, std::move(structure));
    m_frames.resize(depth);
    const Var made = Var::proxy(*this, m_graph->expr(call).outputs.front());
    if (isPacked) m_memory->markPacked(made.node());
    std::vector<std::pair<Var, Var>> written;
    std::vector<std::pair<Memory::CellPtr, Var>> captured;
    for (const auto& [index, value] : effects.inputs) written.emplace_back(inputs[index].second, furtherOutput(call));
    for (const auto& [cell, value] : effects.outer)
        captured.emplace_back(cell, value.isProxy() ? furtherOutput(call) : Var());
    std::vector<std::pair<Var, Shown>> shared;
    // The parts of a structure are one node here.
    for (const Memory::Effects::Shared& each : effects.shared) {
        if (!each.slot) shared.emplace_back(inputs[each.input].second, result.isProxy() ? each.shown : Shown());
    }
    return [this, made, written = std::move(written), captured = std::move(captured), shared = std::move(shared)] {
        for (const auto& [tensor, value] : written) m_memory->assign(tensor, value);
        for (const auto& [cell, value] : captured) m_memory->takeOver(cell, value);
        for (const auto& [base, shown] : shared) m_memory->share(made, base, shown);
    };
}

Var Tracer::furtherOutput(ExprId call) {
    Frame& frame = m_frames.back();
    const std::string candidate = m_graph->expr(call).target;
    const NodeId node =
        m_graph->addOutput(call, inMainBody() ? makeName(frame.names, candidate)
                                              : frame.prefix + frame.names.unique(nameCandidate(candidate)));
    m_isTensor.resize(m_graph->nodeCount(), false);
    m_isTensor[node.index()] = true;
    return Var::proxy(*this, node);
}

}  // namespace sonde::trace
