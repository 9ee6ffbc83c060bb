#include "core/session/debug/breakpoints.h"

#include <algorithm>
#include <array>

#include "core/base/nearest.h"
#include "core/operators/names.h"

namespace sonde::session::debug {

using graph::NodeId;

namespace {

constexpr std::array<std::pair<std::string_view, TensorEvent>, 4> kEvents{{{"nan", TensorEvent::Nan},
                                                                           {"inf", TensorEvent::Inf},
                                                                           {"overflow", TensorEvent::Overflow},
                                                                           {"zero", TensorEvent::Zero}}};
constexpr std::string_view kOperatorPrefix = "op:";
constexpr std::size_t kMaxSaved = 10'000;  ///< breakpoints that are read from a file

bool isOperator(const graph::Expr& expr, std::string_view name) {
    if (expr.op.name.empty()) return false;
    return expr.op.name == name || operators::withoutOverload(expr.op.name) == name ||
           (!expr.op.domain.empty() && expr.op.domain + "::" + expr.op.name == name);
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

/// "the model has _convolution, relu_, ...": those with most letters in common, the first of a name counting most.
std::string operatorsLike(std::string_view name, std::vector<std::string> names) {
    constexpr std::size_t kShown = 4;
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const auto common = [name](const std::string& other) {
        std::size_t length = name.size();
        while (length > 0 && other.find(name.substr(0, length)) == std::string::npos) --length;
        return length;
    };
    std::ranges::stable_sort(names, std::ranges::greater{}, common);
    std::string text;
    for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i)
        text += (i == 0 ? "the model has " : ", ") + names[i];
    return names.size() > kShown ? text + ", ..." : text;
}

base::Result<std::string> operatorIn(const graph::InternalGraph& graph, std::string_view name) {
    std::vector<std::string> names;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (isOperator(graph.expr(id), name)) return std::string(name);
        if (!graph.expr(id).op.name.empty()) names.emplace_back(operators::withoutOverload(graph.expr(id).op.name));
    }
    std::string hint = base::didYouMean(name, names);
    if (hint.empty()) hint = operatorsLike(name, std::move(names));
    return base::usageError("the model has no operator '" + std::string(name) + "'", {}, std::move(hint));
}

/// A name that is written in backticks, behind backslashes where it has some.
std::optional<std::string> quotedName(std::string_view text) {
    if (text.size() < 2 || !text.starts_with('`') || !text.ends_with('`')) return std::nullopt;
    std::string name;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '\\' && i + 2 < text.size()) ++i;
        name += text[i];
    }
    return name;
}

void setNode(Breakpoint& point, const graph::InternalGraph& graph, NodeId node) {
    point.node = node;
    point.name = graph.node(node).name;
    point.qualname = graph.expr(graph.node(node).producer).qualname.value_or("");
    // The number of a node is another one in another graph.
    if (point.text.starts_with('#')) point.text = point.name;
}

bool isLeafCall(const graph::Expr& expr, std::string_view qualname) {
    return expr.kind == graph::ExprKind::CallModule && expr.qualname == qualname;
}

/// Finds the module of a point by its name; whether there is one.
bool bindModule(Breakpoint& point, const graph::InternalGraph& graph) {
    point.isLeaf = false;
    const auto hasName = [&](const graph::Scope& scope) { return scope.qualname == point.name; };
    if (std::ranges::any_of(graph.scopes(), hasName)) return true;
    for (std::size_t i = 0; i < graph.exprCount() && !point.isLeaf; ++i)
        point.isLeaf = !graph.isErased(graph::ExprId(i)) && isLeafCall(graph.expr(graph::ExprId(i)), point.name);
    return point.isLeaf;
}

base::Result<Breakpoint> placed(const document::Document& document, std::string_view where) {
    const graph::InternalGraph& graph = *document.graph;
    Breakpoint point;
    point.text = where;
    if (const auto name = quotedName(where)) {
        SONDE_ASSIGN(const NodeId node, placeOf(document, *name));
        setNode(point, graph, node);
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
        setNode(point, graph, *node);
        return point;
    }
    point.kind = Breakpoint::Kind::Module;
    point.name = where;
    if (where.empty() || !bindModule(point, graph)) return std::move(node).error();
    return point;
}

/// What computes the nodes that an expression names; those that are there before the run begins are left out.
/// Error: there is no node of that name.
base::Result<std::vector<graph::ExprId>> producersOf(const document::Document& document,
                                                     const expression::Expression& expression) {
    std::vector<graph::ExprId> producers;
    for (const std::string& name : expression.names()) {
        const auto node = document.findNode(name);
        if (!node) {
            const std::string& text = expression.text();
            return base::usageError(node.error().what,
                                    "column " + std::to_string(columnOf(text, name)) + " of '" + text + "'",
                                    node.error().hint);
        }
        if (isPlace(*document.graph, *node)) producers.push_back(document.graph->node(*node).producer);
    }
    return producers;
}

base::Result<std::vector<graph::ExprId>> producersOfCondition(const document::Document& document,
                                                              const expression::Expression& expression) {
    SONDE_ASSIGN(auto producers, producersOf(document, expression));
    if (!producers.empty()) return producers;
    return base::usageError("the condition names no node that the run computes",
                            "column 1 of '" + expression.text() + "'", "name one, as in 'max(conv1) > 10'");
}

/// Whether both stop at the same place whenever a run comes there.
bool isSame(const Breakpoint& a, const Breakpoint& b) {
    const auto isPlain = [](const Breakpoint& point) { return !point.isLog && point.expression.empty(); };
    return isPlain(a) && isPlain(b) && a.kind == b.kind && a.node == b.node && a.event == b.event &&
           (a.kind == Breakpoint::Kind::Node || a.name == b.name);
}

base::Error noSuchPoint(int id) { return base::usageError("there is no breakpoint " + std::to_string(id)); }

/// A node that may have another name since.
NodeId foundAgain(const graph::InternalGraph& graph, const Breakpoint& point) {
    NodeId node = graph.findNode(point.name);
    if (node.valid() || point.qualname.empty()) return node.valid() && isPlace(graph, node) ? node : NodeId();
    for (const graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.qualname == point.qualname && !expr.outputs.empty() && isPlace(graph, expr.outputs.front()))
            node = expr.outputs.front();
    }
    return node;
}

/// Where it is in a document; whether it has a place there.
void bindOne(Breakpoint& point, const document::Document& document) {
    const graph::InternalGraph& graph = *document.graph;
    switch (point.kind) {
        case Breakpoint::Kind::Node:
            point.node = foundAgain(graph, point);
            point.isMissing = !point.node.valid();
            break;
        case Breakpoint::Kind::Module: point.isMissing = !bindModule(point, graph); break;
        case Breakpoint::Kind::Operator: point.isMissing = !operatorIn(graph, point.name); break;
        case Breakpoint::Kind::Event: break;
        case Breakpoint::Kind::Condition: {
            auto producers = producersOfCondition(document, point.expression);
            point.isMissing = !producers;
            point.producers = producers ? std::move(*producers) : std::vector<graph::ExprId>();
            break;
        }
    }
}

/// What a saved one was, whether or not a document has a place for it. Error: it is none.
base::Result<Breakpoint> readSaved(const SavedBreakpoint& saved) {
    Breakpoint point;
    point.text = saved.where;
    point.isLog = saved.isLog;
    point.isEnabled = saved.isEnabled;
    point.ignored = saved.isLog ? 0 : saved.ignored;
    if (!saved.expression.empty()) {
        SONDE_ASSIGN(point.expression, expression::parse(saved.expression));
    }
    if (saved.isLog && (saved.expression.empty() || saved.where.empty()))
        return base::usageError("a log point needs a place and an expression");
    const auto event = std::ranges::find(kEvents, saved.where, &std::pair<std::string_view, TensorEvent>::first);
    if (const auto name = quotedName(saved.where)) {
        point.name = *name;
        point.qualname = saved.qualname;
    } else if (saved.where.starts_with(kOperatorPrefix)) {
        point.kind = Breakpoint::Kind::Operator;
        point.name = saved.where.substr(kOperatorPrefix.size());
    } else if (event != kEvents.end()) {
        point.kind = Breakpoint::Kind::Event;
        point.event = event->second;
    } else if (saved.where.empty()) {
        point.kind = Breakpoint::Kind::Condition;
        if (point.expression.empty()) return base::usageError("a breakpoint needs a place or a condition");
    } else {
        point.kind = Breakpoint::Kind::Module;
        point.name = saved.where;
    }
    return point;
}

}  // namespace

base::Result<int> Breakpoints::add(const document::Document& document, std::string_view where, std::string_view text,
                                   bool isLog) {
    Breakpoint point;
    const bool isCondition = where.empty() && !isLog && !text.empty();
    if (isCondition) {
        point.kind = Breakpoint::Kind::Condition;
    } else {
        SONDE_ASSIGN(point, placed(document, where));
    }
    if (isLog && text.empty()) return base::usageError("a log point needs an expression");
    if (!text.empty()) {
        SONDE_ASSIGN(point.expression, expression::parse(text));
        SONDE_ASSIGN(auto producers, isCondition ? producersOfCondition(document, point.expression)
                                                 : producersOf(document, point.expression));
        if (isCondition) point.producers = std::move(producers);
    }
    point.isLog = isLog;
    if (const auto same = std::ranges::find_if(m_all, [&](const Breakpoint& other) { return isSame(other, point); });
        same != m_all.end()) {
        same->isEnabled = true;
        return same->id;
    }
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

base::Result<void> Breakpoints::setExpression(const document::Document& document, int id, std::string_view text) {
    const auto found = std::ranges::find(m_all, id, &Breakpoint::id);
    if (found == m_all.end()) return noSuchPoint(id);
    expression::Expression expression;
    if (!text.empty()) {
        SONDE_ASSIGN(expression, expression::parse(text));
    }
    const bool isCondition = found->kind == Breakpoint::Kind::Condition;
    if (expression.empty() && found->isLog) return base::usageError("a log point needs an expression");
    if (expression.empty() && isCondition) return base::usageError("a breakpoint without a place needs a condition");
    SONDE_ASSIGN(auto producers,
                 isCondition ? producersOfCondition(document, expression) : producersOf(document, expression));
    if (isCondition) {
        found->producers = std::move(producers);
        found->isMissing = false;
    }
    found->expression = std::move(expression);
    found->error.reset();
    return {};
}

base::Result<void> Breakpoints::setIgnored(int id, std::size_t hits) {
    const auto found = std::ranges::find(m_all, id, &Breakpoint::id);
    if (found == m_all.end()) return noSuchPoint(id);
    if (found->isLog) return base::usageError("log points do not stop: there is no hit to let pass");
    found->ignored = hits;
    return {};
}

std::vector<SavedBreakpoint> Breakpoints::saved() const {
    std::vector<SavedBreakpoint> all;
    for (const Breakpoint& point : m_all) {
        SavedBreakpoint saved{point.text,  point.qualname,  point.expression.text(),
                              point.isLog, point.isEnabled, point.ignored};
        if (point.kind == Breakpoint::Kind::Node) {
            saved.where = "`";
            for (const char c : point.name) {
                if (c == '`' || c == '\\') saved.where += '\\';
                saved.where += c;
            }
            saved.where += '`';
        }
        all.push_back(std::move(saved));
    }
    return all;
}

std::vector<base::Error> Breakpoints::restore(const document::Document& document,
                                              const std::vector<SavedBreakpoint>& saved) {
    std::vector<base::Error> errors;
    clear();
    for (const SavedBreakpoint& one : saved) {
        if (m_all.size() >= kMaxSaved) {
            errors.push_back(base::usageError("there are more than " + std::to_string(kMaxSaved) + " breakpoints"));
            break;
        }
        auto point = readSaved(one);
        if (!point) {
            errors.push_back(std::move(point).error().at(one.where.empty() ? one.expression : one.where));
            continue;
        }
        bindOne(*point, document);
        // Written by hand: the name of a node without backticks.
        if (point->kind == Breakpoint::Kind::Module && point->isMissing)
            if (auto node = placed(document, one.where); node && node->kind == Breakpoint::Kind::Node) {
                setNode(*point, *document.graph, node->node);
                point->kind = Breakpoint::Kind::Node;
                point->isMissing = false;
            }
        if (point->kind == Breakpoint::Kind::Node) point->text = point->name;
        point->id = ++m_lastId;
        m_all.push_back(std::move(*point));
    }
    return errors;
}

void Breakpoints::bind(const document::Document& document) {
    for (Breakpoint& point : m_all) bindOne(point, document);
    clearHits();
}

bool Breakpoints::isOf(const Breakpoint& point, const graph::InternalGraph& graph, const graph::Expr& expr) {
    switch (point.kind) {
        case Breakpoint::Kind::Node: return point.node.valid() && graph.node(point.node).producer == expr.id;
        case Breakpoint::Kind::Operator: return isOperator(expr, point.name);
        case Breakpoint::Kind::Condition: return std::ranges::find(point.producers, expr.id) != point.producers.end();
        case Breakpoint::Kind::Module: return point.isLeaf && isLeafCall(expr, point.name);
        case Breakpoint::Kind::Event: break;
    }
    return false;
}

}  // namespace sonde::session::debug
