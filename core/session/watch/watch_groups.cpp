#include "core/session/watch/watch_groups.h"

#include <algorithm>
#include <array>

#include "core/base/nearest.h"
#include "core/layout/outline.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using Kind = WatchGroup::Kind;

namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 5> kKindNames{{{Kind::Module, "module"},
                                                                       {Kind::Inside, "inside"},
                                                                       {Kind::Call, "call"},
                                                                       {Kind::Everything, "everything"},
                                                                       {Kind::Query, "query"}}};

bool isComputed(const Expr& expr) {
    return !layout::Outline::isConstant(expr) && expr.kind != graph::ExprKind::Output && !expr.outputs.empty();
}

/// In a called module that the tracer did not look into: its call has the same value.
bool isInLeaf(const InternalGraph& graph, const Expr& expr) {
    for (graph::ExprId owner = graph.body(expr.body).owner; owner.valid();
         owner = graph.body(graph.expr(owner).body).owner)
        if (graph.expr(owner).kind == graph::ExprKind::CallModule) return true;
    return false;
}

bool isBelow(std::string_view qualname, std::string_view module) {
    return module.empty() || qualname == module ||
           (qualname.starts_with(module) && qualname.size() > module.size() && qualname[module.size()] == '.');
}

bool isInCall(const InternalGraph& graph, const Expr& expr, const WatchGroup& group) {
    for (graph::ScopeId id = expr.scope; id.valid(); id = graph.scope(id).parent)
        if (graph.scope(id).qualname == group.text && graph.scope(id).call == group.call) return true;
    return false;
}

/// The calls of a module, by what they return.
std::vector<NodeId> outputsOf(const InternalGraph& graph, const std::vector<ExprId>& order, const std::string& module) {
    std::vector<NodeId> nodes;
    if (module.empty()) return graph.outputs();
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == graph::ExprKind::CallModule && expr.target == module)
            nodes.insert(nodes.end(), expr.outputs.begin(), expr.outputs.end());
    }
    if (!nodes.empty()) return nodes;
    std::vector<bool> isResult(graph.nodeCount(), false);
    for (const NodeId node : graph.outputs()) isResult[node.index()] = true;
    std::vector<bool> isInside(graph.exprCount(), false);
    for (const graph::Scope& call : graph.scopes()) {
        if (call.qualname != module) continue;
        const WatchGroup group{Kind::Call, module, call.call};
        std::vector<NodeId> leaving, last;
        for (const ExprId id : order) isInside[id.index()] = isInCall(graph, graph.expr(id), group);
        for (const ExprId id : order) {
            if (!isInside[id.index()] || !isComputed(graph.expr(id))) continue;
            for (const NodeId node : graph.expr(id).outputs) {
                const auto& users = graph.node(node).users;
                if (isResult[node.index()] ||
                    std::ranges::any_of(users, [&](ExprId user) { return !isInside[user.index()]; }))
                    leaving.push_back(node);
                last = {node};
            }
        }
        const std::vector<NodeId>& one = leaving.empty() ? last : leaving;
        nodes.insert(nodes.end(), one.begin(), one.end());
    }
    return nodes;
}

base::Error noModule(const document::Document& document, const WatchGroup& group) {
    std::vector<std::string> names;
    if (document.modules)
        for (const graph::ModuleInfo& module : document.modules->modules()) names.push_back(module.qualname);
    if (group.kind == Kind::Call && std::ranges::find(names, group.text) != names.end())
        return base::usageError("module '" + group.text + "' has no call " + std::to_string(group.call + 1));
    return base::usageError("no node is from module '" + group.text + "'", {}, base::didYouMean(group.text, names));
}

base::Result<std::vector<NodeId>> nodesOf(const document::Document& document, const WatchGroup& group,
                                          const WatchGroups::Facts& facts) {
    const InternalGraph& graph = *document.graph;
    if (group.kind == Kind::Query) {
        analysis::QueryProblem problem;
        const auto query = analysis::Query::parse(group.text, &problem);
        if (!query) return problem.error();
        if (query->empty()) return base::usageError("the query is empty");
        analysis::QueryFacts known = facts ? facts() : analysis::QueryFacts();
        known.modules = document.modules.get();
        std::vector<NodeId> nodes = query->run(graph, known);
        if (!query->asksForConstants())
            std::erase_if(nodes, [&](NodeId node) {
                const Expr& expr = graph.expr(graph.node(node).producer);
                return layout::Outline::isConstant(expr) || isInLeaf(graph, expr);
            });
        return nodes;
    }
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    if (group.kind == Kind::Module) {
        std::vector<NodeId> nodes = outputsOf(graph, order, group.text);
        if (nodes.empty()) return noModule(document, group);
        return nodes;
    }
    std::vector<NodeId> nodes;
    int leafCalls = 0;  // of the module, if it was not traced into
    for (const ExprId id : order) {
        const Expr& expr = graph.expr(id);
        if (!isComputed(expr) || isInLeaf(graph, expr)) continue;
        const bool isCall =
            expr.kind == graph::ExprKind::CallModule && expr.target == group.text && leafCalls++ == group.call;
        const bool isIn = group.kind == Kind::Everything ||
                          (group.kind == Kind::Inside && expr.qualname && isBelow(*expr.qualname, group.text)) ||
                          (group.kind == Kind::Call && (isCall || isInCall(graph, expr, group)));
        if (isIn) nodes.insert(nodes.end(), expr.outputs.begin(), expr.outputs.end());
    }
    if (nodes.empty() && group.kind != Kind::Everything) return noModule(document, group);
    return nodes;
}

}  // namespace

std::string_view name(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)].second; }

std::optional<Kind> watchGroupKind(std::string_view name) {
    const auto found = std::ranges::find(kKindNames, name, &std::pair<Kind, std::string_view>::second);
    return found == kKindNames.end() ? std::nullopt : std::optional<Kind>(found->first);
}

std::string WatchGroup::title() const {
    const std::string module = text.empty() ? "the model" : text;
    switch (kind) {
        case Kind::Module: return module;
        case Kind::Inside: return "inside " + module;
        case Kind::Call: return "inside " + module + ", call " + std::to_string(call + 1);
        case Kind::Everything: return "everything";
        case Kind::Query: break;
    }
    return text;
}

std::vector<WatchGroup> WatchGroups::all() const {
    std::vector<WatchGroup> groups;
    for (const Entry& entry : m_entries) groups.push_back(entry.group);
    return groups;
}

base::Result<void> WatchGroups::add(const document::Document& document, WatchGroup group, const Facts& facts) {
    if (m_entries.size() >= kMaxGroups)
        return base::usageError("there are " + std::to_string(kMaxGroups) + " watched groups already");
    if (std::ranges::find(m_entries, group, &Entry::group) != m_entries.end())
        return base::usageError("'" + group.title() + "' is watched already");
    SONDE_ASSIGN(std::vector<NodeId> nodes, nodesOf(document, group, facts));
    m_entries.push_back({std::move(group), std::move(nodes), std::nullopt});
    collect();
    return {};
}

base::Result<void> WatchGroups::change(const document::Document& document, std::size_t index, WatchGroup group,
                                       const Facts& facts) {
    SONDE_ASSIGN(std::vector<NodeId> nodes, nodesOf(document, group, facts));
    m_entries[index] = {std::move(group), std::move(nodes), std::nullopt};
    collect();
    return {};
}

bool WatchGroups::remove(std::size_t index) {
    if (index >= m_entries.size()) return false;
    m_entries.erase(m_entries.begin() + static_cast<std::ptrdiff_t>(index));
    collect();
    return true;
}

bool WatchGroups::clear() {
    const bool had = !m_entries.empty();
    m_entries.clear();
    collect();
    return had;
}

void WatchGroups::restore(std::vector<WatchGroup> groups) {
    m_entries.clear();
    for (WatchGroup& group : groups)
        if (m_entries.size() < kMaxGroups) m_entries.push_back({std::move(group), {}, std::nullopt});
    collect();
}

bool WatchGroups::bind(const document::Document& document, const Facts& facts) {
    const std::vector<NodeId> before = m_nodes;
    for (Entry& entry : m_entries) {
        auto nodes = nodesOf(document, entry.group, facts);
        entry.error = nodes ? std::nullopt : std::optional<base::Error>(nodes.error());
        entry.nodes = nodes ? std::move(nodes).value() : std::vector<NodeId>();
    }
    collect();
    return before != m_nodes;
}

void WatchGroups::collect() {
    m_nodes.clear();
    m_isIn.clear();
    for (const Entry& entry : m_entries)
        for (const NodeId node : entry.nodes)
            if (m_isIn.insert(node).second) m_nodes.push_back(node);
}

}  // namespace sonde::session
