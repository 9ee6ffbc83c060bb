// Which values of a reference are of which node as a whole, for analysis::findDivergence().

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "core/analysis/divergence.h"
#include "core/analysis/reference_keys.h"
#include "core/document/document_types.h"
#include "core/document/reference.h"
#include "core/exec/flatten.h"

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

/// What the reference has of whole values of a case.
class WholeValues {
  public:
    WholeValues(const Document& document, const ReferenceComparison& compared, const ComparedCase& one)
        : m_document(document), m_compared(compared), m_case(one), m_prefix(prefixOf(one)),
          m_keys(compared.values.keys.begin(), compared.values.keys.end()) {}

    KeyOfNode byNode() const {
        KeyOfNode keyOf;
        for (const ComparedValue& value : m_case.values)
            if (isWhole(value)) keyOf.try_emplace(value.node, keyFor(value));
        return keyOf;
    }

    std::map<NodeId, analysis::ReferenceContradiction> contradictions(const analysis::Tolerances& tolerances) const {
        const std::vector<NodeId> sources = exec::valueSources(*m_document.graph);
        std::map<NodeId, Keys> keysOf;
        for (const NamedNode& input : m_document.inputs) {
            const std::string key = m_prefix + "in." + input.name;
            if (m_keys.contains(key)) keysOf[input.node].right.push_back(key);
        }
        for (const ComparedValue& value : m_case.values) {
            if (!isWhole(value)) continue;
            Keys& keys = keysOf[sources[value.node.index()]];
            (value.ok ? keys.right : keys.wrong).push_back(keyFor(value));
        }
        std::map<NodeId, analysis::ReferenceContradiction> found;
        for (const auto& [source, keys] : keysOf)
            if (auto one = contradictionIn(keys, tolerances)) found.emplace(source, std::move(*one));
        return found;
    }

  private:
    /// The keys of one value of the model: that agree with it, and that do not.
    struct Keys {
        std::vector<std::string> right, wrong;
    };

    std::string keyFor(const ComparedValue& value) const {
        return m_prefix + (value.isOutput ? "out." : "node.") + value.name;
    }

    /// Not of parts of values ("lstm.1.0"), of iterations ("z.pass2"), and of summaries.
    bool isWhole(const ComparedValue& value) const {
        if (!value.node.valid() || value.iteration || !m_keys.contains(keyFor(value))) return false;
        if (value.isOutput)
            return std::ranges::any_of(m_document.outputs, [&](const NamedNode& output) {
                return output.node == value.node && output.name == value.name;
            });
        const auto place = analysis::keyedValue(*m_document.graph, value.name);
        return place && place->node == value.node && place->pass.empty() && place->path.empty();
    }

    bool areSame(const std::string& one, const std::string& other, const analysis::Tolerances& tolerances) const {
        const auto a = m_compared.values.read(one), b = m_compared.values.read(other);
        if (!a || !b) return true;  // nothing is known of them
        return a->shape() == b->shape() && analysis::difference(*a, *b, tolerances.of(a->dtype(), b->dtype())).ok;
    }

    std::optional<analysis::ReferenceContradiction> contradictionIn(const Keys& keys,
                                                                    const analysis::Tolerances& tolerances) const {
        for (const std::string& wrong : keys.wrong) {
            for (const std::vector<std::string>& others : {keys.right, keys.wrong})
                for (const std::string& other : others)
                    if (other != wrong && !areSame(wrong, other, tolerances))
                        return analysis::ReferenceContradiction{wrong + " and " + other, !keys.right.empty()};
        }
        return std::nullopt;
    }

    const Document& m_document;
    const ReferenceComparison& m_compared;
    const ComparedCase& m_case;
    std::string m_prefix;
    std::unordered_set<std::string> m_keys;
};

Problem problemOfCase(const ComparedCase& compared) {
    Problem problem;
    problem.kind = analysis::ProblemKind::Shape;
    problem.message = compared.label + " of the reference does not fit the model: " + compared.error->what;
    problem.advice = compared.error->hint;
    return problem;
}

/// A value that is not ok is an error, whatever was found of where it comes from. What a failed run did not come to is
/// none: the failure is told for itself.
void ensureError(const Document& document, const ComparedCase& compared, std::vector<Problem>& problems) {
    if (std::ranges::count(problems, base::Severity::Error, &Problem::severity) > 0) return;
    const auto wrong = std::ranges::find_if(
        compared.values, [&](const ComparedValue& value) { return !value.ok && (value.hasValue || !compared.error); });
    if (wrong == compared.values.end()) return;
    const auto origin = std::ranges::find(problems, analysis::ProblemRole::Origin, &Problem::role);
    if (origin != problems.end()) {
        origin->severity = base::Severity::Error;
        return;
    }
    const std::string text = "it is the first that differs, and nothing that explains it was found";
    const auto known = std::ranges::find(problems, wrong->node, &Problem::node);
    if (known != problems.end()) {
        known->role = analysis::ProblemRole::Origin;
        known->severity = base::Severity::Error;
        known->message += "; " + text;
        return;
    }
    Problem problem;
    if (wrong->node.valid())
        problem = analysis::problemAt(*document.graph, wrong->node, analysis::ProblemKind::Divergence,
                                      analysis::ProblemRole::Origin);
    problem.kind = analysis::ProblemKind::Divergence;
    problem.message = (wrong->isOutput ? "out." : "node.") + wrong->name +
                      " of the reference: " + (wrong->note.empty() ? "the model has another value" : wrong->note) +
                      "; " + text;
    problems.push_back(std::move(problem));
}

/// An input with edits was given another value than the reference's.
base::Result<void> addEdits(analysis::ComparedRun& run, const analysis::RunEdits& edits,
                            const base::WorkContext& work) {
    run.edits = edits.values;
    if (!edits.values) return {};
    const std::vector<tensor::Value> before = run.inputs;
    const std::vector<NodeId>& nodes = run.graph->inputs();
    SONDE_ASSIGN(run.inputs, edits.edited(before, work));
    for (std::size_t i = 0; i < std::min(nodes.size(), before.size()); ++i)
        if (before[i].isTensor() && std::ranges::count(edits.values->inputs, nodes[i]) > 0)
            run.replaced.emplace(nodes[i], before[i].tensor());
    return {};
}

}  // namespace

base::Result<std::vector<Problem>> findDivergence(const Document& document, const ReferenceComparison& compared,
                                                  const analysis::Tolerances& tolerances, exec::Runner& runner,
                                                  const base::WorkContext& work) {
    const base::MappedFilesScope files;
    std::vector<std::pair<std::string, std::vector<Problem>>> cases;
    std::vector<Problem> unfit;
    for (const ComparedCase& one : compared.cases) {
        if (one.values.empty() && one.error && one.inputs.empty()) {
            unfit.push_back(problemOfCase(one));
            continue;
        }
        const analysis::RunDifferences differences = analysis::differencesOf(*document.graph, one);
        analysis::ComparedRun run{document.graph, differences, {}, one.inputs, {}, tolerances};
        SONDE_TRY(addEdits(run, compared.edits, work));
        const WholeValues whole(document, compared, one);
        if (!one.ok()) run.contradictions = whole.contradictions(tolerances);
        KeyOfNode keyOf;
        if (one.inputs.size() == document.graph->inputs().size()) {
            keyOf = whole.byNode();
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
        ensureError(document, one, problems);
        cases.emplace_back(one.label, std::move(problems));
    }
    std::vector<Problem> all = analysis::joinCases(*document.graph, std::move(cases));
    all.insert(all.begin(), unfit.begin(), unfit.end());
    SONDE_TRY(base::checkUnchanged(compared.files, "reference file"));
    return all;
}

}  // namespace sonde::document
