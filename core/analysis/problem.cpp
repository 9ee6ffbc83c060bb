#include "core/analysis/problem.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <tuple>

namespace sonde::analysis {

using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;

std::string_view name(ProblemKind kind) {
    constexpr std::array<std::string_view, 7> kNames{"nan",     "inf",   "overflow", "divergence",
                                                     "failure", "guard", "shape"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(ProblemRole role) { return role == ProblemRole::Origin ? "origin" : "carrier"; }

std::string_view severityName(base::Severity value) {
    constexpr std::array<std::string_view, 3> kNames{"info", "warning", "error"};
    return kNames[static_cast<std::size_t>(value)];
}

std::string operatorText(const Expr& expr) {
    if (expr.kind == graph::ExprKind::Input) return "Input";
    // The target of these is the name of the module.
    if (expr.kind == graph::ExprKind::CallModule && !expr.moduleClass.empty())
        return expr.moduleClass.substr(expr.moduleClass.rfind('.') + 1);
    return expr.op.name.empty() ? expr.target : expr.op.name;
}

Problem problemAt(const InternalGraph&, const Expr& expr, ProblemKind kind, ProblemRole role) {
    Problem problem;
    problem.kind = kind;
    problem.role = role;
    if (role == ProblemRole::Carrier) problem.severity = base::Severity::Info;
    if (!expr.outputs.empty()) problem.node = expr.outputs.front();
    problem.qualname = expr.qualname.value_or("");
    problem.operatorName = operatorText(expr);
    return problem;
}

Problem problemAt(const InternalGraph& graph, NodeId node, ProblemKind kind, ProblemRole role) {
    Problem problem = problemAt(graph, graph.expr(graph.node(node).producer), kind, role);
    problem.node = node;
    return problem;
}

std::string placeText(const InternalGraph& graph, NodeId node) {
    const Expr& expr = graph.expr(graph.node(node).producer);
    const bool isInModule = expr.qualname && !expr.qualname->empty();
    return (isInModule ? *expr.qualname : graph.node(node).name) + " (" + operatorText(expr) + ")";
}

std::vector<std::size_t> executionOrder(const InternalGraph& graph) {
    std::vector<std::size_t> position(graph.exprCount(), 0);
    std::size_t next = 0;
    const std::function<void(graph::BodyId)> visit = [&](graph::BodyId body) {
        for (graph::ExprId id : graph.body(body).order) {
            for (graph::BodyId inner : graph.expr(id).bodies) visit(inner);
            position[id.index()] = next++;
        }
    };
    visit(graph.mainId());
    return position;
}

void sortProblems(const InternalGraph& graph, std::vector<Problem>& problems) {
    const std::vector<std::size_t> position = executionOrder(graph);
    const auto key = [&](const Problem& problem) {
        const bool isNowhere = !problem.node.valid();
        const graph::Node* const node = isNowhere ? nullptr : &graph.node(problem.node);
        return std::tuple(problem.role,
                          isNowhere ? std::numeric_limits<std::size_t>::max() : position[node->producer.index()],
                          isNowhere ? 0 : node->outputIndex);
    };
    std::ranges::stable_sort(problems, {}, key);
}

}  // namespace sonde::analysis
