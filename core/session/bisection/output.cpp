// What was found as text and as JSON.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/analysis/edited_values.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/visible_text.h"
#include "core/graph/edit_origin.h"
#include "core/io/json/number_json.h"
#include "core/session/bisection/bisection.h"

namespace sonde::session::bisection {

using analysis::Bisection;
using base::visibleText;
using graph::NodeId;
using nlohmann::ordered_json;

namespace {

/// The node whose edit a node is; empty: it is none.
std::string editedBy(const Outcome& outcome, NodeId node) {
    const graph::InternalGraph& graph = *outcome.document->graph;
    return graph::editedNodeOf(graph.expr(graph.node(node).producer));
}
/// What the value that differs is called in the model without edits.
std::string plainName(const Outcome& outcome) {
    const std::string edited = editedBy(outcome, outcome.found.node);
    return edited.empty() ? outcome.document->graph->node(outcome.found.node).name : edited;
}

std::string shownName(const Outcome& outcome, NodeId node) { return visibleText(nodeText(outcome, node)); }

std::string counted(std::size_t count, const char* what) {
    return base::countedText(static_cast<std::int64_t>(count), what);
}

std::string differenceText(const Bisection& found) {
    if (!found.note.empty()) return visibleText(found.note);
    return fmt::format("max abs {:.3g}, max rel {:.3g}", found.difference.maxAbsolute, found.difference.maxRelative);
}

ordered_json stepsOf(const Outcome& outcome) {
    ordered_json steps = ordered_json::array();
    for (const analysis::BisectStep& step : outcome.found.steps) {
        ordered_json one{{"given", step.given}};
        if (step.refusal.empty()) {
            one["compared"] = step.compared, one["differing"] = step.differing;
            one["first"] = step.first.valid() ? ordered_json(outcome.document->graph->node(step.first).name)
                                              : ordered_json(nullptr);
        } else {
            one["refusal"] = step.refusal;
        }
        steps.push_back(std::move(one));
    }
    return steps;
}

/// What an operation of the part is called by: of several results the one that differs.
NodeId resultOf(const Outcome& outcome, const graph::Expr& expr) {
    const bool differs = std::ranges::find(expr.outputs, outcome.found.node) != expr.outputs.end();
    return differs ? outcome.found.node : expr.outputs.front();
}

ordered_json operationsOf(const Outcome& outcome) {
    const graph::InternalGraph& graph = *outcome.document->graph;
    ordered_json operations = ordered_json::array();
    for (const graph::ExprId id : outcome.found.operations) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.outputs.empty()) continue;
        operations.push_back({{"node", graph.node(resultOf(outcome, expr)).name},
                              {"operator", analysis::operatorText(expr)},
                              {"qualname", expr.qualname ? ordered_json(*expr.qualname) : ordered_json(nullptr)}});
    }
    return operations;
}

ordered_json weightsOf(const Outcome& outcome) {
    ordered_json weights = ordered_json::array();
    for (const DifferingWeight& weight : outcome.weights)
        weights.push_back(
            {{"node", weight.name},
             {"other_node", weight.otherName},
             {"max_abs", weight.maxAbsolute ? io::finiteOrText(*weight.maxAbsolute) : ordered_json(nullptr)},
             {"edited", !weight.edit.empty()}});
    return weights;
}

ordered_json shareOf(std::size_t count, std::size_t all) {
    return all == 0 ? 1.0 : static_cast<double>(count) / static_cast<double>(all);
}

ordered_json namesOf(const Outcome& outcome, const std::vector<NodeId>& nodes) {
    ordered_json names = ordered_json::array();
    for (const NodeId node : nodes) names.push_back(outcome.document->graph->node(node).name);
    return names;
}

std::string indexText(const std::vector<std::int64_t>& index) { return fmt::format("[{}]", fmt::join(index, ", ")); }

}  // namespace

std::string nodeText(const Outcome& outcome, NodeId node) {
    return analysis::nameWithoutEdits(*outcome.document->graph, node);
}

std::string culpritText(const Outcome& outcome) {
    const std::string name = plainName(outcome);
    if (outcome.edit.empty()) return name;
    return name + (outcome.edit == name ? " (by its edit)" : " (by the edit of " + outcome.edit + ")");
}

std::string unlikeText(const Outcome& outcome) {
    const Bisection& found = outcome.found;
    if (!outcome.likeness || !areUnlike(*outcome.likeness, found)) return {};
    std::string text = fmt::format("{} and {} do not seem to be the same network: {} of {} values {} a counterpart",
                                   visibleText(outcome.title), visibleText(outcome.other), found.matched,
                                   found.computed, found.matched == 1 ? "has" : "have");
    if (found.reshaped > 0) text += fmt::format(", {} of them of another shape", found.reshaped);
    if (const auto& weights = outcome.likeness->weights)
        text += fmt::format("; {:.0f} % of the weights have shapes in common", 100 * *weights);
    for (const auto& [own, other] : outcome.likeness->pairedInputs)
        text += fmt::format("; input {} is paired with {} by its position", visibleText(own), visibleText(other));
    return text;
}

std::string weightText(const DifferingWeight& weight) {
    std::string text = "weight " + visibleText(weight.name) + " differs";
    text += weight.maxAbsolute ? fmt::format(" by {:.3g} at most", *weight.maxAbsolute) : " in its shape";
    if (weight.otherName != weight.name) text += " from " + visibleText(weight.otherName);
    return text + (weight.edit.empty() ? "" : ": it is edited");
}

std::string moduleText(const graph::Expr& expr) {
    if (!expr.qualname) return "-";
    return expr.qualname->empty() ? "(root)" : *expr.qualname;
}

std::string stepText(const Outcome& outcome, std::size_t step) {
    const analysis::BisectStep& one = outcome.found.steps[step];
    std::string what = "by itself";
    if (one.given > 0)
        what =
            step == 1 ? "each operation on equal inputs" : fmt::format("first {} given", counted(one.given, "value"));
    if (!one.refusal.empty()) return what + ": " + visibleText(one.refusal);
    if (one.differing == 0) return fmt::format("{}: {} agree", what, counted(one.compared, "value"));
    return fmt::format("{}: {} of {} {}, first {}", what, one.differing, counted(one.compared, "value"),
                       one.differing == 1 ? "differs" : "differ", shownName(outcome, one.first));
}

std::string findingText(const Outcome& outcome) {
    const Bisection& found = outcome.found;
    if (!found.differs) return found.note.empty() ? "the outputs agree" : found.note;
    const std::size_t count = found.operations.size();
    if (count == 0) return "an input that is edited";
    return found.isAccumulated
               ? fmt::format("no operation differs by itself: differences add up in {} operations", count)
               : "same inputs, other output: " + counted(count, "operation");
}

std::string countsText(const Outcome& outcome) {
    const Bisection& found = outcome.found;
    return fmt::format("{} of {} values are in both, {} {}; {} of {}", found.matched, found.computed, found.inBetween,
                       found.inBetween == 1 ? "differs" : "differ", counted(found.runs, "run"),
                       visibleText(outcome.ran));
}

void addOutcome(ordered_json& answer, const Outcome& outcome, const exporting::WrittenPiece* written) {
    const Bisection& found = outcome.found;
    answer["differs"] = found.differs;
    answer["other"] = outcome.other;
    answer["runs"] = found.runs;
    answer["steps"] = stepsOf(outcome);
    answer["matched"] = shareOf(found.matched, found.computed);
    answer["other_matched"] = outcome.likeness ? shareOf(found.matched, outcome.likeness->computed) : ordered_json();
    answer["reshaped"] = found.reshaped;
    answer["same_network"] = unlikeText(outcome).empty();
    answer["differing"] = found.inBetween;
    if (found.differs) {
        const std::string name = plainName(outcome);
        answer["node"] = name;
        answer["edit"] = outcome.edit.empty() ? ordered_json(nullptr) : ordered_json(outcome.edit);
        answer["other_node"] = outcome.otherNode.empty() ? name : outcome.otherNode;
        answer["all"] = namesOf(outcome, found.all);
        answer["from"] = namesOf(outcome, found.from);
        answer["operations"] = operationsOf(outcome);
        answer["weights"] = weightsOf(outcome);
        answer["accumulated"] = found.isAccumulated;
        answer["max_abs"] = io::finiteOrText(found.difference.maxAbsolute);
        answer["max_rel"] = io::finiteOrText(found.difference.maxRelative);
        const auto farthest = farthestElement(outcome);
        answer["index"] = farthest ? ordered_json(farthest->index) : ordered_json(nullptr);
        answer["value"] = farthest ? io::finiteOrText(farthest->own) : ordered_json(nullptr);
        answer["other_value"] = farthest ? io::finiteOrText(farthest->other) : ordered_json(nullptr);
        answer["piece"] = written ? ordered_json(written->model.string()) : ordered_json(nullptr);
        answer["values"] = written ? ordered_json(written->values.string()) : ordered_json(nullptr);
    }
    answer["note"] = found.note;
    answer["notes"] = found.notes;
}

std::pair<std::string, std::string> valueTexts(const FarthestElement& at) {
    for (const int digits : {6, 9}) {
        const std::string own = base::roundedText(at.own, digits), other = base::roundedText(at.other, digits);
        if (own != other) return {own, other};
    }
    return {base::roundedText(at.own, 17), base::roundedText(at.other, 17)};
}

std::string differAnywayText(const Outcome& outcome) {
    const Bisection& found = outcome.found;
    if (found.differs || found.firstInBetween.empty()) return {};
    std::string names;
    for (std::size_t i = 0; i < found.firstInBetween.size(); ++i) {
        const bool isLast = i > 0 && i + 1 == found.inBetween;
        names += (i == 0 ? "" : isLast ? " and " : ", ") + shownName(outcome, found.firstInBetween[i]);
    }
    if (found.inBetween == 1) return names + " differs all the same";
    const std::size_t more = found.inBetween - found.firstInBetween.size();
    return fmt::format("{} values differ all the same: {}", found.inBetween, names) +
           (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string outcomeText(const Outcome& outcome, const exporting::WrittenPiece* written) {
    const Bisection& found = outcome.found;
    if (!found.differs) {
        const std::string others = differAnywayText(outcome);
        const std::string finding = findingText(outcome);
        return "T" + finding.substr(1) + "\n" + (others.empty() ? others : "  " + others + "\n") + countsText(outcome) +
               "\n";
    }
    const graph::InternalGraph& graph = *outcome.document->graph;
    const bool isRenamed = !outcome.otherNode.empty() && outcome.otherNode != plainName(outcome);
    std::string text = unlikeText(outcome);
    if (!text.empty()) text += "\n";
    text += visibleText(culpritText(outcome)) + " differs";
    if (isRenamed) text += " (in " + visibleText(outcome.other) + ": " + visibleText(outcome.otherNode) + ")";
    text += fmt::format("\n  {}, {}\n", findingText(outcome), differenceText(found));
    if (const auto farthest = farthestElement(outcome)) {
        const auto [own, other] = valueTexts(*farthest);
        text +=
            fmt::format("  at {}: {} and {} in {}\n", indexText(farthest->index), own, other, visibleText(outcome.ran));
    }
    for (const NodeId node : found.from)
        if (node != found.node) text += "  from " + shownName(outcome, node) + "\n";
    for (const graph::ExprId id : found.operations) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.outputs.empty()) continue;
        text += fmt::format("  {}  {}  {}\n", shownName(outcome, resultOf(outcome, expr)),
                            visibleText(analysis::operatorText(expr)), visibleText(moduleText(expr)));
    }
    constexpr std::size_t kListed = 8;
    for (std::size_t i = 0; i < outcome.weights.size() && i < kListed; ++i)
        text += "  " + weightText(outcome.weights[i]) + "\n";
    if (outcome.weights.size() > kListed)
        text += fmt::format("  and {} more weights\n", outcome.weights.size() - kListed);
    for (std::size_t i = 1; i < found.all.size() && i <= kListed; ++i)
        text += "  " + shownName(outcome, found.all[i]) + " differs by itself too\n";
    if (found.all.size() > kListed + 1) text += fmt::format("  and {} more\n", found.all.size() - kListed - 1);
    text += countsText(outcome) + "\n";
    if (written)
        text += fmt::format("{} and {} have the piece; run alone, it differs from the model by {:.3g} at most\n",
                            visibleText(written->model.string()), visibleText(written->values.string()),
                            written->maxAbsolute);
    return text;
}

}  // namespace sonde::session::bisection
