#include "core/session/sweep/sweep.h"

#include <algorithm>
#include <cmath>

#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/exec/plan.h"
#include "core/exec/recording.h"
#include "core/exec/runner.h"
#include "core/session/node_names.h"

namespace sonde::session {

using graph::NodeId;
using tensor::Value;

namespace {

bool hasNumbers(const Value& value) {
    return value.isTensor() && value.tensor().dtype() != tensor::DType::String && value.tensor().numel() > 0;
}

/// By sample: of all elements, or of those at each index of the first of several dimensions. None of NaN alone.
std::vector<std::optional<std::int64_t>> predictionsOf(const Value& value) {
    if (!hasNumbers(value)) return {};
    const auto whole = value.tensor().contiguous();
    if (!whole) return {};
    const std::int64_t samples = whole->rank() > 1 ? whole->shape()[0] : 1, count = whole->numel() / samples;
    std::vector<std::optional<std::int64_t>> largest(static_cast<std::size_t>(samples));
    for (std::int64_t i = 0; i < samples * count; ++i) {
        auto& found = largest[static_cast<std::size_t>(i / count)];
        const double number = whole->toDouble(i);
        if (!std::isnan(number) && (!found || number > whole->toDouble(i / count * count + *found))) found = i % count;
    }
    return largest;
}

std::int64_t classesOf(const Value& value) {
    const tensor::Tensor& tensor = value.tensor();
    return tensor.rank() > 1 ? tensor.numel() / tensor.shape()[0] : tensor.numel();
}

/// Each sample with its label, if there are as many labels as samples, and all name classes of the output.
void judge(SweepRow& row, const document::NamedNode& output, const Value& value, const std::string& place) {
    row.predicted = predictionsOf(value);
    if (row.label.empty() || row.predicted.empty()) return;
    const std::vector<std::string> labels = labelsOfSamples(row.label);
    if (labels.size() != row.predicted.size()) {
        const auto counted = [](std::size_t count, const char* unit) {
            return base::countedText(static_cast<std::int64_t>(count), unit);
        };
        row.labelError = place + " has " + counted(labels.size(), "label") + " for " +
                         counted(row.predicted.size(), "sample") + " of output '" + output.name +
                         "': a batch needs one for each sample, with spaces between";
        return;
    }
    for (const std::string& label : labels) {
        const auto number = base::parseNumber<std::int64_t>(label);
        if (number && *number >= 0 && *number < classesOf(value)) continue;
        row.labelError = "label " + label + " in " + place + " is no class of output '" + output.name +
                         "': they are 0 to " + std::to_string(classesOf(value) - 1);
        return;
    }
    for (std::size_t i = 0; i < labels.size(); ++i)
        row.samples.push_back({labels[i], row.predicted[i], !row.predicted[i]});
}

}  // namespace

bool SweepSample::isCorrect() const {
    const auto number = base::parseNumber<std::int64_t>(label);
    return number && predicted && *number == *predicted;
}

std::string SweepRow::predictedText() const {
    std::string text;
    for (const auto& one : predicted) text += (text.empty() ? "" : " ") + (one ? std::to_string(*one) : "-");
    return predicted.size() == 1 && !predicted.front() ? std::string() : text;
}

void SweepSummary::add(const SweepRow& row) {
    ++done;
    failed += row.error ? 1 : 0;
    broken += row.condition == false ? 1 : 0;
    unlabelled += row.labelError.empty() ? 0 : 1;
    labelled += row.samples.size();
    correct += static_cast<std::size_t>(std::ranges::count_if(row.samples, &SweepSample::isCorrect));
}

/// One input after the other on one plan.
struct Sweep::Runs {
    const Sweep& sweep;
    std::shared_ptr<const exec::Plan> plan;
    exec::Runner runner;
    bool hadCondition = false;  ///< it could be computed of an input

    base::Result<SweepRow> run(const SweepInput& input, std::size_t index, const base::WorkContext& work) {
        const document::Document& document = *sweep.m_document;
        const SweepRequest& request = sweep.m_request;
        SweepRow row;
        row.input = input.name;
        row.label = request.labels.of(input.name, index);
        if (row.label.empty() && sweep.hasLabels()) row.labelError = request.labels.missing(input.name, index);
        row.stats.resize(sweep.m_nodes.size());
        const auto given = readSweepInput(document, input, request.preset, request.seed, work);
        if (!given) return failed(std::move(row), given.error());
        std::vector<Value> values(document.graph->inputs().size());
        for (std::size_t i = 0; i < document.inputs.size() && i < given->size(); ++i) {
            const auto at = std::ranges::find(document.graph->inputs(), document.inputs[i].node);
            if (at != document.graph->inputs().end())
                values[static_cast<std::size_t>(at - document.graph->inputs().begin())] = (*given)[i];
        }
        auto edited = request.edits.edited(std::move(values), work);
        if (!edited) return failed(std::move(row), edited.error());
        values = std::move(*edited);
        exec::RunOptions options;
        options.seed = request.seed;
        const exec::Recording recording = runner.run(*plan, values, work, options);
        if (recording.error) return failed(std::move(row), *recording.error);
        const auto valueOf = [&](NodeId node) -> const Value* {
            if (const Value* kept = recording.value(node)) return kept;
            const auto at = std::ranges::find(document.graph->inputs(), node);
            if (at != document.graph->inputs().end())
                return &values[static_cast<std::size_t>(at - document.graph->inputs().begin())];
            if (request.edits.values)
                if (const auto own = request.edits.values->constants.find(node);
                    own != request.edits.values->constants.end())
                    return &own->second;
            const auto& constant = document.graph->node(node).constant;
            return constant ? &*constant : nullptr;
        };
        for (std::size_t i = 0; i < sweep.m_nodes.size(); ++i)
            if (const Value* value = valueOf(sweep.m_nodes[i].second); value && value->isTensor())
                row.stats[i] = analysis::tensorStats(value->tensor(), work.stop);
        if (sweep.hasCondition()) {
            const auto isTrue = expression::isTrue(sweep.m_condition, nodeNames(document, valueOf), work);
            // Of no input so far: it is the condition that is wrong.
            if (!isTrue && (!hadCondition || work.cancelled())) return isTrue.error();
            if (!isTrue) return failed(std::move(row), isTrue.error());
            row.condition = *isTrue;
            hadCondition = true;
        }
        if (sweep.hasLabels() && !document.outputs.empty())
            if (const Value* output = valueOf(document.outputs.front().node))
                judge(row, document.outputs.front(), *output, request.labels.place(input.name, index));
        return row;
    }

    static SweepRow failed(SweepRow row, base::Error error) {
        row.error = std::move(error);
        return row;
    }
};

base::Result<Sweep> Sweep::make(std::shared_ptr<const document::Document> document, SweepRequest request) {
    Sweep sweep;
    sweep.m_document = std::move(document);
    sweep.m_request = std::move(request);
    const document::Document& model = *sweep.m_document;
    std::vector<NodeId> watched = sweep.m_request.watch;
    if (watched.empty())
        for (const document::NamedNode& output : model.outputs) watched.push_back(output.node);
    for (const NodeId node : watched)
        if (std::ranges::find(sweep.m_needed, node) == sweep.m_needed.end()) {
            sweep.m_needed.push_back(node);
            sweep.m_nodes.emplace_back(model.graph->node(node).name, node);
        }
    if (!sweep.m_request.condition.empty()) {
        SONDE_ASSIGN(sweep.m_condition, expression::parse(sweep.m_request.condition));
        // With a number in place of each value, only a name that is none is an error worth telling.
        std::optional<base::Error> unknown;
        const auto checked = expression::evaluate(sweep.m_condition, [&](std::string_view name) -> base::Result<Value> {
            const auto node = model.findNode(name);
            if (node) return Value::ofFloat(1);
            unknown = node.error();
            return node.error();
        });
        if (unknown && !checked) return checked.error();
        for (const std::string& name : sweep.m_condition.names()) {
            SONDE_ASSIGN(const NodeId node, model.findNode(name));
            sweep.m_needed.push_back(node);
        }
    }
    if (sweep.hasLabels() && !model.outputs.empty()) sweep.m_needed.push_back(model.outputs.front().node);
    return sweep;
}

base::Result<SweepSummary> Sweep::run(const std::vector<SweepInput>& inputs,
                                      const std::function<void(const SweepRow&)>& take,
                                      const base::WorkContext& work) const {
    exec::PlanOptions options;
    options.watch = m_needed;
    options.edits = m_request.edits.values;
    // Nothing behind what is looked at need run, if all of it is in the main program.
    const graph::InternalGraph& graph = *m_document->graph;
    const bool isMain = std::ranges::all_of(m_needed, [&graph](NodeId node) {
        const graph::Expr& expr = graph.expr(graph.node(node).producer);
        return expr.body == graph.mainId() && expr.kind != graph::ExprKind::Input && !graph.node(node).constant;
    });
    if (isMain) options.end = m_needed;
    SONDE_ASSIGN(auto plan, exec::Plan::make(m_document->graph, std::move(options)));
    Runs runs{*this, std::move(plan), exec::Runner(m_request.threads)};
    SweepSummary summary;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        work.report("running " + inputs[i].name, i, inputs.size());
        if (work.cancelled()) break;
        const auto row = runs.run(inputs[i], i, base::WorkContext{work.stop, {}});
        if (work.cancelled()) break;
        if (!row) return row.error();
        take(*row);
        summary.add(*row);
    }
    summary.isCancelled = work.cancelled();
    return summary;
}

}  // namespace sonde::session
