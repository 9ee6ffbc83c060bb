#include "core/session/findings/find_findings.h"

#include <algorithm>

#include "core/analysis/findings/findings.h"
#include "core/exec/plan.h"
#include "core/exec/runner.h"
#include "core/graph/missing_data.h"
#include "core/graph/source_files.h"
#include "core/session/input_values.h"

namespace sonde::session {

using analysis::ObservedRun;
using graph::NodeId;
using tensor::Value;

namespace {

/// Of so many runs bad values are told: a fault shows in the first ones.
constexpr std::size_t kMaxRecordings = 16;

bool areSame(const std::vector<Value>& a, const std::vector<Value>& b) {
    return std::ranges::equal(a, b, [](const Value& x, const Value& y) { return tensor::identical(x, y); });
}

/// Runs of the cases, one after the other.
class CaseRuns {
  public:
    CaseRuns(const document::Document& document, const FindingRequest& request, std::vector<std::string>& notes)
        : m_document(document), m_request(request), m_notes(notes), m_runner(request.threads),
          m_run{analysis::ObservedValues(document.graph), {}, 0, 0, {}, request.acceptedValues} {}

    base::Result<void> run(const base::WorkContext& work) {
        SONDE_ASSIGN(m_plan, exec::Plan::make(m_document.graph, {}));
        for (std::size_t i = 0; i < m_request.cases.size(); ++i) {
            work.report("running the model", i, m_request.cases.size());
            SONDE_TRY(runOne(i, work));
        }
        if (!m_first.empty() || m_document.graph->inputs().empty())
            m_batch = analysis::runOnBatches(m_document.graph, m_first, m_runner, m_request.seed, m_withoutBatch,
                                             base::WorkContext{work.stop, {}});
        if (work.cancelled()) return base::cancelled("running the model");
        return {};
    }

    const ObservedRun* observed() const { return m_run.inputs > 0 ? &m_run : nullptr; }
    const analysis::BatchRun* batch() const { return m_batch ? &*m_batch : nullptr; }
    const std::string& withoutBatch() const { return m_withoutBatch; }  ///< why not; may be empty

  private:
    base::Result<void> runOne(std::size_t index, const base::WorkContext& work) {
        const std::vector<Value> inputs = inGraphOrder(m_document, m_request.cases[index]);
        for (std::size_t i = 0; i < inputs.size(); ++i) m_run.values.add(m_document.graph->inputs()[i], inputs[i]);
        exec::RunOptions options;
        options.seed = m_request.seed;
        options.observer = &m_run.values;
        options.keepsWatched = false;
        exec::Recording recording = m_runner.run(*m_plan, inputs, base::WorkContext{work.stop, {}}, options);
        if (work.cancelled()) return base::cancelled("running the model");
        if (recording.error) {
            if (recording.failures.empty()) return *recording.error;  // the inputs do not fit: nothing was run
            m_notes.push_back("the run failed, and values after that were not checked: " + recording.error->text());
        }
        noteOutputs(inputs, recording);
        // Only bad values are looked up in it later.
        recording.outputs.clear();
        const bool isKept = !recording.bad.empty() && m_run.recordings.size() < kMaxRecordings;
        if (isKept) m_run.recordings.push_back(std::move(recording));
        return {};
    }

    /// A run that failed gave no outputs to compare with those of others.
    void noteOutputs(const std::vector<Value>& inputs, const exec::Recording& recording) {
        const bool isOther = m_run.inputs == 0 || !areSame(inputs, m_first);
        if (isOther) ++m_run.inputs;
        if (m_run.complete == 0 && (isOther || !recording.error)) m_first = inputs;
        if (recording.error || (m_run.complete > 0 && !isOther)) return;
        if (++m_run.complete == 1) {
            m_outputs = recording.outputs;
            m_run.outputValues.assign(recording.outputs.size(), 1);
        }
        for (std::size_t i = 0; i < m_outputs.size() && i < recording.outputs.size(); ++i)
            if (!tensor::identical(m_outputs[i], recording.outputs[i])) m_run.outputValues[i] = 2;
    }

    const document::Document& m_document;
    const FindingRequest& m_request;
    std::vector<std::string>& m_notes;
    exec::Runner m_runner;
    std::shared_ptr<const exec::Plan> m_plan;
    ObservedRun m_run;
    std::vector<Value> m_first, m_outputs;  ///< of the first case that could be run
    std::optional<analysis::BatchRun> m_batch;
    std::string m_withoutBatch;
};

std::vector<analysis::FileText> textsOf(const document::Document& document, const FileFacts& facts) {
    std::vector<analysis::FileText> texts;
    if (!document.graph->name.empty()) texts.push_back({"the graph's name", document.graph->name, false});
    if (!facts.producer.empty()) texts.push_back({"the producer", facts.producer, false});
    for (const auto& [key, text] : facts.metadata) {
        texts.push_back({"a key of the metadata", key, false});
        texts.push_back({"metadata '" + key + "'", text, false});
    }
    for (const auto& [key, text] : facts.properties) texts.push_back({"property '" + key + "'", text, false});
    for (const auto& [where, text] : facts.docStrings) texts.push_back({"the doc string of " + where, text, true});
    return texts;
}

/// What could not be looked at for want of its data.
void noteMissing(FindingReport& report, const graph::MissingFiles& missing) {
    for (const graph::MissingFile& file : missing)
        report.notes.push_back("the data file '" + file.location + "' cannot be opened, so that the values of " +
                               file.tensorsText(3) + " were not checked");
}

/// What the inputs showed too little of to be judged.
void noteFew(FindingReport& report, const std::map<std::string, analysis::FewSamples>& tooFew) {
    for (const auto& [id, few] : tooFew) {
        std::vector<std::string> names;
        for (const NodeId node : few.nodes) names.push_back(report.graph->node(node).name);
        report.notes.push_back(id + " was not looked for in " + namedText(names) + ": " + few.why +
                               " in the run; more inputs, or a larger batch, tell more");
    }
}

/// Which of the acceptances cover nothing that is found.
void noteUnused(FindingReport& report, const std::vector<Acceptance>& acceptances) {
    for (const Acceptance& acceptance : acceptances) {
        const bool isUsed = std::ranges::any_of(report.findings, [&](const ReportedFinding& each) {
            return acceptance.covers(*report.graph, each.finding);
        });
        const bool isChecked = std::ranges::find(report.notChecked, acceptance.id) == report.notChecked.end();
        if (isUsed || !isChecked) continue;
        const std::string where =
            acceptance.nodes && !acceptance.nodes->empty() ? " of " + acceptance.nodes->front() : "";
        report.notes.push_back("accepted " + acceptance.id + where + " is not found any more");
    }
}

}  // namespace

void accept(FindingReport& report, const std::vector<Acceptance>& acceptances) {
    for (ReportedFinding& each : report.findings) {
        const auto found = std::ranges::find_if(
            acceptances, [&](const Acceptance& one) { return one.covers(*report.graph, each.finding); });
        each.accepted.reset();
        if (found != acceptances.end()) each.accepted = found->reason;
    }
}

std::vector<Acceptance> withoutGroup(const FindingReport& report, const FindingGroup& group,
                                     std::vector<Acceptance> acceptances) {
    const auto covers = [&](const Acceptance& one, std::size_t index) {
        return one.covers(*report.graph, report.findings[index].finding);
    };
    std::vector<Acceptance> kept;
    for (Acceptance& one : acceptances) {
        const bool isTouched = std::ranges::any_of(group.members, [&](std::size_t i) { return covers(one, i); });
        if (!isTouched) {
            kept.push_back(std::move(one));
            continue;
        }
        // What else it covers stays accepted, by its names.
        for (std::size_t i = 0; i < report.findings.size(); ++i)
            if (covers(one, i) && !std::ranges::binary_search(group.members, i))
                kept.push_back({one.id, analysis::namesOf(*report.graph, report.findings[i].finding), one.reason});
    }
    return kept;
}

base::Result<FindingReport> findFindings(const document::Document& document, const ModelInfo& info,
                                         const FindingRequest& request, const base::WorkContext& work) {
    FindingReport report{document.graph, {}, {}, {}, {}};
    CaseRuns runs(document, request, report.notes);
    const auto complete = graph::checkComplete(document.graph);
    if (!request.cases.empty() && complete) SONDE_TRY(runs.run(work));
    work.report("reading the weights");
    const std::vector<analysis::StoredWeight> weights = analysis::storedWeights(*document.graph, work);
    const std::vector<analysis::FileText> texts = textsOf(document, info.file);
    SONDE_TRY(graph::checkFiles(document.graph));
    work.report("looking for findings");
    analysis::FoundFindings found =
        analysis::findFindings({*document.graph, info.counts, weights, texts, info.file.opsets, info.file.defaults,
                                runs.observed(), runs.batch(), base::WorkContext{work.stop, {}}});
    if (work.cancelled()) return base::cancelled("looking for findings");
    for (analysis::Finding& finding : found.all) report.findings.push_back({std::move(finding), {}});
    report.leftOut = std::move(found.leftOut);
    for (const std::string_view id : found.notChecked) report.notChecked.emplace_back(id);
    noteFew(report, found.tooFew);
    noteMissing(report, graph::missingOf(document.graph));
    const std::string& why = complete ? request.withoutCases : complete.error().what;
    if (!runs.observed())
        report.notes.push_back("the model was not run, so that its values were not checked" +
                               (why.empty() ? std::string() : ": " + why));
    else if (!runs.withoutBatch().empty())
        report.notes.push_back("a batch of two was not compared with one sample: " + runs.withoutBatch());
    accept(report, request.acceptances);
    noteUnused(report, request.acceptances);
    return report;
}

}  // namespace sonde::session
