// Where a run meets its breakpoints: hits, conditions, and what log points write.

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/session/debug/breakpoints.h"

namespace sonde::session::debug {

using graph::NodeId;
using graph::ScopeId;

namespace {

/// The call of a module that an operation is in; of a call the one that it makes.
ScopeId scopeOf(const graph::InternalGraph& graph, const graph::Expr& expr) {
    if (exec::isCall(expr)) {
        for (const graph::ExprId inner : graph.body(expr.bodies.front()).order)
            if (graph.expr(inner).scope.valid()) return graph.expr(inner).scope;
    }
    return expr.scope;
}

/// The call of a module that a call is in, or is; none if it is in no call of that module.
ScopeId callOf(const graph::InternalGraph& graph, ScopeId scope, std::string_view qualname) {
    for (; scope.valid(); scope = graph.scope(scope).parent)
        if (graph.scope(scope).qualname == qualname) return scope;
    return {};
}

std::size_t bytesOf(const base::Result<tensor::Value>& value) {
    if (!value || !value->isTensor()) return 0;
    return static_cast<std::size_t>(value->tensor().numel()) * tensor::itemSize(value->tensor().dtype());
}

}  // namespace

void Breakpoints::clearHits() {
    for (Breakpoint& point : m_all) {
        point.hits.clear();
        point.error.reset();
    }
    m_log.clear();
    m_logBytes = m_droppedLog = 0;
}

bool Breakpoints::isAt(const Breakpoint& point, const RecordedRun& run, ItemId item) const {
    const Trace& trace = run.trace();
    const graph::InternalGraph& graph = run.graph();
    if (trace[item].kind != Item::Kind::Operation) return false;
    const graph::Expr& expr = graph.expr(trace[item].expr);
    switch (point.kind) {
        case Breakpoint::Kind::Node:
        case Breakpoint::Kind::Operator:
        case Breakpoint::Kind::Condition: return isOf(point, graph, expr);
        case Breakpoint::Kind::Event: return (trace[item].events & static_cast<std::uint8_t>(point.event)) != 0;
        case Breakpoint::Kind::Module: break;
    }
    if (point.isLeaf) return isOf(point, graph, expr);
    const ScopeId call = callOf(graph, scopeOf(graph, expr), point.name);
    if (!call.valid()) return false;
    ItemId before = item;
    while (before > 0 && trace[--before].kind != Item::Kind::Operation) {
    }
    if (before == item || trace[before].kind != Item::Kind::Operation) return true;
    return callOf(graph, scopeOf(graph, graph.expr(trace[before].expr)), point.name) != call;
}

bool Breakpoints::mayStop(const RecordedRun& run, ItemId item) const {
    return std::ranges::any_of(m_all, [&](const Breakpoint& point) {
        return point.isEnabled && (point.kind == Breakpoint::Kind::Event || isAt(point, run, item));
    });
}

expression::Names Breakpoints::namesAt(const document::Document& document, RecordedRun& run, ItemId item,
                                       const base::WorkContext& work) {
    return [&document, &run, item, &work](std::string_view name) -> base::Result<tensor::Value> {
        SONDE_ASSIGN(const NodeId node, document.findNode(name));
        return run.value(node, item, true, work);
    };
}

namespace {

/// The values of the nodes that an expression names, after what is done at an item; none if one is not there yet.
std::optional<std::map<std::string, tensor::Value, std::less<>>> valuesAt(const document::Document& document,
                                                                          const expression::Expression& expression,
                                                                          RecordedRun& run, ItemId item,
                                                                          const base::WorkContext& work) {
    std::map<std::string, tensor::Value, std::less<>> values;
    for (const std::string& name : expression.names()) {
        const auto node = document.findNode(name);
        auto value = node ? run.value(*node, item, true, work) : base::Result<tensor::Value>(node.error());
        if (!value) return std::nullopt;
        values.emplace(name, std::move(*value));
    }
    return values;
}

/// Whether a condition is met after an item; not met before all of its nodes are there.
base::Result<bool> isTrueAfter(const document::Document& document, const expression::Expression& condition,
                               RecordedRun& run, ItemId item, const base::WorkContext& work) {
    const auto values = valuesAt(document, condition, run, item, work);
    if (!values) return false;
    const auto names = [&](std::string_view name) -> base::Result<tensor::Value> {
        return values->find(name)->second;  // valuesAt() has all
    };
    return expression::isTrue(condition, names, work);
}

}  // namespace

/// Whether the condition of a breakpoint that is at an item holds after it; of a Condition whether it begins to.
bool Breakpoints::isMet(Breakpoint& point, const document::Document& document, RecordedRun& run, ItemId item,
                        const base::WorkContext& work) const {
    if (point.expression.empty()) return true;
    const bool isCondition = point.kind == Breakpoint::Kind::Condition;
    const auto isTrue = isCondition ? isTrueAfter(document, point.expression, run, item, work)
                                    : expression::isTrue(point.expression, namesAt(document, run, item, work), work);
    point.error = isTrue ? std::nullopt : std::optional(isTrue.error());
    if (!isTrue || !*isTrue) return false;
    if (!isCondition || item == 0) return true;
    const auto wasTrue = isTrueAfter(document, point.expression, run, item - 1, work);
    return !wasTrue || !*wasTrue;
}

void Breakpoints::write(Breakpoint& point, const document::Document& document, RecordedRun& run, ItemId item,
                        const base::WorkContext& work) {
    if (!point.hits.insert(item).second) return;
    if (m_log.size() >= kMaxLog || m_logBytes >= kMaxLogBytes) {
        ++m_droppedLog;
        return;
    }
    auto value = expression::evaluate(point.expression, namesAt(document, run, item, work), work);
    point.error = value ? std::nullopt : std::optional(value.error());
    const std::size_t bytes = bytesOf(value);
    if (bytes > kMaxLogBytes - m_logBytes) {
        ++m_droppedLog;
        return;
    }
    m_logBytes += bytes;
    m_log.push_back({point.id, item, std::move(value)});
}

std::vector<int> Breakpoints::at(const document::Document& document, RecordedRun& run, ItemId item, bool counts,
                                 const base::WorkContext& work) {
    std::vector<int> stops;
    for (Breakpoint& point : m_all) {
        if (!point.isEnabled || point.isMissing || (point.isLog && !counts)) continue;
        // What comes up in a loop is known when it is done: the operation inside was the first.
        if (point.kind == Breakpoint::Kind::Event && run.graph().expr(run.trace()[item].expr).bodies.empty())
            run.finish(item, work.stop);
        if (!isAt(point, run, item)) continue;
        if (!point.expression.empty() && !run.finish(item, work.stop)) continue;  // it failed, or is paused
        if (point.isLog) {
            write(point, document, run, item, work);
            continue;
        }
        if (!isMet(point, document, run, item, work)) continue;
        if (counts) point.hits.insert(item);
        const auto before = static_cast<std::size_t>(std::distance(point.hits.begin(), point.hits.lower_bound(item)));
        if (before >= point.ignored) stops.push_back(point.id);
    }
    return stops;
}

void Breakpoints::adopt(Breakpoints&& other) {
    for (Breakpoint& point : m_all) {
        const auto found = std::ranges::find(other.m_all, point.id, &Breakpoint::id);
        if (found == other.m_all.end()) continue;
        point.hits = std::move(found->hits);
        point.error = std::move(found->error);
    }
    m_log = std::move(other.m_log);
    m_logBytes = other.m_logBytes;
    m_droppedLog = other.m_droppedLog;
}

std::vector<LogEntry> Breakpoints::takeLog() {
    m_logBytes = 0;
    return std::exchange(m_log, {});
}

}  // namespace sonde::session::debug
