#include "core/session/bisection/reference_target.h"

#include <algorithm>

#include "core/analysis/reference_keys.h"
#include "core/document/reference.h"
#include "core/exec/flatten.h"
#include "core/session/reference_value.h"

namespace sonde::session::bisection {

using graph::NodeId;

namespace {

constexpr std::string_view kFirstCase = "case 0";

const analysis::ComparedCase* chosenCase(const std::vector<analysis::ComparedCase>& cases, const std::string& label,
                                         std::size_t inputs) {
    const analysis::ComparedCase* chosen = nullptr;
    for (const analysis::ComparedCase& one : cases) {
        if (one.inputs.size() != inputs) continue;  // a sequence
        const bool isNamed = one.label == label || (label == "case0" && one.label == kFirstCase);
        if (isNamed) return &one;
        if (label.empty() && (!chosen || (chosen->ok() && !one.ok()))) chosen = &one;
    }
    return chosen;
}

/// Adds what a key without its case means; summaries, elements of structures and iterations are no whole values.
base::Result<void> addValue(const document::Document& document, const std::vector<NodeId>& sources,
                            const std::string& key, const std::string& name, const document::ReferenceComparison& from,
                            analysis::BisectTarget::Values& values) {
    NodeId node;
    if (name.starts_with("node.")) {
        const auto place = analysis::keyedValue(*document.graph, name.substr(5));
        if (place && place->pass.empty() && place->path.empty()) node = place->node;
    } else if (name.starts_with("out.")) {
        for (const document::NamedNode& output : document.outputs)
            if (output.name == name.substr(4)) node = output.node;
    }
    if (!node.valid() || values.contains(sources[node.index()])) return {};
    SONDE_ASSIGN(tensor::Tensor tensor, from.values.read(key));
    values.emplace(sources[node.index()], tensor::Value(std::move(tensor)));
    return {};
}

}  // namespace

base::Result<ReferenceCase> referenceCase(const document::Document& document, const std::string& path,
                                          const analysis::Tolerances& tolerances, exec::Runner& runner,
                                          const base::WorkContext& work) {
    const auto [file, label] = fileAndCase(path);
    SONDE_ASSIGN(document::ReferenceComparison compared,
                 document::compareWithReference(document, file, tolerances, runner, {}, work));
    const analysis::ComparedCase* chosen = chosenCase(compared.cases, label, document.graph->inputs().size());
    if (!chosen)
        return base::usageError(label.empty() ? "the file has only a sequence of runs" : "the file has no " + label,
                                file, "a bisection takes one run: `in.NAME` with `node.NAME` and `out.NAME`");
    if (chosen->error) return *chosen->error;
    ReferenceCase found;
    found.inputs = chosen->inputs;
    if (compared.cases.size() > 1) found.label = chosen->label == kFirstCase ? "case0" : chosen->label;
    const std::string prefix = chosen->label == kFirstCase ? std::string() : chosen->label + ".";
    const std::vector<NodeId> sources = exec::valueSources(*document.graph);
    for (const std::string& key : compared.values.keys)
        if (key.starts_with(prefix))
            SONDE_TRY(addValue(document, sources, key, key.substr(prefix.size()), compared, found.values));
    found.files = std::move(compared.files);
    return found;
}

}  // namespace sonde::session::bisection
