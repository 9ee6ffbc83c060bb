#include "core/session/report/report_values.h"

#include <algorithm>

#include "core/document/sha256.h"
#include "core/exec/plan.h"
#include "core/exec/runner.h"

namespace sonde::session {

using graph::NodeId;
using tensor::Value;

namespace {

ReportedValue reportedValue(std::string kind, std::string name, const Value& value, const base::WorkContext& work) {
    ReportedValue reported{std::move(kind), std::move(name), value.typeText(), {}, {}};
    if (!value.isTensor() || value.tensor().dtype() == tensor::DType::String) return reported;
    reported.stats = analysis::tensorStats(value.tensor(), work.stop);
    if (const auto whole = value.tensor().contiguous())
        reported.sha256 = document::sha256({whole->bytes(), whole->sizeBytes()});
    return reported;
}

}  // namespace

base::Result<std::vector<ReportedValue>> reportedValues(const document::Document& document,
                                                        const std::vector<Value>& inputs,
                                                        const std::vector<NodeId>& watched, std::uint64_t seed,
                                                        std::size_t threads, const base::WorkContext& work) {
    const std::vector<NodeId>& given = document.graph->inputs();
    std::vector<Value> ordered(given.size());
    std::vector<ReportedValue> values;
    for (std::size_t i = 0; i < document.inputs.size() && i < inputs.size(); ++i) {
        const auto at = std::ranges::find(given, document.inputs[i].node);
        if (at != given.end()) ordered[static_cast<std::size_t>(at - given.begin())] = inputs[i];
        values.push_back(reportedValue("input", document.inputs[i].name, inputs[i], work));
    }
    exec::PlanOptions points;
    points.watch = watched;
    for (const document::NamedNode& output : document.outputs) points.watch.push_back(output.node);
    SONDE_ASSIGN(const auto plan, exec::Plan::make(document.graph, std::move(points)));
    exec::Runner runner(threads);
    exec::RunOptions options;
    options.seed = seed;
    const exec::Recording recording = runner.run(*plan, ordered, work, options);
    if (recording.error) return *recording.error;
    const auto add = [&](const char* kind, const std::string& name, NodeId node) {
        const auto& constant = document.graph->node(node).constant;
        const Value* value = recording.value(node);
        if (!value && constant) value = &*constant;
        const auto at = std::ranges::find(given, node);
        if (!value && at != given.end()) value = &ordered[static_cast<std::size_t>(at - given.begin())];
        if (value) values.push_back(reportedValue(kind, name, *value, work));
    };
    for (const document::NamedNode& output : document.outputs) add("output", output.name, output.node);
    for (const NodeId node : watched) add("watched", document.graph->node(node).name, node);
    return values;
}

}  // namespace sonde::session
