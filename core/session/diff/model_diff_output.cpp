#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/base/one_line.h"
#include "core/base/visible_text.h"
#include "core/io/json/number_json.h"
#include "core/session/diff/model_diff.h"
#include "core/session/findings/finding_groups.h"

namespace sonde::session {

using graph::InternalGraph;
using graph::NodeId;
using io::finiteOrText;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxNamed = 5;       ///< in one line
constexpr std::size_t kMaxDiffLines = 40;  ///< of one kind of difference

/// Null: it cannot be compared by element.
Json differenceJson(const std::optional<double>& number) { return number ? finiteOrText(*number) : Json(); }

Json namesJson(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    Json names = Json::array();
    for (const NodeId node : nodes) names.push_back(graph.node(node).name);
    return names;
}

Json changesJson(const InternalGraph& a, const InternalGraph& b, const std::vector<NodeChange>& changes) {
    Json list = Json::array();
    for (const NodeChange& change : changes)
        list.push_back({{"a", a.node(change.a).name}, {"b", b.node(change.b).name}, {"what", change.what}});
    return list;
}

/// ["conv1", "conv_1"] of each two operations that are counterparts, in execution order of the first model.
Json pairsJson(const InternalGraph& a, const InternalGraph& b, const GraphPairs& pairs) {
    Json list = Json::array();
    for (const graph::ExprId id : a.recursiveOrder(a.mainId())) {
        const graph::ExprId other = id.index() < pairs.ofFirst.size() ? pairs.ofFirst[id.index()] : graph::ExprId();
        if (!other.valid() || a.expr(id).outputs.empty() || b.expr(other).outputs.empty()) continue;
        list.push_back({a.node(a.expr(id).outputs.front()).name, b.node(b.expr(other).outputs.front()).name});
    }
    return list;
}

Json namesJson(const std::vector<ParameterRef>& parameters) {
    Json names = Json::array();
    for (const ParameterRef& parameter : parameters) names.push_back(parameter.name);
    return names;
}

Json parametersJson(const ParameterDiff& parameters) {
    Json changed = Json::array();
    for (const ParameterChange& change : parameters.changed) {
        Json entry{{"name", change.name},
                   {"max_abs", differenceJson(change.maxAbs)},
                   {"max_rel", differenceJson(change.maxRel)}};
        if (!change.otherName.empty()) entry["b"] = change.otherName;
        if (!change.what.empty()) entry["what"] = change.what;
        changed.push_back(std::move(entry));
    }
    Json notes = Json::array();
    for (const ParameterNote& note : parameters.notes)
        notes.push_back({{"name", note.name}, {"of", note.isOfSecond ? "b" : "a"}, {"what", note.what}});
    return {{"added", namesJson(parameters.added)},
            {"removed", namesJson(parameters.removed)},
            {"changed", std::move(changed)},
            {"equal", parameters.equal},
            {"rounded", parameters.rounded},
            {"renamed", parameters.renamed},
            {"notes", std::move(notes)}};
}

Json factsJson(const std::vector<FactChange>& facts) {
    Json object = Json::object();
    const auto value = [](const std::optional<std::string>& text) { return text ? Json(*text) : Json(); };
    for (const FactChange& fact : facts) object[fact.name] = {{"a", value(fact.a)}, {"b", value(fact.b)}};
    return object;
}

Json valuesJson(const InternalGraph& a, const InternalGraph& b, const ValueDiff& values) {
    Json changed = Json::array();
    for (const ValueChange& change : values.changed)
        changed.push_back({{"a", a.node(change.a).name},
                           {"b", b.node(change.b).name},
                           {"max_abs", differenceJson(change.maxAbs)},
                           {"max_rel", differenceJson(change.maxRel)},
                           {"note", change.note}});
    Json json{{"compared", values.compared},
              {"first_diverging", changed.empty() ? Json() : changed[0]["a"]},
              {"changed", std::move(changed)}};
    if (values.otherForms > 0) json["other_forms"] = values.otherForms;
    if (!values.error.empty()) json["error"] = values.error;
    return json;
}

/// What both models computed on the same numbers; null: they were not run, as the files say all.
Json runsJson(const ModelDiff& diff) {
    const diff::SameRuns& runs = diff.runs;
    if (runs.runs == 0 && runs.note.empty() && !runs.failure) return {};
    Json json{{"count", runs.runs},
              {"input", runs.isGiven ? "given" : "random"},
              {"same_results", runs.runs > 0 ? Json(runs.haveSameResults()) : Json()},
              {"matched_by_values", diff.structure.matchedByValues}};
    if (!runs.note.empty()) json["note"] = runs.note;
    if (runs.failure) json["failure"] = {{"of", runs.failure->side == 0 ? "a" : "b"}, {"what", runs.failure->text}};
    return json;
}

Json formsJson(const InternalGraph& a, const InternalGraph& b, const std::vector<StructureDiff::OtherForm>& forms) {
    Json list = Json::array();
    for (const StructureDiff::OtherForm& form : forms)
        list.push_back({{"a", namesJson(a, form.a)}, {"b", namesJson(b, form.b)}, {"what", form.what}});
    return list;
}

/// Rounded down: of 99.99 % something has no counterpart.
double percent(double fraction) { return std::floor(fraction * 1000) / 10; }

/// "+ name (Relu, block.1)" of each, at most kMaxDiffLines.
void addNodes(std::string& text, char mark, const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    for (std::size_t i = 0; i < nodes.size() && i < kMaxDiffLines; ++i) {
        const graph::Expr& expr = graph.expr(graph.node(nodes[i]).producer);
        const std::string op = expr.op.name.empty() ? expr.moduleClass : expr.op.name;
        const std::string module = expr.qualname.value_or("");
        text += fmt::format("{} {} ({}{}{})\n", mark, base::visibleText(graph.node(nodes[i]).name), op,
                            module.empty() ? "" : ", ", base::visibleText(module));
    }
    if (nodes.size() > kMaxDiffLines) text += fmt::format("{} and {} more\n", mark, nodes.size() - kMaxDiffLines);
}

void addChanges(std::string& text, char mark, const InternalGraph& a, const InternalGraph& b,
                const std::vector<NodeChange>& changes) {
    for (std::size_t i = 0; i < changes.size() && i < kMaxDiffLines; ++i) {
        const std::string &ours = a.node(changes[i].a).name, &theirs = b.node(changes[i].b).name;
        text += fmt::format("{} {}: {}\n", mark, base::visibleText(ours == theirs ? ours : ours + " = " + theirs),
                            base::visibleText(changes[i].what));
    }
    if (changes.size() > kMaxDiffLines) text += fmt::format("{} and {} more\n", mark, changes.size() - kMaxDiffLines);
}

void addNameLines(std::string& text, char mark, const std::vector<ParameterRef>& names) {
    for (std::size_t i = 0; i < names.size() && i < kMaxDiffLines; ++i)
        text += fmt::format("{} {}\n", mark, base::visibleText(names[i].name));
    if (names.size() > kMaxDiffLines) text += fmt::format("{} and {} more\n", mark, names.size() - kMaxDiffLines);
}

void addParameters(std::string& text, const ParameterDiff& parameters) {
    addNameLines(text, '-', parameters.removed);
    addNameLines(text, '+', parameters.added);
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.3g}", *value) : std::string("-");
    };
    for (std::size_t i = 0; i < parameters.changed.size() && i < kMaxDiffLines; ++i) {
        const ParameterChange& change = parameters.changed[i];
        const std::string name = change.otherName.empty() ? change.name : change.name + " = " + change.otherName;
        text += fmt::format("~ {}: max abs {}, max rel {}{}{}\n", base::visibleText(name), number(change.maxAbs),
                            number(change.maxRel), change.what.empty() ? "" : ", ", change.what);
    }
    if (parameters.changed.size() > kMaxDiffLines)
        text += fmt::format("~ and {} more\n", parameters.changed.size() - kMaxDiffLines);
}

/// "parameters: no difference, of the second model: a buffer that nothing reads: bn1.num_batches_tracked and 19 more".
void addNoteLines(std::string& text, const std::vector<ParameterNote>& notes) {
    std::map<std::pair<bool, std::string>, std::vector<std::string>> groups;
    for (const ParameterNote& note : notes) groups[{note.isOfSecond, note.what}].push_back(note.name);
    for (const auto& [group, names] : groups)
        text += fmt::format("parameters: no difference, of the {} model: {}: {}{}\n", group.first ? "second" : "first",
                            base::visibleText(group.second), base::visibleText(names.front()),
                            names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : std::string());
}

void addFactLines(std::string& text, const char* title, const std::vector<FactChange>& facts) {
    if (facts.empty()) return;
    text += fmt::format("{}\n", title);
    for (const FactChange& fact : facts)
        text += fmt::format("~ {}: {} -> {}\n", base::visibleText(fact.title()),
                            base::visibleText(FactChange::text(fact.a)), base::visibleText(FactChange::text(fact.b)));
}

std::string numbersText(const diff::SameRuns& runs) { return runs.isGiven ? "the given input" : "random numbers"; }

std::vector<std::string> namesOf(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    std::vector<std::string> names;
    for (const NodeId node : nodes) names.push_back(graph.node(node).name);
    return names;
}

std::string layersText(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "layer" : "layers"); }

/// "nodes: the same in another form: HardSigmoid, Mul = HardSwish (mul = hardswish and 3 more)".
void addFormLines(std::string& text, const InternalGraph& a, const InternalGraph& b, const StructureDiff& nodes) {
    std::map<std::string, std::vector<const StructureDiff::OtherForm*>> groups;
    for (const StructureDiff::OtherForm& form : nodes.otherForms) groups[form.what].push_back(&form);
    for (const auto& [what, forms] : groups) {
        const auto joined = [](const std::vector<std::string>& names) { return namedText(names, kMaxNamed); };
        const std::string ours = joined(namesOf(a, forms.front()->a)), theirs = joined(namesOf(b, forms.front()->b));
        text += fmt::format("nodes: the same in another form: {} ({} = {}{})\n", base::visibleText(what),
                            base::visibleText(ours), base::visibleText(theirs),
                            forms.size() > 1 ? fmt::format(" and {} more", forms.size() - 1) : std::string());
    }
}

/// What "no difference" does not speak of.
void addNotCompared(std::string& text, const InternalGraph& a, const InternalGraph& b, const ModelDiff& diff) {
    const StructureDiff& nodes = diff.structure;
    if (nodes.comparedByFunction > 0)
        text += fmt::format(
            "nodes: {} of these stand in {} that the other model writes in other operators: compared by the functions "
            "and numbers of the layer, not one by one\n",
            nodes.comparedByFunction, layersText(nodes.otherLayers));
    if (nodes.notCompared > 0)
        text += fmt::format("nodes: {} of these stand in {} that the other model has as well, and were not compared\n",
                            nodes.notCompared, layersText(nodes.otherLayers));
    if (nodes.aside > 0)
        text += fmt::format(
            "nodes: {} compute sizes or constants, check them, or move elements as the files say in different ways, and were not compared\n",
            nodes.aside);
    if (nodes.matchedByValues > 0)
        text += fmt::format(
            "nodes: {} of these stand for others of the other model, between values that are the same on {}\n",
            nodes.matchedByValues, numbersText(diff.runs));
    addFormLines(text, a, b, nodes);
    if (nodes.reordered > 0)
        text += fmt::format("nodes: {} of these read the same operands in another order, which makes no difference\n",
                            nodes.reordered);
    if (nodes.matchedByConstants > 0)
        text += fmt::format("nodes: {} of these compute what the other model stores, of stored values alone\n",
                            nodes.matchedByConstants);
    for (const auto& [which, graph, open] :
         {std::tuple("first", &a, &nodes.open[0]), std::tuple("second", &b, &nodes.open[1])})
        if (!open->empty())
            text += fmt::format("nodes: not compared one by one, of the {} model: {}\n", which,
                                base::visibleText(namedText(namesOf(*graph, *open), kMaxNamed)));
    if (diff.runs.runs > 0 && diff.runs.haveSameResults())
        text += fmt::format("nodes: the results of both models are the same on {}\n", numbersText(diff.runs));
    else if (diff.runs.failure)
        text += fmt::format("nodes: the {} model fails on {}, the other does not: {}\n",
                            diff.runs.failure->side == 0 ? "first" : "second", numbersText(diff.runs),
                            base::visibleText(base::oneLine(diff.runs.failure->text)));
    else if (diff.runs.runs > 0)
        text += fmt::format("nodes: results of the models are not the same on {}\n", numbersText(diff.runs));
    else if (!diff.runs.note.empty())
        text +=
            fmt::format("nodes: the models were not run on the same numbers: {}\n", base::visibleText(diff.runs.note));
}

}  // namespace

std::string modelDiffJson(const document::Document& first, const document::Document& second, const ModelDiff& diff) {
    const InternalGraph &a = *first.graph, &b = *second.graph;
    Json root{{"format", "sonde-diff"},
              {"version", 1},
              {"a", first.location},
              {"b", second.location},
              {"nodes",
               {{"added", namesJson(b, diff.structure.added)},
                {"removed", namesJson(a, diff.structure.removed)},
                {"changed", changesJson(a, b, diff.structure.changed)},
                {"moved", changesJson(a, b, diff.structure.moved)},
                {"pairs", pairsJson(a, b, diff.pairs)},
                {"renamed", diff.structure.renamed}}},
              {"parameters", parametersJson(diff.parameters)},
              {"matched", diff.structure.matched()},
              {"matched_of_all", diff.structure.matchedOfAll()},
              {"matched_by_module", diff.structure.matchedByModule},
              {"matched_by_constants", diff.structure.matchedByConstants},
              {"matched_by_form", diff.structure.matchedByForm},
              {"other_forms", formsJson(a, b, diff.structure.otherForms)},
              {"reordered", diff.structure.reordered},
              {"compared_by_function", diff.structure.comparedByFunction},
              {"not_compared", diff.structure.notCompared + diff.structure.aside},
              {"not_compared_nodes",
               {{"a", namesJson(a, diff.structure.open[0])}, {"b", namesJson(b, diff.structure.open[1])}}},
              {"runs", runsJson(diff)},
              {"cost", factsJson(diff.cost)},
              {"cost_notes", diff.costNotes},
              {"metadata", factsJson(diff.metadata)},
              {"equal", diff.isEqual()}};
    if (diff.values) root["values"] = valuesJson(a, b, *diff.values);
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string modelDiffText(const document::Document& first, const document::Document& second, const ModelDiff& diff) {
    const InternalGraph &a = *first.graph, &b = *second.graph;
    std::string text =
        fmt::format("--- {}\n+++ {}\n", base::visibleText(first.location), base::visibleText(second.location));
    const StructureDiff& nodes = diff.structure;
    const std::string matched = nodes.comparedTensors == nodes.comparedNodes
                                    ? fmt::format("{:.1f} % matched", percent(nodes.matched()))
                                    : fmt::format("{:.1f} % of those with tensors matched ({:.1f} % of all)",
                                                  percent(nodes.matched()), percent(nodes.matchedOfAll()));
    text +=
        fmt::format("nodes: {}, {} removed, {} added, {} changed, {} moved, {} renamed\n", matched,
                    nodes.removed.size(), nodes.added.size(), nodes.changed.size(), nodes.moved.size(), nodes.renamed);
    addNotCompared(text, a, b, diff);
    addNodes(text, '-', a, nodes.removed);
    addNodes(text, '+', b, nodes.added);
    addChanges(text, '~', a, b, nodes.changed);
    addChanges(text, '>', a, b, nodes.moved);
    const ParameterDiff& parameters = diff.parameters;
    text +=
        fmt::format("parameters: {} equal, {} removed, {} added, {} changed, {} renamed\n", parameters.equal,
                    parameters.removed.size(), parameters.added.size(), parameters.changed.size(), parameters.renamed);
    if (parameters.rounded > 0)
        text += fmt::format("parameters: {} equal but for rounding, with folded batch norms\n", parameters.rounded);
    addParameters(text, parameters);
    addNoteLines(text, parameters.notes);
    addFactLines(text, "cost", diff.cost);
    for (const std::string& note : diff.costNotes) text += fmt::format("cost: {}\n", base::visibleText(note));
    addFactLines(text, "metadata", diff.metadata);
    if (diff.values) {
        text += fmt::format("values: {} compared, {} differ", diff.values->compared, diff.values->changed.size());
        if (diff.values->otherForms > 0) text += fmt::format(", {} in other forms", diff.values->otherForms);
        text += '\n';
        if (!diff.values->error.empty()) text += base::visibleText(diff.values->error) + "\n";
        for (std::size_t i = 0; i < diff.values->changed.size() && i < kMaxDiffLines; ++i) {
            const ValueChange& change = diff.values->changed[i];
            text += fmt::format("~ {}: max abs {:.3g}, max rel {:.3g}{}{}\n", base::visibleText(a.node(change.a).name),
                                change.maxAbs, change.maxRel, change.note.empty() ? "" : ", ", change.note);
        }
    }
    if (diff.isEqual()) {
        const std::size_t open = nodes.uncompared();
        if (open > 0 && diff.runs.runs == 0 && !diff.runs.note.empty()) {
            text += fmt::format(
                "structure and parameters are the same as far as the files tell: {} operations were not "
                "compared one by one, nor by running the models\n",
                open);
            return text;
        }
        text += fmt::format("no difference in structure, parameters{}{}{}\n", diff.values ? " and values" : "",
                            nodes.otherForms.empty() ? "" : ", but for the forms above, which compute the same",
                            open > 0 ? fmt::format(" ({} operations were not compared one by one)", open) : "");
    }
    return text;
}

}  // namespace sonde::session
