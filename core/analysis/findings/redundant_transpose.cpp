#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/graph/known_argument.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using operators::ViewForm;

namespace {

using Order = std::vector<std::int64_t>;

constexpr std::size_t kMaxBetween = 8;

std::optional<std::int64_t> knownInt(const InternalGraph& graph, const Expr& expr, std::size_t index,
                                     std::string_view keyword) {
    const tensor::Value* const value = graph::knownArgument(graph, expr, index, keyword);
    if (!value || value->kind() != tensor::ValueKind::Int) return std::nullopt;
    return value->toInt();
}

/// How many dimensions the input has: by its type, else by the list that says their order.
std::optional<std::size_t> rankOf(const InternalGraph& graph, const Expr& expr) {
    if (const auto& shape = graph.node(expr.inputs.front()).type.shape) return shape->size();
    const ViewForm form = graph::traitsOf(expr).form;
    if (form == ViewForm::None && expr.attributes.find("perm")) return expr.attributes.getInts("perm", {}).size();
    const tensor::Value* const dims =
        form == ViewForm::Permute ? graph::knownArgument(graph, expr, 1, "dims") : nullptr;
    return dims && dims->isListLike() ? std::optional(dims->items().size()) : std::nullopt;
}

/// Of a transposition where each dimension of the result is in the input; nothing if that is not known before a run.
std::optional<Order> orderOf(const InternalGraph& graph, const Expr& expr) {
    const auto known = rankOf(graph, expr);
    if (!known) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(*known);
    Order order(*known);
    std::iota(order.begin(), order.end(), 0);
    const ViewForm form = graph::traitsOf(expr).form;
    if (form == ViewForm::None) {  // of ONNX
        std::ranges::reverse(order);
        order = expr.attributes.getInts("perm", order);
    } else if (form == ViewForm::Transpose && expr.arguments.size() >= 3) {
        const auto a = knownInt(graph, expr, 1, "dim0"), b = knownInt(graph, expr, 2, "dim1");
        if (!a || !b || *a < -rank || *a >= rank || *b < -rank || *b >= rank) return std::nullopt;
        std::swap(order[static_cast<std::size_t>((*a + rank) % rank)],
                  order[static_cast<std::size_t>((*b + rank) % rank)]);
    } else if (form == ViewForm::Permute && expr.arguments.size() == 2) {
        const tensor::Value* const dims = graph::knownArgument(graph, expr, 1, "dims");
        if (!dims || !dims->isListLike() || dims->items().size() != order.size()) return std::nullopt;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (dims->items()[i].kind() != tensor::ValueKind::Int) return std::nullopt;
            order[i] = dims->items()[i].toInt() < 0 ? dims->items()[i].toInt() + rank : dims->items()[i].toInt();
        }
    } else {
        return std::nullopt;
    }
    Order sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (sorted[i] != static_cast<std::int64_t>(i)) return std::nullopt;
    return order.size() == *known ? std::optional(order) : std::nullopt;
}

bool isSameOrder(const Order& order) {
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i] != static_cast<std::int64_t>(i)) return false;
    return true;
}

/// Does the same to each element, wherever it is: of one computed value, with stored numbers alone.
bool isOfSingleElements(const InternalGraph& graph, const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.isIdentityAtInference()) return !expr.inputs.empty();
    if (!traits.is(operators::Trait::ElementWise) || traits.is(operators::Trait::InPlace)) return false;
    for (std::size_t i = 1; i < expr.inputs.size(); ++i) {
        const auto& constant = graph.node(expr.inputs[i]).constant;
        // Two numbers would be those of places along the last dimension.
        if (!constant || !constant->isTensor() || constant->tensor().numel() != 1 || constant->tensor().rank() > 1)
            return false;
    }
    return !expr.inputs.empty();
}

/// Two transpositions with operations on single elements between them.
struct Pair {
    const Expr* before = nullptr;  ///< null: there is none
    bool isNeeded = false;         ///< something else needs what it gives, too
};

/// The transposition whose result `expr` transposes again. Nothing else needs what is between.
Pair transposedBefore(const InternalGraph& graph, const Expr& expr, const std::vector<bool>& isResult) {
    NodeId node = expr.inputs.front();
    for (std::size_t step = 0; step < kMaxBetween; ++step) {
        const Expr& before = graph.expr(graph.node(node).producer);
        if (before.body != expr.body || before.outputs.size() != 1) return {};
        const bool isNeeded = graph.node(node).users.size() != 1 || isResult[node.index()];
        if (graph::traitsOf(before).opClass == OpClass::Transpose) return {&before, isNeeded};
        if (isNeeded || !isOfSingleElements(graph, before)) return {};
        node = before.inputs.front();
    }
    return {};
}

/// Twice the same where the rank is not known: all dimensions in reverse, or the same two exchanged.
bool undoesItself(const InternalGraph& graph, const Expr& expr, const Expr& before) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (before.op.name != expr.op.name || before.op.domain != expr.op.domain) return false;
    if (traits.form == ViewForm::None) return !expr.attributes.find("perm") && !before.attributes.find("perm");
    if (traits.form != ViewForm::Transpose || expr.arguments.size() < 3 || before.arguments.size() < 3) return false;
    for (const auto& [index, keyword] : {std::pair(1, "dim0"), std::pair(2, "dim1")}) {
        const auto at = static_cast<std::size_t>(index);
        const auto own = knownInt(graph, expr, at, keyword), first = knownInt(graph, before, at, keyword);
        if (!own || own != first) return false;
    }
    return true;
}

/// Of two transpositions in a row.
Finding pairFinding(const InternalGraph& graph, const Pair& pair, const Expr& expr, bool isUndone) {
    const NodeId node = expr.outputs.front(), before = pair.before->outputs.front();
    const char* const copies =
        pair.isNeeded ? ": it copies the whole tensor for nothing" : ": both copy the whole tensor for nothing";
    return {{},
            base::Severity::Info,
            Confidence::High,
            {before, node},
            {},
            fmt::format("{} {} what {} did{}", placeText(graph, node), isUndone ? "undoes" : "transposes again",
                        placeText(graph, before), graph::traitsOf(expr).mayBeView() ? "" : copies),
            pair.isNeeded ? "read " + graph.node(pair.before->inputs.front()).name + " instead of the second"
            : isUndone    ? std::string("remove both")
                          : std::string("replace both by one")};
}

void findTransposes(const CheckedModel& model, std::vector<Finding>& findings) {
    const InternalGraph& graph = model.graph;
    const std::vector<bool> isResult = resultNodes(graph);
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (graph::traitsOf(expr).opClass != OpClass::Transpose || expr.inputs.empty() || expr.outputs.size() != 1)
            continue;
        const NodeId node = expr.outputs.front();
        const auto order = orderOf(graph, expr);
        if (order && isSameOrder(*order) && order->size() > 1) {
            findings.push_back(findingAt(
                node, base::Severity::Info, Confidence::High,
                placeText(graph, node) + " transposes nothing: every dimension stays where it is", "remove it"));
            continue;
        }
        const Pair pair = transposedBefore(graph, expr, isResult);
        if (!pair.before || pair.before->inputs.empty()) continue;
        if (!order) {
            if (undoesItself(graph, expr, *pair.before)) findings.push_back(pairFinding(graph, pair, expr, true));
            continue;
        }
        const auto first = orderOf(graph, *pair.before);
        if (!first || first->size() != order->size()) continue;
        Order both;
        for (const std::int64_t at : *order) both.push_back((*first)[static_cast<std::size_t>(at)]);
        const bool isUndone = isSameOrder(both);
        // Of views two are no more work than one, and of two that both are needed none can go.
        if (!isUndone && (pair.isNeeded || graph::traitsOf(expr).mayBeView())) continue;
        findings.push_back(pairFinding(graph, pair, expr, isUndone));
    }
}

}  // namespace

FindingChecker redundantTransposeChecker() {
    return {"redundant-transpose", FindingNeed::File,
            "Transpositions that undo one another, could be one, or move nothing", findTransposes};
}

}  // namespace sonde::analysis
