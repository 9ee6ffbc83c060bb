#include "core/session/report/report_comparison.h"

#include <cmath>
#include <fmt/format.h>

#include "core/analysis/model_cost.h"
#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/session/report/report_blocks.h"

namespace sonde::session {

namespace {

using graph::InternalGraph;
using graph::NodeId;

/// "inf" of what is relative to zero; "-": it cannot be compared by element.
std::string numberText(const std::optional<double>& value) { return value ? base::roundedText(*value, 6) : "-"; }

/// Rounded down: of 99.99 % something has no counterpart.
double percent(double fraction) { return std::floor(fraction * 1000) / 10; }

std::string hashOf(const FileFacts& facts) { return facts.file ? facts.file->sha256 : std::string(); }

void addTable(ReportSection& section, ReportTable table) {
    if (table.rows.empty()) return;
    cutRows(table, "sonde diff --json");
    section.blocks.emplace_back(std::move(table));
}

ReportTable nodeTable(std::string title, const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    ReportTable table{std::move(title), {{"node"}, {"module"}, {"operator"}}, {}, {}};
    for (const NodeId node : nodes) {
        const graph::Expr& expr = graph.expr(graph.node(node).producer);
        table.rows.push_back(
            {graph.node(node).name, expr.qualname.value_or(std::string()), analysis::operatorTitle(expr)});
    }
    return table;
}

ReportTable changeTable(std::string title, const InternalGraph& a, const InternalGraph& b,
                        const std::vector<NodeChange>& changes) {
    ReportTable table{std::move(title), {{"node"}, {"in the other model"}, {"what differs"}}, {}, {}};
    for (const NodeChange& change : changes)
        table.rows.push_back({a.node(change.a).name, b.node(change.b).name, change.what});
    return table;
}

void addParameters(ReportSection& section, const ParameterDiff& parameters) {
    ReportTable changed{
        "Changed parameters", {{"name"}, {"max abs diff", true}, {"max rel diff", true}, {"what differs"}}, {}, {}};
    for (const ParameterChange& change : parameters.changed) {
        const std::string also = change.otherName.empty() ? "" : " (there: " + change.otherName + ")";
        changed.rows.push_back({change.name + also, numberText(change.maxAbs), numberText(change.maxRel), change.what});
    }
    addTable(section, std::move(changed));
    ReportTable single{"Parameters of one model alone", {{"name"}, {"which"}}, {}, {}};
    for (const ParameterRef& one : parameters.removed) single.rows.push_back({one.name, "this model"});
    for (const ParameterRef& one : parameters.added) single.rows.push_back({one.name, "the other model"});
    addTable(section, std::move(single));
    if (parameters.rounded > 0)
        section.blocks.emplace_back(
            ReportText{fmt::format("Equal but for rounding, with folded batch norms: {}.",
                                   base::countedText(static_cast<std::int64_t>(parameters.rounded), "parameter"))});
    if (!parameters.notes.empty())
        section.blocks.emplace_back(ReportText{fmt::format(
            "No difference: {} of one model alone that nothing reads, or that the other one stores in another form.",
            base::countedText(static_cast<std::int64_t>(parameters.notes.size()), "stored tensor"))});
}

/// What "the same" does not speak of, and what a run of both says of that.
void addRuns(ReportSection& section, const ModelDiff& diff) {
    const std::size_t open = diff.structure.uncompared();
    if (open > 0)
        section.blocks.emplace_back(ReportText{fmt::format(
            "{} of both models {} not compared one by one: the files write them in other operators, or they compute sizes "
            "or constants, or move elements (sonde diff --json lists them).",
            base::countedText(static_cast<std::int64_t>(open), "operation"), open == 1 ? "was" : "were")});
    const char* const numbers = diff.runs.isGiven ? "the chosen input" : "the same random numbers";
    if (diff.runs.runs > 0)
        section.blocks.emplace_back(ReportText{fmt::format("Results of both models on {}: {}.", numbers,
                                                           diff.runs.haveSameResults() ? "the same" : "not the same")});
    else if (!diff.runs.note.empty())
        section.blocks.emplace_back(ReportText{"The models were not run on the same numbers: " + diff.runs.note + "."});
}

ReportTable formTable(const InternalGraph& a, const InternalGraph& b,
                      const std::vector<StructureDiff::OtherForm>& forms) {
    ReportTable table{
        "The same in another form (no difference)", {{"nodes"}, {"in the other model"}, {"operators"}}, {}, {}};
    const auto named = [](const InternalGraph& graph, const std::vector<NodeId>& nodes) {
        std::string names;
        for (const NodeId node : nodes) names += (names.empty() ? "" : ", ") + graph.node(node).name;
        return names;
    };
    for (const StructureDiff::OtherForm& form : forms)
        table.rows.push_back({named(a, form.a), named(b, form.b), form.what});
    return table;
}

void addFacts(ReportSection& section, std::string title, const std::vector<FactChange>& facts) {
    ReportTable table{std::move(title), {{"fact"}, {"this model"}, {"the other model"}}, {}, {}};
    for (const FactChange& fact : facts)
        table.rows.push_back({fact.title(), FactChange::text(fact.a), FactChange::text(fact.b)});
    addTable(section, std::move(table));
}

void addValues(ReportSection& section, const InternalGraph& a, const InternalGraph& b, const ValueDiff& values) {
    if (!values.error.empty()) section.blocks.emplace_back(ReportText{"A run ended early: " + values.error});
    section.blocks.emplace_back(ReportText{
        fmt::format("Values of matched nodes compared on the chosen input: {}. Beyond the tolerance of their "
                    "dtype: {}.",
                    values.compared, values.changed.size())});
    if (values.otherForms > 0)
        section.blocks.emplace_back(
            ReportText{fmt::format("{} inside the models {} not compared: the files write them in other forms.",
                                   base::countedText(static_cast<std::int64_t>(values.otherForms), "value"),
                                   values.otherForms == 1 ? "was" : "were")});
    ReportTable table{"Values that differ",
                      {{"node"}, {"in the other model"}, {"max abs diff", true}, {"max rel diff", true}, {""}},
                      {},
                      {}};
    for (const ValueChange& change : values.changed)
        table.rows.push_back({a.node(change.a).name, b.node(change.b).name, numberText(change.maxAbs),
                              numberText(change.maxRel), change.note});
    addTable(section, std::move(table));
}

}  // namespace

ReportSection comparisonSection(const document::Document& document, const ModelInfo& info,
                                const ReportedComparison& comparison) {
    const ModelDiff& diff = comparison.diff;
    const InternalGraph &a = *document.graph, &b = *comparison.other->graph;
    ReportSection section{"comparison", "Comparison", {}};
    if (!comparison.note.empty()) section.blocks.emplace_back(ReportText{comparison.note});
    const auto& structure = diff.structure;
    section.blocks.emplace_back(
        factTable({{"this model", document.title},
                   {"SHA-256 of this model", hashOf(info.file)},
                   {"the other model", comparison.other->title},
                   {"SHA-256 of the other model", hashOf(comparison.otherFile)},
                   {"result", diff.isEqual() ? "the same" : "they differ"},
                   {"operations on tensors matched", fmt::format("{:.1f} %", percent(structure.matched()))},
                   {"operations of all kinds matched", fmt::format("{:.1f} %", percent(structure.matchedOfAll()))},
                   {"operations removed, added, changed, moved",
                    fmt::format("{}, {}, {}, {}", structure.removed.size(), structure.added.size(),
                                structure.changed.size(), structure.moved.size())},
                   {"renamed operations (no difference)", fmt::format("{}", structure.renamed)},
                   {"parameters equal, changed, removed, added",
                    fmt::format("{}, {}, {}, {}", diff.parameters.equal, diff.parameters.changed.size(),
                                diff.parameters.removed.size(), diff.parameters.added.size())}}));
    addRuns(section, diff);
    addTable(section, nodeTable("Operations of this model alone", a, structure.removed));
    addTable(section, nodeTable("Operations of the other model alone", b, structure.added));
    addTable(section, changeTable("Changed operations", a, b, structure.changed));
    addTable(section, changeTable("Moved operations", a, b, structure.moved));
    addTable(section, formTable(a, b, structure.otherForms));
    addParameters(section, diff.parameters);
    addFacts(section, "Cost that differs", diff.cost);
    for (const std::string& note : diff.costNotes)
        section.blocks.emplace_back(ReportText{"Of the cost is " + note + "."});
    addFacts(section, "Metadata that differs", diff.metadata);
    if (diff.values) addValues(section, a, b, *diff.values);
    return section;
}

}  // namespace sonde::session
