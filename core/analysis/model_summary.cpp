#include "core/analysis/model_summary.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/analysis/weight_positions.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;

namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 60;  ///< sums end there

/// Empty if the shape is not known.
std::optional<std::int64_t> elementsOf(const tensor::TypeInfo& type) {
    const auto shape = type.isTensor() ? type.staticShape() : std::nullopt;
    return shape ? std::optional(shape->numel()) : std::nullopt;
}

}  // namespace

const ops::OpDef* definitionOf(const Expr& expr) {
    return expr.op.name.empty() ? nullptr : ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
}

bool isUnsupported(const Expr& expr) {
    if (expr.op.name.empty()) return false;
    const ops::OpDef* op = definitionOf(expr);
    return !op || !op->kernel;
}

bool computesValues(const Expr& expr) {
    return !isStored(expr) && expr.kind != ExprKind::Input && expr.kind != ExprKind::Output;
}

ModelSummary summaryOf(const graph::InternalGraph& graph) {
    ModelSummary summary;
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (!computesValues(expr)) continue;
        summary.nodes += expr.outputs.size();
        if (expr.op.name.empty()) continue;
        const std::string title = expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
        ++summary.operators[title];
        if (isUnsupported(expr)) summary.unsupported.insert(title);
    }
    return summary;
}

ComputedWeights computedWeights(const graph::InternalGraph& graph) {
    std::vector<bool> dependsOnInput(graph.nodeCount(), false), isInFile(graph.nodeCount(), false),
        isCounted(graph.nodeCount(), false);
    std::vector<std::int64_t> storedBefore(graph.nodeCount(), 0);  // elements that it is made of, in the file
    ComputedWeights found;
    for (const ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        bool depends = expr.kind == ExprKind::Input || !expr.bodies.empty();
        std::int64_t before = 0;
        for (const NodeId input : expr.inputs) {
            depends = depends || dependsOnInput[input.index()];
            before = std::min(kMaxElements, before + std::min(kMaxElements, storedBefore[input.index()]));
        }
        for (const NodeId output : expr.outputs) {
            dependsOnInput[output.index()] = depends;
            isInFile[output.index()] = isStored(expr);
            storedBefore[output.index()] = isStored(expr) ? elementsOf(graph.node(output).type).value_or(1) : before;
        }
        for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
            if (expr.arguments[i].kind != graph::Argument::Kind::Node ||
                weightPosition(expr, i) != WeightPosition::Weight)
                continue;
            const NodeId node = expr.arguments[i].node;
            if (dependsOnInput[node.index()] || isInFile[node.index()] || isCounted[node.index()]) continue;
            isCounted[node.index()] = true;
            const auto elements = elementsOf(graph.node(node).type);
            if (elements && *elements <= storedBefore[node.index()]) continue;  // stored in another type or layout
            ++found.count;
            found.elements += elements.value_or(0);
        }
    }
    return found;
}

}  // namespace sonde::analysis
