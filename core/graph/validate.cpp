#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "core/graph/internal_graph.h"

namespace sonde::graph {

namespace {

/// Walks the bodies as an execution would and checks that what is read was made before.
class Validator {
  public:
    explicit Validator(const InternalGraph& graph) : m_graph(graph), m_defined(graph.nodeCount(), false) {}

    base::Result<void> run() {
        SONDE_TRY(checkScopes());
        SONDE_TRY(checkNames());
        SONDE_TRY(checkBody(m_graph.mainId(), 0));
        return checkUses();
    }

  private:
    static base::Error broken(std::string what, std::string where) {
        return base::unreadable(std::move(what), std::move(where));
    }

    std::string nodeText(NodeId id) const { return "node '" + m_graph.node(id).name + "'"; }

    base::Result<void> checkScopes() const {
        for (const Scope& scope : m_graph.scopes()) {
            const bool isRoot = scope.id == m_graph.rootScope();
            if (isRoot != !scope.parent.valid()) return broken("scope has no parent", "scope '" + scope.qualname + "'");
            if (!isRoot && !(scope.parent < scope.id)) {
                return broken("scope precedes its parent", "scope '" + scope.qualname + "'");
            }
        }
        return {};
    }

    base::Result<void> checkNames() const {
        std::unordered_set<std::string_view> names(m_graph.nodeCount());
        for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) {
            const Node& node = m_graph.node(NodeId(i));
            if (m_graph.isErased(node.producer)) continue;
            if (!names.insert(node.name).second) return broken("name is used twice", nodeText(node.id));
        }
        return {};
    }

    base::Result<void> checkBody(BodyId id, int depth) {
        if (depth > 1000) return broken("bodies nest too deeply", "body " + std::to_string(id.value));
        const Body& body = m_graph.body(id);
        std::vector<NodeId> made;
        for (ExprId exprId : body.order) {
            if (m_graph.isErased(exprId)) return broken("erased expr in a body", "body " + std::to_string(id.value));
            const Expr& expr = m_graph.expr(exprId);
            if (expr.body != id) return broken("expr is in another body", "expr " + std::to_string(exprId.value));
            for (NodeId input : expr.inputs) {
                if (!m_defined[input.index()]) {
                    return broken("argument is not defined before its use",
                                  nodeText(input) + " in expr " + std::to_string(exprId.value));
                }
            }
            for (BodyId inner : expr.bodies) SONDE_TRY(checkBody(inner, depth + 1));
            for (NodeId output : expr.outputs) {
                m_defined[output.index()] = true;
                made.push_back(output);
            }
        }
        for (NodeId output : body.outputs) {
            if (!m_defined[output.index()]) return broken("result is never computed", nodeText(output));
        }
        // What a body makes is not visible after it.
        if (id != m_graph.mainId()) {
            for (NodeId node : made) m_defined[node.index()] = false;
        }
        return {};
    }

    base::Result<void> checkUses() const {
        // The readers of every node one after another, counted first: a list of each would be searched for each reader.
        std::vector<std::size_t> first(m_graph.nodeCount() + 1, 0);
        const auto forEachUse = [this](const auto& take) {
            for (std::size_t i = 0; i < m_graph.exprCount(); ++i) {
                if (m_graph.isErased(ExprId(i))) continue;
                for (NodeId input : m_graph.expr(ExprId(i)).inputs) take(input, ExprId(i));
            }
        };
        forEachUse([&](NodeId input, ExprId) { ++first[input.index() + 1]; });
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<ExprId> readers(first.back());
        std::vector<std::size_t> next = first;
        forEachUse([&](NodeId input, ExprId reader) { readers[next[input.index()]++] = reader; });
        std::vector<ExprId> users;
        for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) {
            const Node& node = m_graph.node(NodeId(i));
            if (m_graph.isErased(node.producer)) continue;
            users = node.users;
            std::sort(users.begin(), users.end());
            if (!std::equal(users.begin(), users.end(), readers.begin() + static_cast<std::ptrdiff_t>(first[i]),
                            readers.begin() + static_cast<std::ptrdiff_t>(first[i + 1])))
                return broken("list of users is inconsistent", nodeText(node.id));
        }
        return {};
    }

    const InternalGraph& m_graph;
    std::vector<bool> m_defined;
};

}  // namespace

base::Result<void> InternalGraph::validate() const { return Validator(*this).run(); }

}  // namespace sonde::graph
