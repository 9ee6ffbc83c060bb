// The part of Comparison that makes one.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <utility>

#include "core/analysis/divergence.h"
#include "core/analysis/relation.h"
#include "core/document/reference.h"
#include "core/graph/source_files.h"
#include "core/ort/work_folder.h"
#include "core/session/comparison.h"
#include "core/session/edits/edit_count.h"
#include "core/session/edits/run_edits.h"
#include "core/tensor/mapped_source.h"

namespace sonde::session {

using analysis::MeasuredRun;
using analysis::RunDifferences;

namespace {

ComparisonOutcome failed(base::Error error) {
    ComparisonOutcome outcome;
    outcome.error = std::move(error);
    return outcome;
}

std::string fileNameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }

bool isReference(const std::string& path) {
    std::string suffix = std::filesystem::path(path).extension().string();
    std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return std::tolower(c); });
    return suffix == ".npz";
}

/// What a case says of its values. What a failed run did not come to is no difference: the failure says it.
struct CaseCounts {
    std::size_t compared = 0, differing = 0;
    const analysis::ComparedValue* first = nullptr;  ///< of those that differ

    explicit CaseCounts(const analysis::ComparedCase& one) {
        for (const analysis::ComparedValue& value : one.values) {
            if (one.error && !value.hasValue) continue;
            ++compared;
            if (value.ok) continue;
            ++differing;
            if (!first) first = &value;
        }
    }
};

/// "case1 differs (1 of 2 values, first out.y)", "case 0 agrees", "case2 failed: …".
std::string resultText(const analysis::ComparedCase& one) {
    const CaseCounts counts(one);
    std::string text = one.label;
    if (one.error) text += " failed: " + one.error->what;
    if (!counts.first) return one.error ? text : text + " agrees";
    return text + (one.error ? " (" : " differs (") + std::to_string(counts.differing) + " of " +
           std::to_string(counts.compared) + (counts.compared == 1 ? " value" : " values") +
           (one.error ? counts.differing == 1 ? " before that differs" : " before that differ" : "") + ", first " +
           (counts.first->isOutput ? "out." : "") + counts.first->name +
           (counts.first->note.empty() ? "" : ": " + counts.first->note) + ")";
}

/// The cases but one, those that differ first.
std::string otherCasesText(const std::vector<analysis::ComparedCase>& cases, const analysis::ComparedCase* shown) {
    constexpr std::size_t kMaxListed = 3;
    std::vector<const analysis::ComparedCase*> others;
    for (const analysis::ComparedCase& one : cases)
        if (&one != shown) others.push_back(&one);
    const auto agreeing =
        std::stable_partition(others.begin(), others.end(), [](const auto* one) { return !one->ok(); });
    const auto wrong = static_cast<std::size_t>(agreeing - others.begin());
    std::string text;
    for (std::size_t i = 0; i < others.size() && i < kMaxListed; ++i)
        text += (i > 0 ? ", " : "") + resultText(*others[i]);
    if (others.size() <= kMaxListed) return text;
    text += " and " + std::to_string(others.size() - kMaxListed) + " more";
    return wrong <= kMaxListed ? text : text + ", of which " + std::to_string(wrong - kMaxListed) + " differ";
}

/// Of all cases but one: "seq differs", "case2 failed", "2 of 3 other cases differ"; empty if none does.
std::string differingCasesText(const std::vector<analysis::ComparedCase>& cases, const analysis::ComparedCase* shown) {
    const analysis::ComparedCase* found = nullptr;
    std::size_t count = 0;
    for (const analysis::ComparedCase& one : cases) {
        if (&one == shown || one.ok()) continue;
        found = &one;
        ++count;
    }
    if (count == 0) return {};
    if (count == 1) return found->label + (found->error ? " failed" : " differs");
    return std::to_string(count) + " of " + std::to_string(cases.size() - 1) + " other cases differ";
}

/// The run that is shown is that of one case: the first that differs. A sequence has many runs, none of which can be
/// shown.
ComparisonOutcome outcomeOf(document::ReferenceComparison compared, const document::Document& document,
                            const std::string& path) {
    std::vector<analysis::ComparedCase>& cases = compared.cases;
    analysis::ComparedCase* shown = nullptr;
    for (analysis::ComparedCase& one : cases) {
        if (one.inputs.size() != document.graph->inputs().size()) continue;
        if (!shown || (shown->ok() && !one.ok())) shown = &one;
    }
    if (!shown)
        return failed(base::usageError("the file has only a sequence; a comparison takes a single run", path,
                                       otherCasesText(cases, nullptr) + "; `sonde check` lists its values"));
    ComparisonOutcome outcome;
    outcome.differences = std::make_shared<const RunDifferences>(analysis::differencesOf(*document.graph, *shown));
    outcome.caseCount = cases.size();
    for (const analysis::ComparedCase& one : cases) {
        const CaseCounts counts(one);
        outcome.comparedInAll += counts.compared;
        outcome.differingInAll += counts.differing;
    }
    outcome.differingCases = differingCasesText(cases, shown);
    if (cases.size() > 1 && (!outcome.differingCases.empty() || !shown->ok())) {
        outcome.shownCase = shown->label;
        outcome.otherCases = otherCasesText(cases, shown);
    }
    outcome.files = std::move(compared.files);
    outcome.inputs = InputSpec{shown->label == "case 0" ? path : path + "#" + shown->label, {}};
    outcome.inputValues = std::move(shown->inputs);
    return outcome;
}

/// Inputs that are not those of any case. The model is run on the reference's: what is wrong with these would not be
/// seen in its values. Another input may be meant; one that only is normalised in another way is not.
std::vector<analysis::Problem> divergenceOfGiven(const graph::InternalGraph& graph,
                                                 const std::vector<std::pair<graph::NodeId, tensor::Tensor>>& given,
                                                 const std::vector<analysis::ComparedCase>& cases,
                                                 const analysis::Tolerances& tolerances) {
    std::vector<analysis::Problem> problems;
    for (const auto& [node, value] : given) {
        const auto at = static_cast<std::size_t>(std::ranges::find(graph.inputs(), node) - graph.inputs().begin());
        std::optional<analysis::Problem> found;
        bool isSame = false;
        for (const analysis::ComparedCase& one : cases) {
            if (at >= one.inputs.size() || !one.inputs[at].isTensor()) continue;
            const tensor::Tensor& reference = one.inputs[at].tensor();
            auto problem = analysis::inputDivergence(graph, node, value, reference, tolerances);
            isSame = isSame || !problem;
            if (!problem) break;
            if (!analysis::relationOf(value, reference)) problem->severity = base::Severity::Warning;
            if (!found || found->severity < problem->severity) found = std::move(problem);
        }
        if (!isSame && found) problems.push_back(std::move(*found));
    }
    return problems;
}

/// A baseline is computed again to be compared with: on the model and the input files that it was of.
base::Result<void> checkBaseline(const MeasuredRun& baseline) {
    const auto refused = [](const std::string& what, const std::string& where) {
        return base::unreadable("the baseline is of " + what + " before it changed on disk", where,
                                "Set the baseline again");
    };
    if (const auto unchanged = graph::checkFiles(baseline.graph); !unchanged)
        return refused("the model file", unchanged.error().where);
    for (const tensor::Value& input : baseline.inputs)
        if (const auto changed = tensor::sourceError(input, "input file"))
            return refused("the input file", changed->where);
    return {};
}

}  // namespace

std::string Comparison::setBaseline() {
    if (!m_document) return {};
    const bool isOfRun = m_runs.last().recording != nullptr;
    m_baseline = {m_document->graph, isOfRun ? m_runs.last().inputs : m_inputSource.values()};
    Notice notice{base::Severity::Info, "Baseline set to this run", {}, {}, {}};
    if (!isOfRun) {
        notice.what = "Baseline set to the present inputs";
    } else if (m_runs.state() == RunState::Failed || m_runs.state() == RunState::Cancelled) {
        notice.severity = base::Severity::Warning;
        const bool isFailed = m_runs.state() == RunState::Failed;
        notice.what = isFailed ? "Baseline set to a run that failed" : "Baseline set to a run that was cancelled";
        notice.hint = "Only values that it computed before that can be compared with it";
        if (!isFailed) notice.hint = "It is run to its end when it is compared with";
    }
    if (const std::size_t edits = countingEdits(m_edits); edits > 0)
        notice.what += " (without the " + editCountText(edits) + ")";
    const std::string text = notice.what + (notice.hint.empty() ? "" : ": " + notice.hint);
    m_observer.told(notice);
    m_observer.comparisonChanged();
    return text;
}

/// Before anything is taken, whatever began the comparison.
void Comparison::tellStarted() {
    if (m_isRepeating) return;  // what is typed is not meant for it
    const bool was = std::exchange(m_isStarting, true);
    m_observer.comparisonStarted();
    m_isStarting = was;
}

void Comparison::withBaseline() {
    tellStarted();
    if (!hasBaseline()) return;
    m_again = [this] { withBaseline(); };
    compareWith("the baseline",
                [baseline = m_baseline](const MeasuredRun&, const base::WorkContext&) -> base::Result<MeasuredRun> {
                    SONDE_TRY(checkBaseline(baseline));
                    return baseline;
                });
}

void Comparison::withBeforePasses() {
    tellStarted();
    if (!m_whole || !m_whole->original) return;
    m_again = [this] { withBeforePasses(); };
    compareWith("the model before passes",
                [original = m_whole->original](const MeasuredRun& actual, const base::WorkContext&) {
                    return base::Result<MeasuredRun>(MeasuredRun{original, inputsFor(*original, actual)});
                });
}

void Comparison::withFile(const std::string& path) {
    tellStarted();
    if (!m_document) return;
    m_again = [this, path] { withFile(path); };
    isReference(path) ? withReference(path) : withModel(path);
}

namespace {

/// The model that is compared with: not opened again for every edit, while its files are the same, nor run again while
/// its inputs are. Used by the works of comparisons, of which one may go on that was given up.
struct KeptModel {
    std::mutex mutex;
    std::shared_ptr<const document::Document> document;
    std::shared_ptr<analysis::KeptRun> run = std::make_shared<analysis::KeptRun>();

    base::Result<std::shared_ptr<const document::Document>> at(const std::string& path, const base::WorkContext& work) {
        const std::scoped_lock lock(mutex);
        const bool isWatched = document && (path.starts_with("zoo:") || !graph::filesOf(document->graph).empty());
        if (isWatched && graph::checkFiles(document->graph)) return document;
        document.reset();
        SONDE_ASSIGN(document, document::open(path, {}, work));
        return document;
    }
};

}  // namespace

void Comparison::withModel(const std::string& path) {
    const auto opened = [path, kept = std::make_shared<KeptModel>()](
                            const MeasuredRun& actual, const base::WorkContext& work) -> base::Result<MeasuredRun> {
        SONDE_ASSIGN(const auto other, kept->at(path, work));
        return MeasuredRun{other->graph, inputsFor(*other->graph, actual), {}, kept->run};
    };
    m_again = [this, path, opened] {
        tellStarted();
        compareWith(fileNameOf(path), opened, path);
    };
    compareWith(fileNameOf(path), opened, path);
}

/// Values that the user chose for inputs: neither random nor the reference's own.
std::vector<std::pair<graph::NodeId, tensor::Tensor>> Comparison::givenInputs(const std::string& path) const {
    std::vector<std::pair<graph::NodeId, tensor::Tensor>> given;
    for (const Input& input : m_inputSource.all()) {
        const std::string& source = input.spec.source;
        const bool isChosen = !input.isDefault && !source.empty() && !source.starts_with("#");
        if (!isChosen || source.starts_with(path) || !input.value || !input.value->isTensor()) continue;
        given.emplace_back(input.node, input.value->tensor());
    }
    return given;
}

void Comparison::withReference(const std::string& path) {
    m_followsRuns = false;
    // Values of another engine are in a file that goes again: what it is named after tells more.
    const std::string title =
        ort::WorkFolder::holds(path) ? std::filesystem::path(path).stem().string() : fileNameOf(path);
    begin(title, [document = m_document, path, tolerances = m_tolerances, given = givenInputs(path),
                  edits = countedEdits(), threads = m_runs.settings().threads](const base::WorkContext& work) {
        exec::Runner runner(threads);
        auto compared = document::compareWithReference(*document, path, tolerances, runner, {}, work, edits);
        if (!compared) return failed(std::move(compared).error());
        auto divergence = document::findDivergence(*document, *compared, tolerances, runner, work);
        if (!divergence) return failed(std::move(divergence).error());
        const std::vector<analysis::ComparedCase> cases = compared->cases;
        ComparisonOutcome outcome = outcomeOf(std::move(*compared), *document, path);
        outcome.path = path;
        outcome.divergence = divergenceOfGiven(*document->graph, given, cases, tolerances);
        std::ranges::move(*divergence, std::back_inserter(outcome.divergence));
        return outcome;
    });
}

void Comparison::compareWith(const std::string& title, OtherRun other, const std::string& path) {
    if (!m_document) return;
    m_followsRuns = true;
    whenRun([this, title, other = std::move(other), path] {
        begin(title, [graph = m_document->graph, given = m_runs.last().inputs, other, path, edits = countedEdits(),
                      tolerances = m_tolerances, threads = m_runs.settings().threads](const base::WorkContext& work) {
            auto inputs = edits.edited(given, work);
            if (!inputs) return failed(std::move(inputs).error());
            const MeasuredRun actual{graph, std::move(*inputs), edits.values};
            const auto reference = other(actual, work);
            if (!reference) return failed(reference.error());
            exec::Runner runner(threads);
            auto found = analysis::compareRuns(actual, *reference, tolerances, runner, work);
            if (!found) return failed(std::move(found).error());
            ComparisonOutcome outcome;
            outcome.differences = std::make_shared<const RunDifferences>(std::move(*found));
            if (!path.empty()) outcome.files = graph::filesOf(reference->graph);
            outcome.path = path;
            outcome.inputValues = given;
            return outcome;
        });
    });
}

analysis::RunEdits Comparison::countedEdits() const {
    return m_countsEdits ? runEditsOf(m_edits) : analysis::RunEdits();
}

/// The last run was to its end, or failed, on the present inputs.
bool Comparison::hasPresentRun() const {
    return !m_runs.isRunning() && m_runs.last().recording && m_runs.state() != RunState::Cancelled &&
           m_runs.staleReason().empty();
}

void Comparison::whenRun(std::function<void()> then) {
    if (hasPresentRun()) return then();
    m_executor.abandon(Activity::Compare);
    m_afterRun = std::move(then);
    if (!m_runs.isRunning()) m_runs.run();
}

void Comparison::begin(const std::string& title, Work work) {
    m_wantedTitle = title;
    m_error.reset();
    m_stop.renew();
    start(m_executor, Activity::Compare, m_stop.token(), std::move(work),
          [this, edits = m_countsEdits ? countingEdits(m_edits) : 0, number = m_edits.number(),
           isRepeated = m_isRepeating](ComparisonOutcome outcome) {
              outcome.edits = edits;
              outcome.editsNumber = number;
              outcome.isRepeated = isRepeated;
              take(std::move(outcome));
          });
    m_observer.comparisonChanged();
}

void Comparison::take(ComparisonOutcome outcome) {
    if (!outcome.error) return outcome.inputs ? adoptInputs(std::move(outcome)) : publish(std::move(outcome));
    m_error = outcome.error;
    // What is known is of an earlier comparison, and stands below this error.
    if (outcome.error->kind != base::ErrorKind::Cancelled) {
        m_observer.failed(*outcome.error);
        makeStaleForGood("it could not be compared with " + m_wantedTitle + (m_wantedTitle == m_title ? " again" : ""));
    }
    m_observer.comparisonChanged();
}

/// The model's own inputs become those of the reference, and the run of them is what everybody sees. Another engine had
/// the model's own.
void Comparison::adoptInputs(ComparisonOutcome outcome) {
    const bool isOwn = ort::WorkFolder::holds(outcome.path) && same(m_inputSource.values(), outcome.inputValues);
    std::vector<std::string> names;
    for (const Input& input : m_inputSource.all())
        if (!isOwn && input.spec != *outcome.inputs) names.push_back(input.name);
    m_afterRun = nullptr;
    // What is looked at is a run with edits, or was one, which a plain one would end.
    if ((outcome.edits > 0 || outcome.isRepeated) && names.empty() && hasPresentRun() &&
        same(m_runs.last().inputs, outcome.inputValues))
        return publish(std::move(outcome));
    for (const std::string& name : names) {
        // One that the archive has filled meanwhile has it already.
        const Input* const input = m_inputSource.find(name);
        if (input && input->spec != *outcome.inputs) (void)m_runs.lend(name, *outcome.inputs);
    }
    m_afterRun = [this, outcome = std::move(outcome)] {
        if (same(m_runs.last().inputs, outcome.inputValues)) return publish(outcome);
        m_observer.told({base::Severity::Warning,
                         "Not compared with " + m_wantedTitle + ": the run and the reference have different inputs",
                         {},
                         {},
                         {}});
        makeStaleForGood("the run and " + m_wantedTitle + " have different inputs");
        m_observer.comparisonChanged();
    };
    m_runs.run();
}

void Comparison::publish(ComparisonOutcome outcome) {
    m_known = std::move(outcome.differences);
    m_divergence = std::move(outcome.divergence);
    m_inputs = std::move(outcome.inputValues);
    m_specs = specs();
    m_runReason.clear();
    m_lastingReason.clear();
    m_title = m_wantedTitle;
    m_shownCase = std::move(outcome.shownCase);
    m_otherCases = std::move(outcome.otherCases);
    m_differingCases = std::move(outcome.differingCases);
    m_editCount = outcome.edits;
    m_cases = {outcome.caseCount, outcome.comparedInAll, outcome.differingInAll};
    m_files = std::move(outcome.files);
    if (!outcome.path.empty()) noteReference(outcome.path);
    const std::string remarks = this->remarks();
    const bool isRemarkable = differing() > 0 || compared() == 0 || !m_differingCases.empty() ||
                              !analysis::remarksOn(*m_document->graph, *m_known).empty();
    Notice notice{isRemarkable ? base::Severity::Warning : base::Severity::Info,
                  summary() + (remarks.empty() ? "" : "; ") + remarks,
                  {},
                  {},
                  firstDiverging()};
    if (m_known->error) notice.severity = base::Severity::Warning;
    notice.isDifference = true;
    if (notice.node.valid() && differingInputs().empty())
        notice.where = "first: " + m_document->graph->node(notice.node).name;
    // That the run which is shown failed was told of that run. One with end points may not have come that far.
    const bool isNew = m_known->error && !m_known->isReferenceError && !m_runs.last().error;
    const auto error = m_known->error;
    m_observer.told(notice);
    if (isNew) m_observer.failed(*error);
    if (m_countsEdits && outcome.editsNumber != m_edits.number()) m_lastingReason = "the edits were changed";
    m_observer.comparisonChanged();
    if (m_lastingReason.empty() && !outcome.isRepeated) m_observer.comparisonMade();
    checkFiles();  // it may have changed since it was read
}

void Comparison::cancel() {
    m_afterRun = nullptr;
    m_stop.stop();
}

}  // namespace sonde::session
