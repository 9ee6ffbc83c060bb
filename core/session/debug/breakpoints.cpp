#include "core/session/debug/breakpoints.h"

#include <algorithm>
#include <array>

#include "core/base/nearest.h"
#include "core/exec/flatten.h"
#include "core/operators/names.h"

namespace sonde::session::debug {

using graph::NodeId;
using graph::ScopeId;

namespace {

constexpr std::array<std::pair<std::string_view, TensorEvent>, 4> kEvents{{{"nan", TensorEvent::Nan},
                                                                           {"inf", TensorEvent::Inf},
                                                                           {"overflow", TensorEvent::Overflow},
                                                                           {"zero", TensorEvent::Zero}}};
constexpr std::string_view kOperatorPrefix = "op:";
constexpr std::size_t kMaxLog = 100'000;

bool isOperator(const graph::Expr& expr, std::string_view name) {
    if (expr.op.name.empty()) return false;
    return expr.op.name == name || operators::withoutOverload(expr.op.name) == name ||
           (!expr.op.domain.empty() && expr.op.domain + "::" + expr.op.name == name);
}

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

/// An operation that does not run has no place.
bool isPlace(const graph::InternalGraph& graph, NodeId node) {
    const graph::Expr& expr = graph.expr(graph.node(node).producer);
    return expr.kind != graph::ExprKind::Input && !graph.node(node).constant;
}

base::Result<NodeId> placeOf(const document::Document& document, std::string_view text) {
    SONDE_ASSIGN(const NodeId node, document.findNode(text));
    if (isPlace(*document.graph, node)) return node;
    return base::usageError("'" + std::string(text) + "' is there before the run begins: no operation computes it", {},
                            "choose a node that reads it");
}

bool isNameByte(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

/// Where a name is in an expression that has it, in code points from 1.
std::size_t columnOf(std::string_view text, std::string_view name) {
    const std::string written = expression::quoted(name);
    for (std::size_t at = text.find(written); at != std::string_view::npos; at = text.find(written, at + 1)) {
        const std::size_t end = at + written.size();
        if ((at > 0 && isNameByte(text[at - 1])) || (end < text.size() && isNameByte(text[end]))) continue;
        const auto before = text.substr(0, at);
        return 1 + static_cast<std::size_t>(std::ranges::count_if(before, [](char c) { return (c & 0xC0) != 0x80; }));
    }
    return 1;
}

base::Result<std::string> operatorIn(const graph::InternalGraph& graph, std::string_view name) {
    std::vector<std::string> names;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (isOperator(graph.expr(id), name)) return std::string(name);
        if (!graph.expr(id).op.name.empty()) names.push_back(graph.expr(id).op.name);
    }
    return base::usageError("the model has no operator '" + std::string(name) + "'", {}, base::didYouMean(name, names));
}

}  // namespace

base::Result<Breakpoint> Breakpoints::placed(const document::Document& document, std::string_view where) const {
    const graph::InternalGraph& graph = *document.graph;
    Breakpoint point;
    point.text = where;
    if (where.size() >= 2 && where.starts_with('`') && where.ends_with('`')) {
        SONDE_ASSIGN(point.node, placeOf(document, where.substr(1, where.size() - 2)));
        return point;
    }
    if (where.starts_with(kOperatorPrefix)) {
        point.kind = Breakpoint::Kind::Operator;
        SONDE_ASSIGN(point.name, operatorIn(graph, where.substr(kOperatorPrefix.size())));
        return point;
    }
    for (const auto& [name, event] : kEvents) {
        if (where != name) continue;
        point.kind = Breakpoint::Kind::Event;
        point.event = event;
        return point;
    }
    auto node = placeOf(document, where);
    if (node) {
        point.node = *node;
        return point;
    }
    const bool isModule = !where.empty() && std::ranges::any_of(graph.scopes(), [&](const graph::Scope& scope) {
        return scope.qualname == where;
    });
    if (!isModule) return std::move(node).error();
    point.kind = Breakpoint::Kind::Module;
    point.name = where;
    return point;
}

base::Result<int> Breakpoints::add(const document::Document& document, std::string_view where, std::string_view text,
                                   bool isLog) {
    SONDE_ASSIGN(Breakpoint point, placed(document, where));
    if (isLog && text.empty()) return base::usageError("a log point needs an expression");
    if (!text.empty()) {
        SONDE_ASSIGN(point.expression, expression::parse(text));
        for (const std::string& name : point.expression.names()) {
            auto node = document.findNode(name);
            if (node) continue;
            const std::size_t column = columnOf(text, name);
            return base::usageError(node.error().what,
                                    "column " + std::to_string(column) + " of '" + std::string(text) + "'",
                                    node.error().hint);
        }
    }
    point.isLog = isLog;
    point.id = ++m_lastId;
    m_all.push_back(std::move(point));
    return m_lastId;
}

bool Breakpoints::remove(int id) {
    return std::erase_if(m_all, [id](const Breakpoint& point) { return point.id == id; }) > 0;
}

bool Breakpoints::setEnabled(int id, bool enabled) {
    const auto found = std::ranges::find(m_all, id, &Breakpoint::id);
    if (found == m_all.end()) return false;
    found->isEnabled = enabled;
    return true;
}

void Breakpoints::bind(const document::Document& document) {
    for (Breakpoint& point : m_all) {
        const auto again = placed(document, point.text);
        point.node = again ? again->node : NodeId();
        if (again) point.kind = again->kind;
    }
    clearHits();
}

void Breakpoints::clearHits() {
    for (Breakpoint& point : m_all) {
        point.hits.clear();
        point.error.reset();
    }
    m_log.clear();
}

bool Breakpoints::isOf(const Breakpoint& point, const graph::InternalGraph& graph, const graph::Expr& expr) {
    switch (point.kind) {
        case Breakpoint::Kind::Node: return point.node.valid() && graph.node(point.node).producer == expr.id;
        case Breakpoint::Kind::Operator: return isOperator(expr, point.name);
        case Breakpoint::Kind::Event:
        case Breakpoint::Kind::Module: break;
    }
    return false;
}

bool Breakpoints::isAt(const Breakpoint& point, const RecordedRun& run, ItemId item) const {
    const Trace& trace = run.trace();
    const graph::InternalGraph& graph = run.graph();
    if (trace[item].kind != Item::Kind::Operation) return false;
    const graph::Expr& expr = graph.expr(trace[item].expr);
    switch (point.kind) {
        case Breakpoint::Kind::Node:
        case Breakpoint::Kind::Operator: return isOf(point, graph, expr);
        case Breakpoint::Kind::Event: return (trace[item].events & static_cast<std::uint8_t>(point.event)) != 0;
        case Breakpoint::Kind::Module: break;
    }
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

std::vector<int> Breakpoints::at(const document::Document& document, RecordedRun& run, ItemId item, bool counts,
                                 const base::WorkContext& work) {
    std::vector<int> stops;
    for (Breakpoint& point : m_all) {
        if (!point.isEnabled || (point.isLog && !counts)) continue;
        // What comes up in a loop is known when it is done: the operation inside was the first.
        if (point.kind == Breakpoint::Kind::Event && run.graph().expr(run.trace()[item].expr).bodies.empty())
            run.finish(item, work.stop);
        if (!isAt(point, run, item)) continue;
        if (!point.expression.empty() && !run.finish(item, work.stop)) continue;  // it failed, or is paused
        if (point.isLog) {
            if (!point.hits.insert(item).second || m_log.size() >= kMaxLog) continue;
            m_log.push_back(
                {point.id, item, expression::evaluate(point.expression, namesAt(document, run, item, work), work)});
            continue;
        }
        if (!point.expression.empty()) {
            const auto isMet = expression::isTrue(point.expression, namesAt(document, run, item, work), work);
            point.error = isMet ? std::nullopt : std::optional(isMet.error());
            if (!isMet || !*isMet) continue;
        }
        if (counts) point.hits.insert(item);
        stops.push_back(point.id);
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
}

std::vector<LogEntry> Breakpoints::takeLog() { return std::exchange(m_log, {}); }

}  // namespace sonde::session::debug
