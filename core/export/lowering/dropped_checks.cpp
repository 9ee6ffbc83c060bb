#include "core/export/lowering/dropped_checks.h"

#include <algorithm>

#include "core/graph/guard.h"
#include "core/ops/registry/effects.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;

bool isCheck(const Expr& expr) {
    const ops::OpDef* row =
        expr.op.name.empty() ? nullptr : ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    return graph::isGuard(expr) || (row && ops::hasEffect(*row));
}

/// What it says when it fails, if it says something.
std::string sentenceOf(const Expr& expr) {
    if (graph::isGuard(expr)) return expr.attributes.getString(graph::kGuardSentence, "");
    const auto text = std::ranges::find_if(expr.arguments, [](const Argument& argument) {
        return argument.kind == Argument::Kind::Constant && argument.constant.kind() == tensor::ValueKind::String;
    });
    return text == expr.arguments.end() ? std::string() : text->constant.toString();
}

}  // namespace

base::Diagnostics droppedChecks(const graph::InternalGraph& graph) {
    base::Diagnostics warnings;
    const std::vector<graph::ExprId> order = graph.recursiveOrder(graph.mainId());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Expr& expr = graph.expr(order[i]);
        if (!isCheck(expr)) continue;
        const std::string sentence = sentenceOf(expr);
        std::string where = expr.outputs.empty() ? expr.target : "node '" + graph.node(expr.outputs.front()).name + "'";
        where += ", operation " + std::to_string(i);
        if (expr.qualname && !expr.qualname->empty()) where += ", module '" + *expr.qualname + "'";
        const std::string kind = graph::isGuard(expr) ? "guard" : "assertion";
        warnings.push_back({base::Severity::Warning,
                            kind + " is not in the file" + (sentence.empty() ? "" : ": " + sentence),
                            std::move(where),
                            {}});
    }
    if (warnings.empty()) return warnings;
    const std::string count = warnings.size() == 1
                                  ? "1 assertion or guard of the model is"
                                  : std::to_string(warnings.size()) + " assertions and guards of the model are";
    warnings.push_back({base::Severity::Warning,
                        count + " not in the file: it returns values where the model raises an error",
                        graph.name,
                        {}});
    return warnings;
}

}  // namespace sonde::exporting
