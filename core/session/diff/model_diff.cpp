#include "core/session/diff/model_diff.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/analysis/measured_runs.h"
#include "core/exec/runner.h"
#include "core/graph/missing_data.h"
#include "core/session/diff/operand_diff.h"
#include "core/session/diff/other_forms.h"
#include "core/session/diff/output_values.h"
#include "core/session/diff/same_runs_verdict.h"
#include "core/session/findings/finding_groups.h"
#include "core/session/model_info.h"

namespace sonde::session {

using analysis::CostSum;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// Changed entries of two lists of properties, in the order of the first.
class FactList {
  public:
    /// The change that was added; null: there is none.
    FactChange* add(const std::string& name, std::optional<std::string> a, std::optional<std::string> b) {
        return a == b ? nullptr : &m_facts.emplace_back(FactChange{name, std::move(a), std::move(b), {}, {}});
    }
    template <typename Value>
    void addAll(const std::string& prefix, const std::vector<std::pair<std::string, Value>>& a,
                const std::vector<std::pair<std::string, Value>>& b) {
        std::vector<std::string> names;
        using Text = std::optional<std::string>;
        std::map<std::string, std::pair<Text, Text>> values;
        const auto take = [&](const auto& list, auto member) {
            for (const auto& [name, value] : list) {
                const auto [entry, isNew] = values.try_emplace(name);
                if (isNew) names.push_back(name);
                if constexpr (std::is_same_v<Value, std::string>) entry->second.*member = value;
                else entry->second.*member = std::to_string(value);
            }
        };
        take(a, &std::pair<Text, Text>::first);
        take(b, &std::pair<Text, Text>::second);
        for (const std::string& name : names) add(prefix + name, values[name].first, values[name].second);
    }
    std::vector<FactChange> take() { return std::move(m_facts); }

  private:
    std::vector<FactChange> m_facts;
};

std::vector<std::pair<std::string, std::string>> typesOf(const InternalGraph& graph,
                                                         const std::vector<document::NamedNode>& values) {
    std::vector<std::pair<std::string, std::string>> types;
    for (const document::NamedNode& value : values) types.emplace_back(value.name, graph.node(value.node).type.text());
    return types;
}

/// The operations that make the difference between two sums.
void addNodes(FactChange& change, const ModelInfo& a, const ModelInfo& b, const GraphPairs& pairs,
              tensor::SymbolicSum CostSum::*figure) {
    const auto part = [figure](const ModelInfo& info, ExprId id) -> std::string {
        if (!id.valid() || id.index() >= info.cost.ofExpr.size()) return {};
        const analysis::ExprCost& cost = info.cost.ofExpr[id.index()];
        if (cost.part != analysis::CostPart::Counted || (cost.sum.*figure).constant() == 0) return {};
        return (cost.sum.*figure).text();
    };
    const auto collect = [&](const ModelInfo& own, const ModelInfo& other, const std::vector<ExprId>& match,
                             std::vector<NodeId>& nodes) {
        for (const ExprId id : own.graph->recursiveOrder(own.graph->mainId())) {
            const auto& outputs = own.graph->expr(id).outputs;
            if (outputs.empty() || id.index() >= match.size()) continue;
            if (part(own, id) != part(other, match[id.index()])) nodes.push_back(outputs.front());
        }
    };
    collect(a, b, pairs.ofFirst, change.nodesA);
    collect(b, a, pairs.ofSecond, change.nodesB);
}

/// The stored tensors that make the difference between two counts of elements.
void addNodes(FactChange& change, const ParameterDiff& parameters) {
    const auto add = [](std::vector<NodeId>& nodes, NodeId node) {
        if (node.valid()) nodes.push_back(node);
    };
    for (const ParameterRef& one : parameters.removed) add(change.nodesA, one.node);
    for (const ParameterRef& one : parameters.added) add(change.nodesB, one.node);
    for (const ParameterChange& one : parameters.changed) {
        if (one.maxAbs) continue;  // as many elements
        add(change.nodesA, one.a);
        add(change.nodesB, one.b);
    }
}

void addFacts(ModelDiff& diff, const document::Document& first, const document::Document& second, const ModelInfo& a,
              const ModelInfo& b) {
    FactList metadata, cost;
    metadata.add("format", a.file.format, b.file.format);
    const auto told = [](const std::string& text) {
        return text.empty() ? std::optional<std::string>() : std::optional(text);
    };
    metadata.add("producer", told(a.file.producer), told(b.file.producer));
    metadata.addAll("opset ", a.file.opsets, b.file.opsets);
    if (a.file.format == b.file.format) metadata.addAll("", a.file.properties, b.file.properties);
    metadata.addAll("metadata ", a.file.metadata, b.file.metadata);
    metadata.addAll("input ", typesOf(*first.graph, first.inputs), typesOf(*second.graph, second.inputs));
    metadata.addAll("output ", typesOf(*first.graph, first.outputs), typesOf(*second.graph, second.outputs));
    diff.metadata = metadata.take();
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    const auto addStored = [&](const char* name, const analysis::StoredSum& ours, const analysis::StoredSum& theirs,
                               std::int64_t analysis::StoredSum::*figure) {
        if (FactChange* const change = cost.add(name, number(ours.*figure), number(theirs.*figure)))
            addNodes(*change, diff.parameters);
    };
    addStored("parameters", a.counts.parameters, b.counts.parameters, &analysis::StoredSum::elements);
    addStored("buffers", a.counts.buffers, b.counts.buffers, &analysis::StoredSum::elements);
    addStored("parameter_bytes", a.counts.parameters, b.counts.parameters, &analysis::StoredSum::bytes);
    const CostSum &ours = a.cost.total, &theirs = b.cost.total;
    const auto add = [&](const char* name, tensor::SymbolicSum CostSum::*figure, bool (CostSum::*isKnown)() const) {
        const auto text = [&](const CostSum& sum) { return (sum.*isKnown)() ? (sum.*figure).text() : "not known"; };
        if (FactChange* const change = cost.add(name, text(ours), text(theirs)))
            addNodes(*change, a, b, diff.pairs, figure);
    };
    add("macs", &CostSum::multiplyAdds, &CostSum::hasMultiplyAdds);
    add("flops", &CostSum::flops, &CostSum::hasFlops);
    add("bytes_read", &CostSum::bytesRead, &CostSum::hasBytes);
    add("bytes_written", &CostSum::bytesWritten, &CostSum::hasBytes);
    add("activation_bytes", &CostSum::activationBytes, &CostSum::hasActivations);
    diff.cost = cost.take();
    if (diff.cost.empty()) return;
    for (const auto& [which, info] : {std::pair("first", &a), std::pair("second", &b)})
        if (const std::vector<std::string>& assumed = info->cost.assumptions; !assumed.empty())
            diff.costNotes.push_back(std::string("assumed of the ") + which + " model: " + namedText(assumed, 1));
}

/// Stored tensors of which one model computes what the other stores were compared by that.
void takeFolded(const InternalGraph& first, const InternalGraph& second, const StructureDiff& structure,
                ParameterDiff& parameters) {
    std::array<std::set<NodeId>, 2> taken;
    const auto isTaken = [&](std::size_t side, NodeId node) {
        const std::vector<bool>& compared = structure.comparedStored[side];
        const bool is = node.valid() && node.index() < compared.size() && compared[node.index()];
        if (is) taken[side].insert(node);
        return is;
    };
    const auto note = [&](std::size_t side, const std::string& name, NodeId node) {
        parameters.notes.push_back({name, node, side == 1, "compared where one model stores what the other computes"});
    };
    for (std::size_t side = 0; side < 2; ++side)
        std::erase_if(side == 0 ? parameters.removed : parameters.added, [&](const ParameterRef& one) {
            if (!isTaken(side, one.node)) return false;
            note(side, one.name, one.node);
            return true;
        });
    for (const StructureDiff::OtherStored& other : structure.otherStored) {
        const bool isOfSecond = !taken[0].contains(other.a);
        if (isOfSecond && !taken[1].contains(other.b)) continue;
        if (other.isRounded)
            parameters.notes.push_back({isOfSecond ? second.node(other.b).name : first.node(other.a).name,
                                        isOfSecond ? other.b : other.a, isOfSecond,
                                        fmt::format("one model computes it of what it stores: equal but for rounding, "
                                                    "max abs {:.3g}",
                                                    *other.maxAbs)});
        else
            parameters.changed.push_back({first.node(other.a).name,
                                          second.node(other.b).name,
                                          other.a,
                                          other.b,
                                          other.maxAbs,
                                          {},
                                          "one model computes it of what it stores"});
    }
}

/// The first graph with the names of the second for what has a counterpart, and names of their own for all else: values
/// are compared by name.
std::shared_ptr<const InternalGraph> renamed(const InternalGraph& graph, const InternalGraph& other,
                                             const GraphPairs& pairs) {
    auto copy = std::make_shared<InternalGraph>(graph);
    for (std::size_t i = 0; i < graph.nodeCount(); ++i)
        if (!graph.isErased(graph.node(NodeId(i)).producer)) (void)copy->rename(NodeId(i), "\n" + std::to_string(i));
    const auto give = [&](NodeId own, NodeId theirs) { (void)copy->rename(own, other.node(theirs).name); };
    for (std::size_t i = 0; i < pairs.ofFirst.size(); ++i) {
        if (!pairs.ofFirst[i].valid()) continue;
        const auto &ours = graph.expr(graph::ExprId(i)).outputs, &theirs = other.expr(pairs.ofFirst[i]).outputs;
        for (std::size_t k = 0; k < ours.size() && k < theirs.size(); ++k) give(ours[k], theirs[k]);
    }
    return copy;
}

base::Result<ValueDiff> valueDiff(const document::Document& first, const document::Document& second,
                                  const GraphPairs& pairs, const ModelDiffRequest& request,
                                  const base::WorkContext& work) {
    exec::Runner runner(request.threads);
    const analysis::MeasuredRun reference{first.graph, inGraphOrder(first, request.inputs)};
    GraphPairs turned = pairs;
    std::swap(turned.ofFirst, turned.ofSecond);
    const analysis::MeasuredRun actual{renamed(*second.graph, *first.graph, turned),
                                       inGraphOrder(second, valuesForSecond(first, second, request.inputs))};
    SONDE_ASSIGN(const analysis::RunDifferences differences,
                 analysis::compareRuns(actual, reference, request.tolerances, runner, work));
    if (work.cancelled()) return base::cancelled("comparing values");
    ValueDiff diff;
    if (differences.error)
        diff.error = std::string(differences.isReferenceError ? "the first" : "the second") +
                     " model: " + differences.error->text();
    // ONNX and TorchScript write some things in other forms: a shape as one tensor or as a number, the results of a
    // loop in another order. Results of the model are values of both.
    const std::vector<NodeId>& results = first.graph->outputs();
    const auto isOtherForm = [&](NodeId node, const analysis::NodeDifference& found) {
        return !pairs.isOneVocabulary && !found.ok && !found.isMeasured &&
               std::ranges::find(results, node) == results.end();
    };
    for (const graph::ExprId id : first.graph->recursiveOrder(first.graph->mainId())) {
        const graph::ExprId other = pairs.ofFirst[id.index()];
        if (!other.valid()) continue;
        const auto &ours = first.graph->expr(id).outputs, &theirs = second.graph->expr(other).outputs;
        for (std::size_t k = 0; k < ours.size() && k < theirs.size(); ++k) {
            const auto& found = differences.ofNode[theirs[k].index()];
            if (!found) continue;
            if (isOtherForm(ours[k], *found)) {
                ++diff.otherForms;
                continue;
            }
            ++diff.compared;
            if (!found->ok)
                diff.changed.push_back({ours[k], theirs[k], found->maxAbsolute, found->maxRelative, found->remarks()});
        }
    }
    if (differences.error) return diff;
    SONDE_ASSIGN(const diff::OutputValues outputs,
                 diff::compareOutputs(first, second, pairs, {reference.inputs, actual.inputs}, request.tolerances,
                                      runner, work));
    diff.compared += outputs.compared;
    for (const diff::OtherOutput& each : outputs.changed)
        diff.changed.push_back({each.a, each.b, each.maxAbs, each.maxRel, each.note});
    return diff;
}

}  // namespace

std::string FactChange::title() const {
    if (name == "macs") return "multiply-adds";
    if (name == "flops") return "FLOPs";
    constexpr std::array<std::string_view, 4> kKeys{"parameter_bytes", "bytes_read", "bytes_written",
                                                    "activation_bytes"};
    std::string text = name;
    if (std::ranges::find(kKeys, name) != kKeys.end()) std::ranges::replace(text, '_', ' ');
    return text;
}

std::string FactChange::text(const std::optional<std::string>& value) {
    if (!value) return "none";
    return value->empty() ? "\"\"" : *value;
}

base::Result<ModelDiff> modelDiff(const document::Document& first, const document::Document& second,
                                  const ModelDiffRequest& request, const base::WorkContext& work) {
    for (const document::Document* document : {&first, &second}) SONDE_TRY(graph::checkComplete(document->graph));
    ModelDiff diff;
    work.report("matching nodes");
    diff.pairs = pairOperations(*first.graph, *second.graph, request.byHand, work);
    if (work.cancelled()) return base::cancelled("matching nodes");
    diff.structure = structureDiff(*first.graph, *second.graph, diff.pairs);
    SONDE_ASSIGN(diff.parameters, parameterDiff(first, second, diff.pairs, work));
    takeFolded(*first.graph, *second.graph, diff.structure, diff.parameters);
    diff::takeBackForms(*first.graph, *second.graph, diff.pairs, request.byHand, diff.structure, diff.parameters, work);
    diff::addOtherOperands(first, second, diff.pairs, diff.parameters, diff.structure);
    ModelInfoRequest info;
    info.hashes = false;
    info.seed = request.seed;
    info.threads = request.threads;
    info.inputs = request.inputs;
    SONDE_ASSIGN(const ModelInfo a, modelInfo(first, info, work));
    if (!request.inputs.empty()) info.inputs = valuesForSecond(first, second, request.inputs);
    SONDE_ASSIGN(const ModelInfo b, modelInfo(second, info, work));
    if (diff::requiresRuns(diff.structure, *first.graph, *second.graph, diff.pairs)) {
        SONDE_ASSIGN(diff.runs, diff::runBoth(first, second, a, b, diff.pairs,
                                              {request.inputs, request.seed, request.threads,
                                               diff::comparedAlone(diff.structure, *first.graph, diff.pairs)},
                                              work));
        diff::judgeByRuns(diff.structure, *first.graph, *second.graph, diff.pairs, request.byHand, diff.parameters,
                          diff.runs);
    }
    addFacts(diff, first, second, a, b);
    if (!request.inputs.empty()) {
        SONDE_ASSIGN(diff.values, valueDiff(first, second, diff.pairs, request, work));
    }
    return diff;
}

}  // namespace sonde::session
