#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/measured_runs.h"
#include "core/analysis/problem.h"
#include "core/session/edits/edits.h"
#include "core/session/load_and_run/unoptimised.h"
#include "core/session/runs.h"

namespace sonde::session {

/// What a comparison found, and what it was made of.
struct ComparisonOutcome {
    std::shared_ptr<const analysis::RunDifferences> differences;
    std::optional<base::Error> error;                ///< why there are none
    std::vector<analysis::Problem> divergence = {};  ///< of all cases
    std::size_t caseCount = 1;                       ///< of a reference file
    std::size_t comparedInAll = 0;                   ///< of a reference file: values that were compared, of all cases
    std::size_t differingInAll = 0;                  ///< of them: those that differ
    std::string shownCase = {};                      ///< where one of several differs: "case1"
    std::string otherCases = {};      ///< what came of the others: "case 0 agrees, seq differs (out.y: frame 62)"
    std::string differingCases = {};  ///< of the others, for the summary: "seq differs", "2 of 3 other cases differ"
    base::MappedFiles files;          ///< of the reference
    std::string path = {};            ///< of the file that it was compared with, as given; empty: with no file
    std::optional<InputSpec> inputs;  ///< where the run's inputs come from, if they are not the session's
    std::vector<tensor::Value> inputValues;  ///< before edits
    std::size_t edits = 0;                   ///< that the run has
    std::size_t editsNumber = 0;             ///< Edits::number() of them
    bool isRepeated = false;                 ///< it was made again by itself
};

/// How far the values of the last run are from others: those of a reference file, of a run that was kept as the
/// baseline, of the model before its passes, or of another model. A comparison is a run of its own: the inputs that it
/// is made on become the session's inputs, and the model is run on them. When anything changes after that (inputs, a
/// further run, edits, the file of the reference) it is stale until it was made again; of another model there is none.
///
/// With edits that are switched on, what is compared is the run with them, as the debugger does it: what a reference
/// holds stays as it is, another model gets the inputs after edits. See Session for threads.
class Comparison {
  public:
    Comparison(Executor& executor, Observer& observer, Inputs& inputs, Runs& runs, const Edits& edits)
        : m_executor(executor), m_observer(observer), m_inputSource(inputs), m_runs(runs), m_edits(edits) {}

    // --- what is known -----------------------------------------------------------------------------------------------
    bool isKnown() const { return m_known != nullptr; }
    /// Known, but of another run than the last one; see staleReason().
    bool isStale() const { return isKnown() && !staleReason().empty(); }
    const std::string& staleReason() const { return m_lastingReason.empty() ? m_runReason : m_lastingReason; }
    /// Why the last one was not made.
    const std::optional<base::Error>& error() const { return m_error; }
    /// A comparison is being made, or waits for a run.
    bool isActive() const { return m_executor.isActive(Activity::Compare) || m_afterRun != nullptr; }
    /// With what: "resnet18.npz", "the baseline"; empty if nothing is known.
    const std::string& title() const { return m_title; }
    /// How many edits the run has that was compared; 0: it is the plain one.
    std::size_t editCount() const { return m_known ? m_editCount : 0; }
    /// With which values: title(), or "case1 of resnet18.npz" where the file has several cases and not
    /// all agree.
    std::string referenceText() const;
    /// "3 of 40 values differ from resnet18.npz"; of a file with several cases also whether others than the one that is
    /// shown differ: "…; seq differs". Where all agree, of all: "6 values in 3 cases agree with resnet18.npz". What
    /// came of the last comparison, stale or not. Only if it is known.
    std::string summary() const;
    /// What the summary does not count: "1 reference value has no counterpart in the model: node.zzz"; what came of the
    /// other cases of the file; empty if there is nothing. See analysis::remarksOn().
    std::string remarks() const;
    /// Of a node in the last run; null if it was not compared, or the comparison is stale.
    const analysis::NodeDifference* of(graph::NodeId node) const { return isStale() ? nullptr : lastOf(node); }
    /// The same of the last comparison, stale or not.
    const analysis::NodeDifference* lastOf(graph::NodeId node) const;
    std::size_t compared() const { return m_known ? m_known->compared : 0; }
    std::size_t differing() const { return m_known ? m_known->differing : 0; }
    /// Of a reference file the values of all cases, each counted as the file has it.
    std::size_t comparedInAll() const { return m_cases.compared > 0 ? m_cases.compared : compared(); }
    graph::NodeId firstDiverging() const { return m_known ? m_known->firstDiverging : graph::NodeId(); }
    /// Nodes above the tolerance in order of execution.
    const std::vector<graph::NodeId>& diverging() const;
    /// The same, the worst first: by the absolute difference, infinite ones before all.
    std::vector<graph::NodeId> worstFirst() const;
    /// Inputs of the model whose values are not those of the other run: differences may come from there.
    const std::vector<graph::NodeId>& differingInputs() const;
    /// Everything that differs from a reference file as problems, of all its cases: origins first. Before them, inputs
    /// that were given when the comparison began and that are not those of the reference. Empty if it is stale, and of
    /// comparisons with other runs, whose differences may be meant.
    const std::vector<analysis::Problem>& divergence() const;
    /// What the reference was read from: to be watched, with checkFiles() after any change.
    const base::MappedFiles& files() const { return m_files; }

    // --- tolerances --------------------------------------------------------------------------------------------------
    const analysis::Tolerances& tolerances() const { return m_tolerances; }
    /// A comparison that is not stale is made again at once, and so is one with the baseline, a model or its passes;
    /// another one stays stale. False: they were these.
    bool setTolerances(const analysis::Tolerances& tolerances);
    /// Whether they are those that every model begins with.
    bool hasDefaultTolerances() const;
    /// In place of those there are; tells nobody.
    void restoreTolerances(const analysis::Tolerances& tolerances) { m_tolerances = tolerances; }

    // --- comparing: work for the executor ----------------------------------------------------------------------------
    /// Keeps the model and the last run's inputs (before one: the present ones), to be compared with later. What was
    /// told of it; empty without a document.
    std::string setBaseline();
    bool hasBaseline() const { return m_baseline.graph != nullptr; }
    void withBaseline();
    /// With the graph before OpenOptions::passes, if there were any.
    void withBeforePasses();
    /// Of a dump: with its graph in plain form; see unoptimisedRun().
    void withUnoptimised(const PlainFormMaker& form);
    /// An .npz with reference values, whose inputs become the session's, or another model, which gets the present
    /// inputs. Every case of the .npz is compared; the first that differs is shown, and remarks() says which
    /// that is and what came of the others.
    void withFile(const std::string& path);
    /// Whether edits count, for comparisons that begin from now on. True by default.
    void setCountsEdits(bool counts) { m_countsEdits = counts; }
    /// Whether it is made again by itself when edits change, if the last run had the present inputs. If not, and by
    /// default, it is stale then.
    void setFollowsEdits(bool follows) { m_followsEdits = follows; }
    /// Makes the last comparison again; after reloading the model, the one before that. Nothing if there was none.
    void again();
    bool canRepeat() const { return m_again != nullptr; }
    void clear();
    /// Files that the model was compared with, the last one first: absolute, or "zoo:NAME".
    const std::vector<std::string>& references() const { return m_references; }
    /// In place of those there are; tells nobody. `canRepeat`: again() compares with the first.
    void restoreReferences(std::vector<std::string> files, bool canRepeat);
    /// What goes on ends as soon as possible, without differences.
    void cancel();
    /// The same from any thread.
    void stop() { m_stop.stop(); }

    /// Looks at the disk: values of a file that has changed are stale.
    void checkFiles();

    // --- by the session: what has happened ---------------------------------------------------------------------------
    void bind(std::shared_ptr<const document::Document> document, std::shared_ptr<const document::Document> whole);
    void documentLeft();
    void inputsChanged();
    void editsChanged();
    void runStarted() { makeStale("the model was run again"); }
    void runFinished();

  private:
    using Work = std::function<ComparisonOutcome(const base::WorkContext&)>;
    using OtherRun = std::function<base::Result<analysis::MeasuredRun>(const analysis::MeasuredRun& actual,
                                                                       const base::WorkContext& work)>;

    std::string comparedText() const;
    void tellStarted();
    void withModel(const std::string& path);
    void withReference(const std::string& path);
    /// Compares the last run with the one that `other` makes for its inputs. `path`: of the file that is from, if any;
    /// its files are watched.
    void compareWith(const std::string& title, OtherRun other, const std::string& path = {});
    /// Calls `then` with a run on the present inputs: the last one, or a new one.
    void whenRun(std::function<void()> then);
    void repeat();
    bool hasPresentRun() const;
    analysis::RunEdits countedEdits() const;
    void begin(const std::string& title, Work work);
    void take(ComparisonOutcome outcome);
    void adoptInputs(ComparisonOutcome outcome);
    void publish(ComparisonOutcome outcome);
    std::vector<InputSpec> specs() const;
    std::vector<std::pair<graph::NodeId, tensor::Tensor>> givenInputs(const std::string& path) const;
    void noteReference(const std::string& path);
    void makeStale(const std::string& reason);
    void makeStaleForGood(const std::string& reason);

    Executor& m_executor;
    Observer& m_observer;
    Inputs& m_inputSource;
    Runs& m_runs;
    const Edits& m_edits;
    StopSwitch m_stop;
    std::shared_ptr<const document::Document> m_document, m_whole;
    std::string m_title, m_wantedTitle;
    std::string m_shownCase, m_otherCases, m_differingCases;
    struct Cases {
        std::size_t count = 0, compared = 0, differing = 0;
    } m_cases;                    ///< all those of the reference file
    std::string m_runReason;      ///< why it is stale, until the model is run on the same inputs again
    std::string m_lastingReason;  ///< the same, until it is made again
    base::MappedFiles m_files;    ///< of the reference
    std::string m_leftModel;      ///< of what m_again was, when it was closed or reloaded
    std::string m_leftFile;       ///< the same of m_references, which are of the whole file
    std::vector<std::string> m_references;
    std::shared_ptr<const analysis::RunDifferences> m_known;
    std::vector<analysis::Problem> m_divergence;
    std::vector<tensor::Value> m_inputs;  ///< that it was made on
    std::vector<InputSpec> m_specs;       ///< what the session's inputs were then
    analysis::MeasuredRun m_baseline;
    analysis::Tolerances m_tolerances;
    std::optional<base::Error> m_error;
    std::function<void()> m_again;  ///< the same comparison once more
    std::size_t m_editCount = 0;
    bool m_countsEdits = true, m_followsEdits = false;
    bool m_isRepeating = false;        ///< it is made again by itself
    bool m_followsRuns = false;        ///< whether it can be made of a run on any inputs
    bool m_isStarting = false;         ///< observers are told of it
    std::function<void()> m_afterRun;  ///< waits for a run
};

}  // namespace sonde::session
