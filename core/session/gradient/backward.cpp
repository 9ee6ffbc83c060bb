#include "core/session/gradient/backward.h"

#include <algorithm>

#include "core/exec/dependants.h"
#include "core/exec/edits.h"
#include "core/exec/flatten.h"
#include "core/graph/traits.h"
#include "core/ops/kernels/move.h"
#include "core/session/edits/edit_application.h"
#include "core/session/gradient/operation_gradient.h"
#include "core/session/gradient/own_forms.h"

namespace sonde::session::gradient {

using debug::Item;
using debug::kNoItem;
using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using operators::OpClass;
using tensor::Tensor;

namespace {

std::vector<bool> reachOf(const graph::InternalGraph& graph, const std::vector<graph::NodeId>& to) {
    const std::vector<graph::NodeId> sources = exec::valueSources(graph);
    exec::Edits edits;
    for (const graph::NodeId node : to) edits.values.push_back({sources[node.index()], {}, {}});
    return exec::dependantsOf(graph, edits).nodes;
}

/// Takes only a shape, or nothing, from what it reads.
bool isFlat(const Expr& expr) {
    const OpClass is = graph::traitsOf(expr).opClass;
    return is == OpClass::Create || is == OpClass::Random || is == OpClass::Range || is == OpClass::Shape;
}

}  // namespace

Backward::Backward(debug::RecordedRun& run, const std::vector<NodeId>& to, std::size_t threads,
                   const base::WorkContext& work)
    : m_run(run), m_graph(run.graph()), m_trace(run.trace()), m_work(work), m_runner(threads),
      m_reach(reachOf(m_graph, to)) {}

base::Result<void> Backward::run(const ValueKey& start, Value seed) {
    SONDE_TRY(give(start, std::move(seed)));
    const auto first = static_cast<std::size_t>(start.second == kNoItem ? 0 : start.second);
    while (!m_pending.empty()) {
        if (m_work.cancelled()) return base::cancelled("while differentiating");
        const ItemId item = ~m_pending.begin()->first.second;
        m_pending.erase(m_pending.begin());
        m_work.report("differentiating", first - std::min<std::size_t>(first, item), first);
        SONDE_TRY(visit(item));
    }
    // What is differentiated by and has no operation is complete only now.
    for (auto& [key, value] : m_kept) {
        if (!m_sums.contains(key) && !m_parts.contains(key)) continue;
        SONDE_ASSIGN(value, complete(key));
    }
    return {};
}

// --- values ---------------------------------------------------------------------------------------------------------

ValueKey Backward::keyOf(NodeId node, ItemId at, bool isAfter) const {
    const NodeId source = m_run.sourceOf(node);
    return {source, isGiven(source) ? kNoItem : m_run.itemOf(node, at, isAfter)};
}

/// What a body gave that ended before item `end`: also what control flow that ended with it gave.
ValueKey Backward::resultKey(NodeId node, ItemId end) const {
    const bool isInput = m_graph.expr(m_graph.node(m_run.sourceOf(node)).producer).kind == ExprKind::Input;
    return isInput ? keyOf(node, end - 1, true) : keyOf(node, end, false);
}

bool Backward::isGiven(NodeId source) const {
    if (m_graph.node(source).constant) return true;
    const Expr& expr = m_graph.expr(m_graph.node(source).producer);
    return expr.kind == ExprKind::Input && expr.body == m_graph.mainId();
}

bool Backward::isControl(ItemId item) const {
    return m_trace[item].kind == Item::Kind::Operation && !exprOf(item).bodies.empty();
}

/// The operation that made a value is to be differentiated: those that ended last first; what runs others comes before
/// these.
void Backward::isDue(const ValueKey& key) {
    const ItemId item = key.second;
    if (item == kNoItem) return;
    const std::uint64_t position = isControl(item) ? 2 * std::uint64_t{m_trace[item].end} - 1 : 2 * std::uint64_t{item};
    m_pending.insert({{position, ~item}, true});
}

/// Adds to the gradient of a value.
base::Result<void> Backward::give(const ValueKey& key, Value gradient) {
    if (gradient.isNone() || !m_reach[key.first.index()]) return {};
    SONDE_TRY(addGradient(m_sums[key], gradient));
    isDue(key);
    return {};
}

/// Adds to the gradient of a part of the tensor that an item read.
base::Result<void> Backward::givePart(NodeId node, ItemId reader, const Part& part, const Value& gradient) {
    const ValueKey key = keyOf(node, reader, false);
    if (gradient.isNone() || !m_reach[key.first.index()]) return {};
    Tensor& sum = m_parts[key];
    if (!sum.defined()) {
        SONDE_ASSIGN(const Value value, m_run.value(node, reader, false, m_work));
        if (!value.isTensor()) return base::runError("a part of " + value.typeText() + " has no gradient");
        SONDE_ASSIGN(sum, Tensor::zeros(value.tensor().dtype(), value.tensor().shape()));
    }
    Tensor place = sum;
    for (const auto& [axis, index] : part) {
        if (axis >= place.rank() || index < 0 || index >= place.dim(axis))
            return base::runError("a part of " + sum.typeText() + " is outside of it");
        place = place.selected(axis, index);
    }
    SONDE_ASSIGN(Tensor now, place.contiguous());
    Value whole(std::move(now));
    SONDE_TRY(addGradient(whole, gradient));
    ops::kernels::copyInto(m_runner.pool(), whole.tensor(), place);
    isDue(key);
    return {};
}

/// What was gathered of a value; nothing is left of it here.
base::Result<tensor::Value> Backward::complete(const ValueKey& key) {
    Value value;
    if (const auto found = m_sums.find(key); found != m_sums.end()) {
        value = std::move(found->second);
        m_sums.erase(found);
    }
    if (const auto parts = m_parts.find(key); parts != m_parts.end()) {
        SONDE_TRY(addGradient(value, Value(std::move(parts->second))));
        m_parts.erase(parts);
    }
    return value;
}

/// What the operation gave had the edits' values after it.
base::Result<tensor::Value> Backward::beforeEdits(NodeId node, Value gradient) const {
    const auto& edits = m_run.plan().options().edits;
    if (!edits || gradient.isNone()) return gradient;
    for (std::size_t i = edits->values.size(); i-- > 0;) {
        const exec::ValueEdit& edit = edits->values[i];
        const auto* const own = edit.node == node ? edit.apply.target<EditApplication>() : nullptr;
        if (!own) continue;
        SONDE_ASSIGN(gradient, pullBack(own->edit, gradient));
    }
    return gradient;
}

/// The same of a value whose operation's turn has come.
base::Result<tensor::Value> Backward::take(const ValueKey& key) {
    SONDE_ASSIGN(Value value, complete(key));
    if (const auto kept = m_kept.find(key); kept != m_kept.end() && !value.isNone()) kept->second = value;
    return beforeEdits(key.first, std::move(value));
}

// --- operations -----------------------------------------------------------------------------------------------------

base::Result<void> Backward::visit(ItemId item) {
    if (m_trace[item].kind == Item::Kind::Body) return leaveIteration(item);
    return isControl(item) ? enterControl(item) : differentiate(item);
}

base::Result<void> Backward::differentiate(ItemId item) {
    const Expr& expr = exprOf(item);
    DoneOperation operation{&expr, {}, {}};
    std::vector<Value> given;
    bool isReached = false;
    for (const NodeId output : expr.outputs) {
        SONDE_ASSIGN(Value gradient, take({output, item}));
        given.push_back(std::move(gradient));
        isReached = isReached || !given.back().isNone();
        auto value = m_graph.node(output).users.empty() && given.back().isNone()
                         ? base::Result<Value>(Value())
                         : m_run.value(output, item, true, m_work);
        operation.outputs.push_back(value ? std::move(*value) : Value());
    }
    if (!isReached || isFlat(expr)) return {};
    if (stopsGradient(expr)) {
        if (std::ranges::find(m_stops, expr.id) == m_stops.end()) m_stops.push_back(expr.id);
        return {};
    }
    std::unordered_set<NodeId> wanted;
    for (const NodeId input : expr.inputs) {
        if (operation.inputs.contains(input)) continue;
        SONDE_ASSIGN(Value value, m_run.value(input, item, false, m_work));
        operation.inputs.emplace(input, std::move(value));
        if (m_reach[m_run.sourceOf(input).index()]) wanted.insert(input);
    }
    if (wanted.empty()) return {};
    auto found = operationGradient(operation, given, wanted, m_runner, m_work);
    if (!found) return blamed(std::move(found).error(), expr);
    ++m_operations;
    for (auto& [input, gradient] : *found) SONDE_TRY(give(keyOf(input, item, false), std::move(gradient)));
    return {};
}

base::Error Backward::blamed(base::Error error, const Expr& expr) const {
    if (error.kind != base::ErrorKind::Usage) return error;
    const std::string op = expr.op.name.empty() ? expr.target : expr.op.name;
    const std::string node = expr.outputs.empty() ? expr.name : m_graph.node(expr.outputs.front()).name;
    return base::usageError("'" + node + "' (" + op + ") cannot be differentiated: " + error.what, {},
                            std::string(kNameBehind));
}

// --- calls and branches ---------------------------------------------------------------------------------------------

/// Nothing has run inside yet, seen from behind: what the operation gave is what its bodies gave.
base::Result<void> Backward::enterControl(ItemId item) {
    const Expr& expr = exprOf(item);
    if (exec::isCall(expr)) return enterCall(item, expr);
    switch (graph::traitsOf(expr).opClass) {
        case OpClass::If: return enterBranch(item, expr);
        case OpClass::Loop: return enterLoop(item, expr);
        case OpClass::Scan: return enterScan(item, expr);
        case OpClass::SequenceMap: return enterMap(item, expr);
        default: break;
    }
    return blamed(base::usageError("there is no rule for what runs graphs in this way"), expr);
}

/// A call that puts its results together: a tuple of them.
base::Result<void> Backward::enterCall(ItemId item, const Expr& expr) {
    const Argument& result = m_graph.body(expr.bodies.front()).result;
    for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
        SONDE_ASSIGN(const Value gradient, take({expr.outputs[i], item}));
        const bool isWhole = expr.outputs.size() == 1;
        if (isWhole || i < result.items.size())
            SONDE_TRY(giveParts(isWhole ? result : result.items[i], gradient, m_trace[item].end));
    }
    return {};
}

base::Result<void> Backward::giveParts(const Argument& argument, const Value& gradient, ItemId end) {
    if (gradient.isNone()) return {};
    if (argument.kind == Argument::Kind::Node) return give(resultKey(argument.node, end), gradient);
    if (!gradient.isListLike()) return {};
    for (std::size_t i = 0; i < argument.items.size() && i < gradient.items().size(); ++i)
        SONDE_TRY(giveParts(argument.items[i], gradient.items()[i], end));
    return {};
}

base::Result<void> Backward::enterBranch(ItemId item, const Expr& expr) {
    if (expr.inputs.empty() || expr.bodies.size() != 2)
        return blamed(base::usageError("its condition is not known"), expr);
    SONDE_ASSIGN(const Value condition, m_run.value(expr.inputs.front(), item, false, m_work));
    const bool holds = condition.isTensor() ? condition.tensor().toDouble(0) != 0 : condition.number() != 0;
    std::size_t taken = holds ? 0 : 1;
    if (const auto* named = expr.attributes.find(holds ? "then_branch" : "else_branch"))
        if (const auto* body = std::get_if<tensor::BodyRef>(named)) taken = body->index;
    const graph::Body& body = m_graph.body(expr.bodies[taken]);
    for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
        SONDE_ASSIGN(Value gradient, take({expr.outputs[i], item}));
        SONDE_TRY(give(resultKey(body.outputs[i], m_trace[item].end), std::move(gradient)));
    }
    return {};
}

// --- iterations -----------------------------------------------------------------------------------------------------

std::vector<debug::ItemId> Backward::iterationsOf(ItemId loop) const {
    std::vector<ItemId> iterations;
    for (ItemId item = loop + 1; item < m_trace[loop].end;) {
        const bool isIteration = m_trace[item].kind == Item::Kind::Body && m_trace[item].parent == loop;
        if (isIteration) iterations.push_back(item);
        item = isIteration ? m_trace[item].end : item + 1;
    }
    return iterations;
}

/// None before the first one of a loop.
debug::ItemId Backward::iterationBefore(ItemId item) const {
    ItemId before = kNoItem;
    for (const ItemId iteration : iterationsOf(m_trace[item].parent))
        if (iteration < item) before = iteration;
    return before;
}

base::Result<void> Backward::giveResult(ItemId iteration, std::size_t output, const Value& gradient) {
    const graph::Body& body = m_graph.body(exprOf(iteration).bodies.front());
    if (output >= body.outputs.size()) return {};
    return give(resultKey(body.outputs[output], m_trace[iteration].end), gradient);
}

/// What an iteration was given is what the one before it gave, or the loop.
base::Result<void> Backward::leaveIteration(ItemId item) {
    const ItemId loop = m_trace[item].parent;
    const Expr& expr = exprOf(item);
    if (loop != kNoItem) {
        switch (graph::traitsOf(expr).opClass) {
            case OpClass::Loop: return leaveLoop(item, loop, expr);
            case OpClass::Scan: return leaveScan(item, loop, expr);
            case OpClass::SequenceMap: return leaveMap(item, loop, expr);
            default: break;
        }
    }
    return blamed(base::usageError("there is no rule for what runs graphs in this way"), expr);
}

}  // namespace sonde::session::gradient
