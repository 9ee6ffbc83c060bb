#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using tensor::DType;

namespace {

/// Whether every value of `narrow` is one of `wide`.
bool holdsAll(DType wide, DType narrow) {
    if (wide == narrow) return true;
    const std::size_t a = tensor::bitsInFile(wide), b = tensor::bitsInFile(narrow);
    if (tensor::isFloating(wide) && tensor::isFloating(narrow)) {
        const bool hasTwoBytes = wide == DType::BFloat16 || wide == DType::Float16;
        return a > b && !(hasTwoBytes && b >= 16);
    }
    if (tensor::isInteger(wide) && tensor::isInteger(narrow))
        return a > b && (tensor::isSigned(wide) || !tensor::isSigned(narrow));
    if (narrow == DType::Bool) return tensor::isFloating(wide) || tensor::isInteger(wide);
    if (wide == DType::Float64) return tensor::isInteger(narrow) && b <= 32;
    if (wide == DType::Float32) return tensor::isInteger(narrow) && b <= 16;
    return false;
}

void findCasts(const CheckedModel& model, std::vector<Finding>& findings) {
    const graph::InternalGraph& graph = model.graph;
    const auto isCast = [](const graph::Expr& expr) {
        return graph::traitsOf(expr).opClass == operators::OpClass::Cast && !expr.inputs.empty() &&
               expr.outputs.size() == 1;
    };
    const std::vector<bool> isResult = resultNodes(graph);
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (!isCast(expr)) continue;
        const graph::NodeId node = expr.outputs.front(), input = expr.inputs.front();
        const DType to = graph.node(node).type.dtype, from = graph.node(input).type.dtype;
        if (to == DType::Undefined || from == DType::Undefined) continue;
        if (to == from) {
            findings.push_back(findingAt(node, base::Severity::Info, Confidence::High,
                                         fmt::format("{} casts {} to {}: nothing changes", placeText(graph, node),
                                                     tensor::name(from), tensor::name(to)),
                                         "remove it"));
            continue;
        }
        const graph::Expr& before = graph.expr(graph.node(input).producer);
        if (!isCast(before)) continue;
        const DType first = graph.node(before.inputs.front()).type.dtype;
        if (first == DType::Undefined || first == from || !holdsAll(from, first)) continue;
        const bool isNeeded = graph.node(input).users.size() > 1 || isResult[input.index()];
        const std::string source = graph.node(before.inputs.front()).name;
        findings.push_back(
            {{},
             base::Severity::Info,
             Confidence::High,
             {input, node},
             {},
             fmt::format("{} casts {} to {} and {} on to {}: {}", placeText(graph, input), tensor::name(first),
                         tensor::name(from), placeText(graph, node), tensor::name(to),
                         first == to ? "both together change nothing" : "one cast does the same"),
             isNeeded      ? "read " + source + (first == to ? " instead of the second" : " by the second cast, too")
             : first == to ? "remove both"
                           : "cast once"});
    }
}

}  // namespace

FindingChecker redundantCastChecker() {
    return {"redundant-cast", FindingNeed::File, "Casts that change nothing, or two where one does the same",
            findCasts};
}

}  // namespace sonde::analysis
