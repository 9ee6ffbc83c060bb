#include "core/export/lowering/dropped_checks.h"

#include <algorithm>

#include "core/graph/guard.h"
#include "core/ops/registry/effects.h"
#include "core/passes/inplace.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;

bool isCheck(const Expr& expr) {
    const ops::OpDef* row =
        expr.op.name.empty() ? nullptr : ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    return graph::isGuard(expr) || (row && ops::hasEffect(*row));
}

bool isOverlapGuard(const Expr& expr) {
    return expr.op.domain == graph::kGuardDomain && expr.op.name == passes::kOverlapGuard;
}

/// What it says when it fails, if it says something.
std::string descriptionOf(const Expr& expr) {
    if (graph::isGuard(expr)) return expr.attributes.getString(graph::kGuardDescription, "");
    const auto text = std::ranges::find_if(expr.arguments, [](const Argument& argument) {
        return argument.kind == Argument::Kind::Constant && argument.constant.kind() == tensor::ValueKind::String;
    });
    if (text == expr.arguments.end()) return {};
    const std::string& said = text->constant.toString();
    return isOverlapGuard(expr) ? "what " + said + " writes to is apart from what it reads" : said;
}

constexpr std::size_t kMaxNamed = 5;

const graph::ModuleInfo* moduleOf(const document::Document& document, const Expr& call) {
    if (!document.modules || call.kind != graph::ExprKind::CallModule) return nullptr;
    const auto index = call.target.empty() ? std::size_t{0} : document.modules->find(call.target);
    return index ? &document.modules->module(*index) : nullptr;
}

/// "module 'head' of class Head"
std::string nameOf(const document::Document& document, const Expr& call) {
    if (call.kind != graph::ExprKind::CallModule) return "function '" + call.target + '\'';
    const graph::ModuleInfo* module = moduleOf(document, call);
    const std::string of = module && !module->moduleClass.empty() ? " of class " + module->moduleClass : std::string();
    return (call.target.empty() ? "the model" : "module '" + call.target + '\'') + of;
}

}  // namespace

base::Diagnostics droppedChecks(const graph::InternalGraph& graph) {
    base::Diagnostics warnings;
    const std::vector<graph::ExprId> order = graph.recursiveOrder(graph.mainId());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Expr& expr = graph.expr(order[i]);
        if (!isCheck(expr)) continue;
        const std::string description = descriptionOf(expr);
        std::string where = expr.outputs.empty() ? expr.target : "node '" + graph.node(expr.outputs.front()).name + "'";
        where += ", operation " + std::to_string(i);
        if (expr.qualname && !expr.qualname->empty()) where += ", module '" + *expr.qualname + "'";
        const std::string kind = graph::isGuard(expr) || isOverlapGuard(expr) ? "guard" : "assertion";
        warnings.push_back({base::Severity::Warning,
                            kind + " is not in the file" + (description.empty() ? "" : ": " + description),
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

std::set<graph::ExprId> overlapChecks(const graph::InternalGraph& graph) {
    std::set<graph::ExprId> checks;
    const std::vector<graph::ExprId> order = graph.recursiveOrder(graph.mainId());
    // From the last one back: who uses a value comes behind it.
    for (std::size_t i = order.size(); i-- > 0;) {
        const Expr& expr = graph.expr(order[i]);
        if (isOverlapGuard(expr)) checks.insert(expr.id);
        if (checks.empty() || expr.outputs.size() != 1 || !expr.bodies.empty()) continue;
        const std::vector<graph::ExprId>& users = graph.node(expr.outputs.front()).users;
        const bool isForThem =
            !users.empty() && std::ranges::all_of(users, [&](graph::ExprId user) { return checks.contains(user); });
        const std::vector<graph::NodeId>& results = graph.body(expr.body).outputs;
        const bool isResult = std::ranges::find(results, expr.outputs.front()) != results.end();
        if (isForThem && !isResult && expr.kind != graph::ExprKind::Input) checks.insert(expr.id);
    }
    return checks;
}

base::Result<void> checkOpaqueCalls(const document::Document& document, std::string_view place,
                                    const std::function<bool(graph::ExprId)>& counts) {
    const graph::InternalGraph& graph = *document.graph;
    std::vector<std::string> calls;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (!expr.callable || (counts && !counts(id))) continue;
        const graph::ModuleInfo* module = moduleOf(document, expr);
        std::string text = nameOf(document, expr);
        if (module && !module->failure.empty()) text += " (it could not be traced: " + module->failure + ')';
        if (std::ranges::find(calls, text) == calls.end()) calls.push_back(std::move(text));
    }
    if (calls.empty()) return {};
    std::string list;
    for (std::size_t i = 0; i < std::min(calls.size(), kMaxNamed); ++i) list += (i == 0 ? "" : ", ") + calls[i];
    if (calls.size() > kMaxNamed) list += " and " + std::to_string(calls.size() - kMaxNamed) + " more";
    return base::usageError(list + (calls.size() == 1 ? " runs" : " run") + " on values, as code of the model that " +
                                std::string(place) + " cannot hold",
                            graph.name, "trace it with an example (--example), so that its operators are known");
}

}  // namespace sonde::exporting
