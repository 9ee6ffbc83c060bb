#include "core/analysis/model_summary.h"

#include <vector>

#include "core/analysis/weight_positions.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;

const ops::OpDef* definitionOf(const Expr& expr) {
    return expr.op.name.empty() ? nullptr : ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
}

bool isUnsupported(const Expr& expr) {
    if (expr.op.name.empty()) return false;
    const ops::OpDef* op = definitionOf(expr);
    return !op || !op->kernel;
}

ModelSummary summaryOf(const graph::InternalGraph& graph) {
    ModelSummary summary;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (isStored(expr) || expr.kind == ExprKind::Input || expr.kind == ExprKind::Output) continue;
        summary.nodes += expr.outputs.size();
        if (expr.op.name.empty()) continue;
        const std::string title = expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
        ++summary.operators[title];
        if (isUnsupported(expr)) summary.unsupported.insert(title);
    }
    return summary;
}

std::size_t countComputedWeights(const graph::InternalGraph& graph) {
    std::vector<bool> dependsOnInput(graph.nodeCount(), false), isInFile(graph.nodeCount(), false),
        isCounted(graph.nodeCount(), false);
    std::size_t count = 0;
    for (const ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        bool depends = expr.kind == ExprKind::Input || !expr.bodies.empty();
        for (const NodeId input : expr.inputs) depends = depends || dependsOnInput[input.index()];
        for (const NodeId output : expr.outputs) {
            dependsOnInput[output.index()] = depends;
            isInFile[output.index()] = isStored(expr);
        }
        for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
            if (expr.arguments[i].kind != graph::Argument::Kind::Node ||
                weightPosition(expr, i) != WeightPosition::Weight)
                continue;
            const std::size_t node = expr.arguments[i].node.index();
            if (dependsOnInput[node] || isInFile[node] || isCounted[node]) continue;
            isCounted[node] = true;
            ++count;
        }
    }
    return count;
}

}  // namespace sonde::analysis
