#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/findings/written_values.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;
using operators::OpClass;

namespace {

/// Constants make its results, and it computes something that a file could hold in its place.
bool mayFold(const CheckedModel& model, const Expr& expr, const std::vector<bool>& isFolded,
             const std::vector<bool>& isWritten) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (!isComputed(expr) || expr.op.name.empty() || !expr.bodies.empty() || expr.inputs.empty() ||
        expr.outputs.size() != 1 || expr.op.domain == "prim")
        return false;
    switch (traits.opClass) {
        case OpClass::Random:
        case OpClass::Create:      // as small as it can be
        case OpClass::Dequantize:  // meant: the stored form is the small one
        case OpClass::Assertion:
        case OpClass::Marker:
        case OpClass::Dropout:
        case OpClass::Identity: return false;
        default: break;
    }
    if (traits.is(operators::Trait::Random) || traits.memory.writes || traits.memory.reforms || traits.mayBeView())
        return false;
    const tensor::TypeInfo& type = model.graph.node(expr.outputs.front()).type;
    if (!type.isTensor()) return false;
    return std::ranges::all_of(expr.inputs, [&](NodeId input) {
        const graph::Node& node = model.graph.node(input);
        if (isWritten[input.index()]) return false;
        return isFolded[input.index()] || isStored(model.graph.expr(node.producer));
    });
}

void findFoldable(const CheckedModel& model, std::vector<Finding>& findings) {
    const std::vector<bool> isWritten = writtenValues(model.graph);
    std::vector<bool> isFolded(model.graph.nodeCount(), false);
    std::vector<std::int64_t> operations(model.graph.nodeCount(), 0);
    std::vector<bool> isDefault(model.graph.nodeCount(), false);
    for (const std::string& name : model.defaults)
        if (const NodeId node = model.graph.findNode(name); node.valid()) isDefault[node.index()] = true;
    std::vector<NodeId> madeOf(model.graph.nodeCount());  // one of the defaults that a folded value depends on
    const std::vector<ExprId> order = model.graph.recursiveOrder(model.graph.mainId());
    for (const ExprId id : order) {
        const Expr& expr = model.graph.expr(id);
        if (!mayFold(model, expr, isFolded, isWritten)) continue;
        const std::size_t node = expr.outputs.front().index();
        isFolded[node] = true;
        operations[node] = 1;
        for (const NodeId input : expr.inputs) {
            operations[node] = std::min<std::int64_t>(operations[node] + operations[input.index()], 1'000'000);
            if (isDefault[input.index()]) madeOf[node] = input;
            else if (madeOf[input.index()].valid()) madeOf[node] = madeOf[input.index()];
        }
    }
    for (const ExprId id : order) {
        const Expr& expr = model.graph.expr(id);
        if (expr.outputs.size() != 1 || !isFolded[expr.outputs.front().index()]) continue;
        // The last of a chain stands for all of it.
        const NodeId node = expr.outputs.front();
        const std::vector<ExprId>& users = model.graph.node(node).users;
        const bool isLast = users.empty() || std::ranges::any_of(users, [&](ExprId user) {
                                const std::vector<NodeId>& made = model.graph.expr(user).outputs;
                                return made.size() != 1 || !isFolded[made.front().index()];
                            });
        if (!isLast) continue;
        const NodeId overridden = madeOf[node.index()];
        // Whoever gives the input another value gets another result: fold-constant takes the value of the file.
        const std::string unless =
            overridden.valid() ? " that leaves input '" + model.graph.node(overridden).name + "' at its default" : "";
        findings.push_back(findingAt(
            node, base::Severity::Info, overridden.valid() ? Confidence::Low : Confidence::High,
            fmt::format("{} is computed from constants alone by {}: the same result in every run{}",
                        placeText(model.graph, node), base::countedText(operations[node.index()], "operation"), unless),
            std::string(overridden.valid() ? "if nobody gives that input, " : "") +
                "fold it once (sonde save --pass fold-constant) where the result is not much larger than what it is "
                "made of"));
    }
}

}  // namespace

FindingChecker foldableConstantChecker() {
    return {"foldable-constant", FindingNeed::File, "Operations on constants alone, done again in every run",
            findFoldable};
}

}  // namespace sonde::analysis
