// Calls of operators that a program makes: followed by Memory, or recorded as they are.

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "core/graph/memory.h"
#include "core/graph/traits.h"
#include "core/operators/same_tensor.h"
#include "core/trace/memory.h"
#include "core/trace/memory_rules.h"
#include "core/trace/operator_call.h"
#include "core/trace/pending_error.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

namespace {

/// The node may show a part of its storage, or all of it in another order.
bool mayShowPart(const graph::InternalGraph& graph, graph::NodeId node) {
    while (true) {
        const graph::Expr& expr = graph.expr(graph.node(node).producer);
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
bool isSurelyPacked(const graph::InternalGraph& graph, graph::NodeId node,
                    const std::function<bool(graph::NodeId)>& isKnown) {
    constexpr std::size_t kMaxNodes = 1000;
    std::vector<graph::NodeId> waiting{node};
    std::unordered_set<graph::NodeId> seen{node};
    while (!waiting.empty()) {
        const graph::NodeId each = waiting.back();
        waiting.pop_back();
        if (isKnown(each)) continue;
        const graph::Expr& expr = graph.expr(graph.node(each).producer);
        const operators::Traits& traits = graph::traitsOf(expr);
        if (traits.density == operators::Density::Always) continue;
        const bool isLikeAll = traits.density == operators::Density::LikeArguments;
        const bool isLikeFirst = traits.form == operators::ViewForm::Same || operators::keepsOrder(traits.form) ||
                                 traits.memory.sharing == graph::Sharing::Written;
        if ((!isLikeAll && !isLikeFirst) || expr.inputs.empty() || seen.size() > kMaxNodes) return false;
        for (const graph::NodeId input : expr.inputs) {
            if (seen.insert(input).second) waiting.push_back(input);
            if (isLikeFirst && !isLikeAll) break;
        }
    }
    return true;
}

}  // namespace

Var Tracer::called(OperatorCall call) {
    return pendingError().noting(
        [&] { return followsInPlace() ? memory().call(std::move(call)) : recordAsIs(std::move(call)); });
}

Var Tracer::recordAsIs(OperatorCall call) {
    const auto out = std::ranges::find_if(
        call.keywords, [](const auto& entry) { return entry.first == "out" && !entry.second.isNone(); });
    if (out != call.keywords.end())
        throw TraceError(
            TraceErrorKind::Runtime,
            call.display + " with out= is not supported while in-place operations are recorded as they are");
    const bool isStrided = operators::readsWholeStorage(call.domain, call.op) && !call.arguments.empty();
    if (isStrided && call.arguments[0].isProxy() && mayShowPart(graph(), call.arguments[0].node()))
        throw TraceError(TraceErrorKind::Runtime,
                         recording().placeOf(call.arguments[0].node()) +
                             " is seen through other strides, and where it begins in its storage is not known: not "
                             "supported; call clone() on it before");
    const auto isPacked = [this](graph::NodeId node) {
        const std::optional<tensor::ValueKind> kind = recording().kindOf(node);
        return memory().isPacked(node) || (kind && *kind != tensor::ValueKind::Tensor);
    };
    if (isStrided && call.arguments[0].isProxy() && !isSurelyPacked(graph(), call.arguments[0].node(), isPacked))
        throw TraceError(TraceErrorKind::Runtime,
                         recording().placeOf(call.arguments[0].node()) + ' ' + operators::kUnknownLayoutText);
    const Link link = linkOf(call, &recording(), false);
    const Var target = call.arguments.empty() ? Var() : call.arguments.front();
    const bool writes = link == Link::Write || link == Link::Reform;
    if (writes && target.kind() == Var::Kind::Value && target.value().isTensor()) memory().noteRawWrite(target);
    const Var result =
        recording().record(call.kind, {call.domain, call.op, 0}, call.target, call.display, std::move(call.arguments),
                           std::move(call.keywords), call.makesTensor, call.outputs);
    ValueOracle* oracle = recorder().oracle();
    if (writes && oracle && target.isProxy() && result.isProxy()) oracle->rebound(target.node(), result.node());
    return result;
}

}  // namespace sonde::trace
