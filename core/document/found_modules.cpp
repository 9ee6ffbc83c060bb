#include "core/document/found_modules.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "core/analysis/found_groups.h"

namespace sonde::document {

namespace {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using graph::ScopeId;

/// Fewer operations can be seen at a glance.
constexpr std::size_t kMinOps = 12;

/// Operations of the main body that depend on the inputs; `depends` is set for them and for the inputs. The others are
/// weights, however they are written down.
std::vector<ExprId> dataOperations(const InternalGraph& graph, std::vector<bool>& depends) {
    depends.assign(graph.exprCount(), false);
    std::vector<ExprId> result;
    for (ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        bool isData = expr.kind == graph::ExprKind::Input;
        for (NodeId input : expr.inputs) isData = isData || depends[graph.node(input).producer.index()];
        // What a body captures counts, too; bodies are not looked into.
        isData = isData || !expr.bodies.empty();
        depends[id.index()] = isData;
        if (isData && expr.kind != graph::ExprKind::Input && expr.kind != graph::ExprKind::Output) result.push_back(id);
    }
    return result;
}

/// The scope that holds nearly all of them, if there is one.
ScopeId scopeOfAll(const InternalGraph& graph, const std::vector<ExprId>& exprs) {
    std::unordered_map<std::uint32_t, std::size_t> counts;
    for (ExprId id : exprs) ++counts[graph.expr(id).scope.value];
    for (const auto& [scope, count] : counts) {
        if (10 * count >= 9 * exprs.size()) return ScopeId(static_cast<std::size_t>(scope));
    }
    return {};
}

class Adder {
  public:
    Adder(InternalGraph& graph, graph::ModuleTree& modules, ScopeId base, const std::vector<bool>& depends)
        : m_graph(graph), m_modules(modules), m_base(base), m_depends(depends) {}

    void add(const std::vector<analysis::FoundGroup>& groups) {
        std::vector<ScopeId> scopes;
        for (const analysis::FoundGroup& group : groups) {
            const ScopeId parent = group.parent ? scopes[*group.parent] : m_base;
            const std::string& outer = m_graph.scope(parent).qualname;
            const std::string qualname = freeName(outer.empty() ? group.name : outer + "." + group.name);
            scopes.push_back(m_graph.addScope(parent, qualname, group.title, 0, true));
            m_modules.mutableModule(m_modules.add(qualname, group.title)).inferred = true;
            for (ExprId id : group.exprs) put(id, scopes.back());
        }
        moveWeights();
    }

  private:
    std::string freeName(const std::string& name) const {
        std::string result = name;
        for (int i = 2; m_modules.find(result); ++i) result = name + "_" + std::to_string(i);
        return result;
    }

    void put(ExprId id, ScopeId scope) {
        Expr& expr = m_graph.mutableExpr(id);
        expr.scope = scope;
        expr.qualname = m_graph.scope(scope).qualname;
        expr.moduleClass = m_graph.scope(scope).moduleClass;
        const std::vector<graph::BodyId> bodies = expr.bodies;
        for (graph::BodyId body : bodies) {
            const std::vector<ExprId> inside = m_graph.recursiveOrder(body);
            for (ExprId inner : inside) {
                if (m_graph.expr(inner).scope == m_base) put(inner, scope);
            }
        }
    }

    /// Weights go where they are read, and with them their entries in the module tree.
    void moveWeights() {
        std::unordered_map<std::string, std::string> owners;
        const std::vector<ExprId> order = m_graph.main().order;
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            const Expr& expr = m_graph.expr(*it);
            if (expr.scope != m_base || m_depends[it->index()] || expr.outputs.empty()) continue;
            const std::vector<ExprId>& users = m_graph.node(expr.outputs.front()).users;
            if (users.empty() || m_graph.expr(users.front()).scope == m_base) continue;
            put(*it, m_graph.expr(users.front()).scope);
            const bool isShared = std::ranges::any_of(
                users, [&](ExprId user) { return m_graph.expr(user).scope != m_graph.expr(users.front()).scope; });
            if (m_graph.expr(*it).isParameter && !isShared)
                owners.emplace(m_graph.expr(*it).name, *m_graph.expr(*it).qualname);
        }
        const auto base = m_modules.find(m_graph.scope(m_base).qualname);
        if (!base) return;
        std::vector<graph::ParameterInfo> kept;
        for (graph::ParameterInfo& parameter : m_modules.mutableModule(*base).parameters) {
            const auto owner = owners.find(parameter.name);
            const auto module = owner == owners.end() ? std::nullopt : m_modules.find(owner->second);
            if (module) m_modules.mutableModule(*module).parameters.push_back(std::move(parameter));
            else kept.push_back(std::move(parameter));
        }
        m_modules.mutableModule(*base).parameters = std::move(kept);
    }

    InternalGraph& m_graph;
    graph::ModuleTree& m_modules;
    ScopeId m_base;
    const std::vector<bool>& m_depends;
};

}  // namespace

void addFoundModules(InternalGraph& graph, graph::ModuleTree& modules, base::Diagnostics& findings) {
    std::vector<bool> depends;
    const std::vector<ExprId> operations = dataOperations(graph, depends);
    if (operations.size() < kMinOps) return;
    const ScopeId base = scopeOfAll(graph, operations);
    if (!base.valid()) return;
    std::vector<ExprId> inside;
    for (ExprId id : operations) {
        if (graph.expr(id).scope == base) inside.push_back(id);
    }
    const std::vector<analysis::FoundGroup> groups = analysis::findGroups(graph, inside);
    if (groups.empty()) return;
    Adder(graph, modules, base, depends).add(groups);
    findings.push_back(
        {base::Severity::Info,
         "the file names no modules: " + std::to_string(groups.size()) + " groups were found in the graph",
         modules.module(0).moduleClass, "--no-groups shows the graph as it is"});
}

}  // namespace sonde::document
