#include "core/trace/leaf_recorder.h"

#include "core/trace/error.h"
#include "core/trace/module.h"
#include "core/trace/module_callable.h"
#include "core/trace/pending_error.h"
#include "core/trace/recorder.h"
#include "core/trace/trace_policy.h"

namespace sonde::trace {

using graph::Argument;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Value;

// --- what goes in ---------------------------------------------------------------------------------------------------

Var LeafRecorder::inputFor(const Var& outer, const std::string& name, Bound& inputs) {
    std::string unique = m_recorder.bodies().top().uniqueName(name);
    const NodeId given = m_memory.current(outer.node());
    const NodeId input = m_recorder.addInput(std::move(unique), m_recorder.graph().node(given).type, name,
                                             m_recorder.isTensor(outer.node()));
    if (m_memory.isPacked(given)) m_memory.markPacked(input);
    inputs.emplace_back(input, outer);
    if (ValueOracle* oracle = m_recorder.oracle()) oracle->inputBound(input, given);
    return m_recorder.proxy(input);
}

Var LeafRecorder::insideOf(const Var& outer, const std::string& name, Bound& inputs) {
    if (outer.isProxy()) return inputFor(outer, name, inputs);
    if (outer.kind() == Var::Kind::Value) {
        // A tensor that is known stays known inside. The call passes it all the same: the others keep their positions.
        if (outer.value().isTensor())
            m_recorder.addInput(m_recorder.bodies().top().uniqueName(name), tensor::TypeInfo::of(outer.value()), name,
                                true);
        return outer;
    }
    if (!outer.hasProxy()) {
        for (const Var& item : outer.items()) insideOf(item, name, inputs);
        return outer;
    }
    std::vector<Var> items;
    std::vector<std::pair<Value, Var>> entries;
    for (std::size_t i = 0; i < outer.items().size(); ++i) {
        Var item = insideOf(outer.items()[i], name, inputs);
        if (outer.kind() == Var::Kind::Dict) {
            entries.emplace_back(outer.keys()[i], std::move(item));
        } else {
            items.push_back(std::move(item));
        }
    }
    switch (outer.kind()) {
        case Var::Kind::Dict: return Var::dict(std::move(entries));
        case Var::Kind::Slice: return Var::slice(items[0], items[1], items[2]);
        case Var::Kind::Tuple: return Var::tuple(std::move(items));
        default: return Var::list(std::move(items));
    }
}

std::function<void()> LeafRecorder::recordForward(Module& module, ExprId call, const std::vector<Var>& arguments,
                                                  const Keywords& keywords) {
    const std::size_t outside = m_recorder.bodies().size() - 1;
    const std::vector<ForwardParameter> parameters = module.signature();
    Bound inputs;
    std::vector<Var> inner;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        inner.push_back(insideOf(arguments[i], i < parameters.size() ? parameters[i].name : "args", inputs));
    Keywords innerKeywords;
    for (const auto& [name, value] : keywords) innerKeywords.emplace_back(name, insideOf(value, name, inputs));
    const MemoryMark mark = m_memory.mark();
    const Var result = module.forward(module.bound(std::move(inner), innerKeywords));
    m_pending.throwIfCaught();
    return finish(call, mark, inputs, result, outside);
}

std::optional<std::string> LeafRecorder::recordBody(Module& module, const std::string& path, ExprId call,
                                                    const std::vector<Var>& arguments, const Keywords& keywords) {
    graph::InternalGraph& graph = m_recorder.graph();
    BodyStack& bodies = m_recorder.bodies();
    const ExprId firstExpr(graph.exprCount());
    const graph::BodyId body = graph.addBody(call, path);
    const std::size_t depth = bodies.size();
    const std::optional<TraceError> raisedBefore = m_pending.get();
    std::function<void()> changes;
    std::string failure;
    try {
        std::string prefix = graph.node(graph.expr(call).outputs.front()).name + '/';
        bodies.enter({.id = body, .scope = bodies.top().scope, .prefix = std::move(prefix), .insideLeaf = true});
        changes = recordForward(module, call, arguments, keywords);
    } catch (...) {
        const TraceError error = TraceError::ofCurrentException();
        // Of modules that call each other too deeply the outermost leaf becomes opaque, and not one after the other.
        if (error.kind() == TraceErrorKind::Depth && depth > 1) throw;
        failure = error.message();
        m_pending.reset(raisedBefore);
    }
    bodies.leaveBeyond(depth);
    if (changes) {
        if (ValueOracle* oracle = m_recorder.oracle()) oracle->recorded(call);
        changes();
        return std::nullopt;
    }
    graph.setResult(body, Argument::omitted());
    m_recorder.abandon(firstExpr);
    return failure;
}

// --- what comes out -------------------------------------------------------------------------------------------------

void LeafRecorder::checkWrites(const Memory::Effects& effects, const Bound& inputs) {
    for (const auto& [index, value] : effects.inputs) {
        for (std::size_t other = 0; other < inputs.size(); ++other) {
            if (other == index || !m_memory.mayShareMemory(inputs[index].second, inputs[other].second)) continue;
            throw TraceError(
                TraceErrorKind::Runtime,
                m_recording.placeOf(inputs[index].first) +
                    " is changed in place and shares memory with another argument of the module: not supported");
        }
    }
}

Argument LeafRecorder::resultOf(const Var& result, const Memory::Effects& effects) {
    Argument structure = m_recorder.toArgument(result);
    if (!effects.anyWrite()) return structure;
    // Every result is a node of its own then.
    if (structure.kind != Argument::Kind::Node)
        structure =
            m_recorder.toArgument(m_recorder.record(ExprKind::Output, {}, "output", "output", {result}, {}, false));
    std::vector<Argument> results{std::move(structure)};
    for (const auto& [index, value] : effects.inputs) results.push_back(m_recorder.toArgument(value));
    for (const auto& [cell, value] : effects.outer) {
        if (value.isProxy()) results.push_back(m_recorder.toArgument(value));
    }
    return Argument::container(Argument::Kind::Tuple, std::move(results));
}

std::function<void()> LeafRecorder::finish(ExprId call, const MemoryMark& mark, const Bound& inputs, const Var& result,
                                           std::size_t outside) {
    std::vector<NodeId> nodes;
    for (const auto& [inner, outer] : inputs) nodes.push_back(inner);
    const auto effects = m_policy.followsInPlace() ? m_memory.effectsSince(mark, nodes, result) : Memory::Effects();
    checkWrites(effects, inputs);
    Argument structure = resultOf(result, effects);
    const bool isPacked = result.isProxy() && m_memory.isPacked(m_memory.current(result.node()));
    BodyStack& bodies = m_recorder.bodies();
    m_recorder.graph().setResult(bodies.top().id, std::move(structure));
    bodies.leaveBeyond(outside);
    const Var made = m_recorder.proxy(m_recorder.graph().expr(call).outputs.front());
    if (isPacked) m_memory.markPacked(made.node());
    return changesBy(call, effects, inputs, result, made);
}

std::function<void()> LeafRecorder::changesBy(ExprId call, const Memory::Effects& effects, const Bound& inputs,
                                              const Var& result, const Var& made) {
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
    return [&memory = m_memory, made, written = std::move(written), captured = std::move(captured),
            shared = std::move(shared)] {
        for (const auto& [tensor, value] : written) memory.assign(tensor, value);
        for (const auto& [cell, value] : captured) memory.takeOver(cell, value);
        for (const auto& [base, shown] : shared) memory.share(made, base, shown);
    };
}

Var LeafRecorder::furtherOutput(ExprId call) {
    const std::string candidate = m_recorder.graph().expr(call).target;
    return m_recorder.proxy(m_recorder.addOutput(call, m_recorder.newName(candidate), true));
}

void LeafRecorder::makeOpaque(Module& module, ExprId call, const std::vector<Var>& arguments, const Keywords& keywords,
                              bool isRoot) {
    graph::InternalGraph& graph = m_recorder.graph();
    // The callable sees one value per parameter, so names and defaults are settled here.
    std::vector<Argument> settled;
    for (const Var& value : module.bound(arguments, keywords)) settled.push_back(m_recorder.toArgument(value));
    graph.setArguments(call, std::move(settled));
    graph.mutableExpr(call).bodies.clear();
    graph.mutableExpr(call).callable = runnable(module.forwardFunction(), isRoot);
    if (ValueOracle* oracle = m_recorder.oracle()) oracle->recorded(call);
    if (!m_policy.followsInPlace()) return;
    // What it gives may be what it was given, or a part of it.
    const Var made = m_recorder.proxy(graph.expr(call).outputs.front());
    for (const Var& argument : arguments) m_memory.share(made, argument, {});
    for (const auto& [name, argument] : keywords) m_memory.share(made, argument, {});
}

}  // namespace sonde::trace
