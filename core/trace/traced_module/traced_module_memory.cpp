// What TracedModuleTracer's values share. A graph gives what it has written of its inputs as further results.

#include <algorithm>

#include "core/trace/at_once.h"
#include "core/trace/memory.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using graph::NodeId;
using tensor::Value;

bool TracedModuleTracer::recordsWriteTo(const Var& var) const {
    if (var.kind() != Var::Kind::Value || !var.value().isTensor() || m_modules.empty()) return false;
    const tensor::Tensor& tensor = var.value().tensor();
    if (var.slot() || memory().isLifted(var.value())) return true;
    return std::ranges::any_of(m_modules, [&](const Frame& frame) {
        const bool isConstant = std::ranges::any_of(
            frame.constants, [&](const auto& entry) { return entry.first.storage() == tensor.storage(); });
        if (isConstant) return true;
        return std::ranges::any_of(namedTensors(*frame.source), [&](const NamedTensor& named) {
            return named.slot->value.storage() == tensor.storage();
        });
    });
}

std::optional<tensor::ValueKind> TracedModuleTracer::kindOf(NodeId node) const {
    const std::optional<Value>& value = m_known[node.index()].value;
    // An index of one number selects as an int does.
    if (value && value->isTensor() && value->tensor().rank() == 0 && value->tensor().dtype() != tensor::DType::Bool)
        return tensor::ValueKind::Int;
    return value ? std::optional(value->kind()) : std::nullopt;
}

std::string TracedModuleTracer::placeOf(NodeId node) const {
    const TracedNode& known = *m_known[node.index()].node;
    const auto& body = known.graph().body();
    const auto at = std::ranges::find(body, &known.expr()) - body.begin();
    return "node '" + known.name() + "' (operation " + std::to_string(at) + " of " + known.graph().name() + ")";
}

bool TracedModuleTracer::isRecordedHere(NodeId node) const {
    return !m_modules.empty() && &m_known[node.index()].node->graph() == m_modules.back().graph;
}

bool TracedModuleTracer::mayRepeat(NodeId view, NodeId base) const {
    const std::optional<Value>& shown = m_known[view.index()].value;
    const std::optional<Value>& whole = m_known[base.index()].value;
    return !shown || !whole || !shown->isTensor() || !whole->isTensor() ||
           shown->tensor().numel() != whole->tensor().numel();
}

NodeId TracedModuleTracer::nodeOfValue(const Var& var) {
    const Operand operand = operandOf(var);
    return varOf(operand.node, var.value()).node();
}

std::vector<std::int64_t> TracedModuleTracer::dimsOf(NodeId node) const {
    const std::optional<Value>& value = m_known[node.index()].value;
    if (!value || !value->isTensor() || !isRecordedHere(node)) return {};
    const tensor::Shape& shape = value->tensor().shape();
    return {shape.begin(), shape.end()};
}

void TracedModuleTracer::keepSize(NodeId node, std::size_t axis) {
    if (!m_guardedSizes.insert({m_known[node.index()].node, axis}).second) return;
    const Var size = record(graph::ExprKind::Apply, {"aten", "size.int", 0}, "size", "size",
                            {Var::proxy(*this, node), Var(static_cast<std::int64_t>(axis))}, {}, false, 1);
    if (size.isProxy()) known(size.node(), KnownUse::Int);
}

TracedModuleTracer::GraphEffects TracedModuleTracer::takeEffects(const MemoryMark& mark, Var& returned) {
    const std::vector<std::pair<NodeId, Var>> inputs = frame().inputs;
    std::vector<NodeId> nodes;
    for (const auto& [inner, outer] : inputs) nodes.push_back(inner);
    const auto found = memory().effectsSince(mark, nodes, returned);
    GraphEffects effects;
    effects.shared = found.shared;
    if (!found.anyWrite()) return effects;
    std::vector<Var> results{returned};
    for (const auto& [index, value] : found.inputs) {
        for (std::size_t other = 0; other < inputs.size(); ++other) {
            if (other == index || !memory().mayShareMemory(inputs[index].second, inputs[other].second)) continue;
            throw refusal(
                TraceErrorKind::Runtime,
                placeOf(inputs[index].first) +
                    " is changed in place and shares memory with another argument of the module: not supported");
        }
        effects.inputs.push_back(index);
        results.push_back(value);
    }
    for (const auto& [cell, value] : found.outer) {
        if (!cell->slot || !value.isProxy()) continue;
        effects.slots.push_back(cell->slot);
        results.push_back(value);
    }
    returned = Var::tuple(std::move(results));
    return effects;
}

namespace {

void collectTensors(const Var& argument, std::vector<Var>& tensors) {
    const bool isTensor = argument.isProxy() || (argument.kind() == Var::Kind::Value && argument.value().isTensor());
    if (isTensor) tensors.push_back(argument);
    else if (argument.kind() != Var::Kind::Value)
        std::ranges::for_each(argument.items(), [&](const Var& item) { collectTensors(item, tensors); });
}

std::vector<Var> tensorsOf(const CallArguments& arguments) {
    std::vector<Var> tensors;
    for (const Var& argument : arguments.positional) collectTensors(argument, tensors);
    for (const auto& [name, argument] : arguments.keywords) collectTensors(argument, tensors);
    return tensors;
}

}  // namespace

Var TracedModuleTracer::applied(const GraphEffects& effects, const CallArguments& arguments, const Var& made) {
    const std::vector<Var> tensors = tensorsOf(arguments);
    const Var result = effects.anyWrite() ? made.items().front() : made;
    std::size_t next = 1;
    for (const std::size_t index : effects.inputs) memory().assign(tensors.at(index), made.items().at(next++));
    for (const auto& slot : effects.slots) memory().assignSlot(slot, made.items().at(next++));
    shareResults(effects, tensors, result);
    return result;
}

void TracedModuleTracer::shareResults(const GraphEffects& effects, const std::vector<Var>& tensors, const Var& result) {
    bool hasDict = false;  // has another order outside
    std::vector<Var> leaves;
    const std::function<void(const Var&)> visit = [&](const Var& var) {
        hasDict = hasDict || var.kind() == Var::Kind::Dict;
        if (var.isProxy()) leaves.push_back(var);
        else if (var.kind() != Var::Kind::Value) std::ranges::for_each(var.items(), visit);
    };
    visit(result);
    for (const Memory::Effects::Shared& each : effects.shared) {
        const auto share = [&](const Var& result, const Shown& shown) {
            if (each.slot) memory().share(result, each.slot, shown);
            else memory().share(result, tensors.at(each.input), shown);
        };
        if (!hasDict && each.leaf < leaves.size()) share(leaves[each.leaf], each.shown);
        else std::ranges::for_each(leaves, [&](const Var& leaf) { share(leaf, {}); });
    }
}

namespace {

/// A tensor with memory of its own.
Value copied(const Value& value) {
    auto copy = value.tensor().clone();
    if (!copy) throw TraceError(TraceErrorKind::Runtime, copy.error().text());
    return Value(std::move(*copy));
}

}  // namespace

/// The graph of an earlier call stands for this one. A branch that is taken otherwise, or another write, must not go
/// unseen: the module itself runs on copies, which have to become what the graph made of the arguments.
void TracedModuleTracer::checkSameWrites(Module& module, const GraphEffects& effects, const CallArguments& arguments,
                                         const Var& made) {
    const auto isTensor = [this](const Var& var) { return !hasUnknown(var) && valueIn(var).isTensor(); };
    const bool arePlain =
        std::ranges::all_of(arguments.positional, isTensor) &&
        std::ranges::all_of(arguments.keywords, [&](const auto& entry) { return isTensor(entry.second); });
    if (!arePlain || hasUnknown(made) || !effects.slots.empty()) return;
    std::vector<Value> tensors;
    CallArguments copies;
    for (const Var& argument : arguments.positional)
        copies.positional.emplace_back(tensors.emplace_back(copied(valueIn(argument))));
    for (const auto& [name, argument] : arguments.keywords)
        copies.keywords.emplace_back(name, tensors.emplace_back(copied(valueIn(argument))));
    const std::vector<Var> in = gathered(module.signature(), copies);
    const auto function = module.forwardFunction();
    Value result;
    {
        const PausedTracing paused;
        const WritesAsValues changes(false);
        const WriteProtection protection({});
        result = callModel({}, module.className(), [&] { return function(in).toValue(); });
    }
    bool isSame = tensor::identical(result, valueIn(made.items().front()));
    std::size_t next = 1;
    for (const std::size_t index : effects.inputs)
        isSame = isSame && tensor::identical(tensors.at(index), valueIn(made.items().at(next++)));
    if (isSame) return;
    throw refusal(
        TraceErrorKind::Runtime,
        "the module '" + module.className() +
            "' is called again and writes differently than its graph, which has the branches of the first call");
}

/// A built-in module was run on values: what its result shows of them is seen.
void TracedModuleTracer::shareWithArguments(const Var& made, const CallArguments& arguments) {
    if (!made.isProxy()) return;
    const Value result = valueIn(made);
    for (const Var& argument : tensorsOf(arguments)) {
        const Value value = valueIn(argument);
        if (!argument.isProxy() || !result.isTensor() || !value.isTensor() ||
            result.tensor().storage() != value.tensor().storage())
            continue;
        const bool same = result.tensor().shape() == value.tensor().shape() &&
                          result.tensor().strides() == value.tensor().strides() &&
                          result.tensor().offsetElements() == value.tensor().offsetElements();
        memory().share(made, argument, {same, {}, false});
    }
}

/// A call runs the module on its tensors as they were at the beginning.
void TracedModuleTracer::checkTensors(Module& module) {
    if (!memory().isAnySlotWritten())
        return;  // asked at each call: to name all tensors below is quadratic in the depth
    for (const NamedTensor& named : namedTensors(module)) {
        if (!memory().isWritten(*named.slot)) continue;
        throw refusal(TraceErrorKind::Runtime, "the module '" + module.className() + "' is called after its tensor '" +
                                                   named.path + "' was changed in place: not supported by this tracer");
    }
}

}  // namespace sonde::trace
