// Which values of a reference are of which node as a whole, for analysis::findDivergence().

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "core/analysis/divergence.h"
#include "core/analysis/reference_keys.h"
#include "core/document/document_types.h"
#include "core/document/reference.h"

namespace sonde::document {

using analysis::ComparedCase;
using analysis::ComparedValue;
using analysis::Problem;
using graph::NodeId;
using tensor::Tensor;

namespace {

using KeyOfNode = std::unordered_map<NodeId, std::string>;

/// "" of the first case, "case1." of another one.
std::string prefixOf(const ComparedCase& compared) {
    return compared.label.starts_with("case ") ? std::string() : compared.label + ".";
}

/// Not of parts of values ("lstm.1.0"), of iterations ("z.pass2"), and of summaries.
KeyOfNode wholeKeys(const Document& document, const ComparedCase& compared,
                    const std::unordered_set<std::string>& keys) {
    KeyOfNode keyOf;
    const std::string prefix = prefixOf(compared);
    for (const ComparedValue& value : compared.values) {
        if (!value.node.valid() || value.iteration) continue;
        const bool isOutput = std::ranges::any_of(document.outputs, [&](const NamedNode& output) {
            return output.node == value.node && output.name == value.name;
        });
        const auto place = analysis::keyedValue(*document.graph, value.name);
        const bool isWhole = value.isOutput
                                 ? isOutput
                                 : place && place->node == value.node && place->pass.empty() && place->path.empty();
        const std::string key = prefix + (value.isOutput ? "out." : "node.") + value.name;
        if (isWhole && keys.contains(key)) keyOf.try_emplace(value.node, key);
    }
    return keyOf;
}

Problem problemOfCase(const ComparedCase& compared) {
    Problem problem;
    problem.kind = analysis::ProblemKind::Shape;
    problem.message = compared.label + " of the reference does not fit the model: " + compared.error->what;
    problem.advice = compared.error->hint;
    return problem;
}

}  // namespace

base::Result<std::vector<Problem>> findDivergence(const Document& document, const ReferenceComparison& compared,
                                                  const analysis::Tolerances& tolerances, exec::Runner& runner,
                                                  const base::WorkContext& work) {
    const base::MappedFilesScope files;
    const std::unordered_set<std::string> keys(compared.values.keys.begin(), compared.values.keys.end());
    std::vector<std::pair<std::string, std::vector<Problem>>> cases;
    std::vector<Problem> unfit;
    for (const ComparedCase& one : compared.cases) {
        if (one.values.empty() && one.error && one.inputs.empty()) {
            unfit.push_back(problemOfCase(one));
            continue;
        }
        const analysis::RunDifferences differences = analysis::differencesOf(*document.graph, one);
        analysis::ComparedRun run{document.graph, differences, {}, one.inputs, {}, tolerances};
        KeyOfNode keyOf;
        if (one.inputs.size() == document.graph->inputs().size()) {
            keyOf = wholeKeys(document, one, keys);
            run.reference = [&](NodeId node) -> std::optional<Tensor> {
                const auto key = keyOf.find(node);
                if (key == keyOf.end()) return std::nullopt;
                auto value = compared.values.read(key->second);
                return value ? std::optional(std::move(*value)) : std::nullopt;
            };
            if (prefixOf(one).empty())
                for (const NamedNode& input : document.inputs)
                    if (const auto own = compared.replaced.find(input.name); own != compared.replaced.end())
                        run.replaced.emplace(input.node, own->second);
        }
        SONDE_ASSIGN(auto problems, analysis::findDivergence(run, runner, work));
        cases.emplace_back(one.label, std::move(problems));
    }
    std::vector<Problem> all = analysis::joinCases(*document.graph, std::move(cases));
    all.insert(all.begin(), unfit.begin(), unfit.end());
    SONDE_TRY(base::checkUnchanged(compared.files, "reference file"));
    return all;
}

}  // namespace sonde::document
