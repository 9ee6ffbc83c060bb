#include "core/session/debug/view.h"

#include <algorithm>

#include "core/base/nearest.h"
#include "core/exec/flatten.h"
#include "core/session/debug/value_change.h"

namespace sonde::session::debug {

using graph::NodeId;
using tensor::Value;

namespace {

/// The item at which values are looked up, and whether after it is done.
std::pair<ItemId, bool> lookupAt(const RecordedRun& run, const Place& place) {
    const Trace& trace = run.trace();
    // After everything: also after a branch or loop that the last operation was inside of.
    if (place.isEnd) return {static_cast<ItemId>(trace.size()), false};
    if (place.item == kNoItem) return {0, false};
    const ItemId operation = trace.operationAt(place.item);
    const bool isDone = operation != kNoItem && trace.isDone(operation) && trace[operation].end == operation + 1 &&
                        run.graph().expr(trace[operation].expr).bodies.empty();
    return isDone ? std::pair(operation, true) : std::pair(place.item, false);
}

}  // namespace

ItemId View::itemOf(const RecordedRun& run, const Place& place, NodeId node) {
    if (run.trace().size() == 0) return kNoItem;
    const auto [item, isAfter] = lookupAt(run, place);
    return run.itemOf(node, item, isAfter);
}

base::Result<Value> View::value(NodeId node, const base::WorkContext& work) const {
    const auto [item, isAfter] = lookupAt(*m_run, m_place);
    return m_run->value(node, item, isAfter, work);
}

base::Result<Value> View::evaluate(const expression::Expression& expression, const base::WorkContext& work) const {
    const auto names = [this, &work](std::string_view name) -> base::Result<Value> {
        SONDE_ASSIGN(const NodeId node, m_document->findNode(name));
        return value(node, work);
    };
    return expression::evaluate(expression, names, work);
}

void View::doCurrent(const base::WorkContext& work) const {
    if (m_place.isEnd || m_place.item == kNoItem || m_run->hasEnded() || work.cancelled()) return;
    const ItemId operation = m_run->trace().operationAt(m_place.item);
    if (operation == kNoItem || !m_run->graph().expr(m_run->trace()[operation].expr).bodies.empty()) return;
    m_run->finish(operation, work.stop);
}

base::Result<Value> shownValue(const View& view, RecordedRun* baseline, ShownValues shown, NodeId node,
                               const base::WorkContext& work) {
    if (!baseline || shown == ShownValues::Counterfactual) return view.value(node, work);
    (void)follow(*baseline, view.run(), view.place(), work);
    if (work.cancelled()) return base::cancelled();
    if (baseline->trace().size() == 0) return base::usageError("the run has no steps");
    Place place = view.place();
    const auto last = static_cast<ItemId>(baseline->trace().size() - 1);
    if (place.item != kNoItem) place.item = std::min(place.item, last);
    const auto [item, isAfter] = lookupAt(*baseline, place);
    SONDE_ASSIGN(Value before, baseline->value(node, item, isAfter, work));
    if (shown == ShownValues::Baseline) return before;
    SONDE_ASSIGN(Value now, view.value(node, work));
    return valueDifference(now, before, work);
}

base::Result<Value> valueInPass(RecordedRun& run, NodeId node, const std::vector<std::int64_t>& pass,
                                const base::WorkContext& work) {
    const NodeId source = run.sourceOf(node);
    const graph::ExprId maker = run.graph().node(source).producer;
    const graph::Expr& expr = run.graph().expr(maker);
    const bool isInput = expr.kind == graph::ExprKind::Input;
    const ItemId item = isInput ? run.trace().inPass(expr.body, pass) : run.trace().inPass(maker, pass);
    if (item == kNoItem || (!isInput && !run.trace().isDone(item)))
        return base::usageError("'" + run.graph().node(node).name + "' was not computed in that iteration");
    // An item gives its body's inputs itself.
    return run.value(source, item, !isInput, work);
}

// --- a module alone --------------------------------------------------------------------------------------------------

namespace {

/// The items of the last call of a module: from the first to the one after the last.
std::pair<ItemId, ItemId> lastCallOf(const RecordedRun& run, std::string_view qualname) {
    const graph::InternalGraph& graph = run.graph();
    const auto isIn = [&](ItemId item) {
        for (graph::ScopeId scope = run.trace()[item].scope; scope.valid(); scope = graph.scope(scope).parent)
            if (graph.scope(scope).qualname == qualname) return scope;
        return graph::ScopeId();
    };
    auto end = static_cast<ItemId>(run.trace().size());
    while (end > 0 && (!isIn(end - 1).valid() || !run.trace().isDone(end - 1))) --end;
    if (end == 0) return {0, 0};
    const graph::ScopeId call = isIn(end - 1);
    ItemId first = end - 1;
    for (ItemId item = end; item-- > 0;)
        if (isIn(item) == call) first = item;
    return {first, end};
}

}  // namespace

base::Result<ModuleRun> runAlone(RecordedRun& run, std::string_view qualname, const base::WorkContext& work) {
    const auto [first, end] = lastCallOf(run, qualname);
    if (first == end) {
        const auto& calls = run.graph().scopes();
        if (std::ranges::find(calls, qualname, &graph::Scope::qualname) != calls.end())
            return base::usageError("module '" + std::string(qualname) + "' was not run", {}, "run the model first");
        std::vector<std::string> names;
        for (const graph::Scope& call : calls) names.push_back(call.qualname);
        return base::usageError("no operation is in a module '" + std::string(qualname) + "'", {},
                                base::didYouMean(qualname, names));
    }
    const Trace& trace = run.trace();
    const std::vector<bool> can = exec::replayable(run.plan());
    ModuleRun result;
    std::unordered_map<NodeId, Value> made;
    const auto addInput = [&](NodeId node) {
        const NodeId source = run.sourceOf(node);
        const bool isKnown =
            std::ranges::any_of(result.inputs, [&](NodeId input) { return run.sourceOf(input) == source; });
        if (!isKnown && !made.contains(source) && !run.graph().node(source).constant) result.inputs.push_back(node);
    };
    for (ItemId item = first; item < end;) {
        if (trace[item].kind != Item::Kind::Operation) {
            ++item;
            continue;
        }
        const graph::Expr& expr = run.graph().expr(trace[item].expr);
        std::ranges::for_each(expr.inputs, addInput);
        if (exec::isCall(expr)) {
            ++item;
            continue;
        }
        if (!can[expr.id.index()])
            return base::usageError("module '" + std::string(qualname) + "' cannot be run alone: '" + expr.target +
                                    "' has an effect, or is code of the model's own");
        std::ranges::for_each(exec::readsOf(run.plan(), expr.id), addInput);
        SONDE_ASSIGN(const auto outputs, run.doAgain(item, made, work));
        for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i) {
            SONDE_ASSIGN(const Value before, run.value(expr.outputs[i], item, true, work));
            result.isSame = result.isSame && tensor::identical(before, outputs[i]);
            result.nodes.push_back(expr.outputs[i]);
            result.values.push_back(outputs[i]);
            made[expr.outputs[i]] = outputs[i];
        }
        item = trace[item].end;  // what is inside was done with it
    }
    return result;
}

}  // namespace sonde::session::debug
