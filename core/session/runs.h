#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/document/document.h"
#include "core/session/inputs.h"
#include "core/session/points.h"
#include "core/session/run.h"

namespace sonde::session {

/// Runs the document as far as the points need, on the inputs that are given, and keeps what the last run left. What is
/// to be read for the inputs is read first. See Session for threads.
class Runs {
  public:
    Runs(Executor& executor, Observer& observer, Inputs& inputs, const Points& points, Problems& problems)
        : m_executor(executor), m_observer(observer), m_inputs(inputs), m_points(points), m_problems(problems) {}

    RunState state() const { return m_state; }
    bool isRunning() const { return m_state == RunState::Running; }
    /// What the last run left; stays until the next one has ended. Before the first: nothing.
    const Run& last() const { return m_last; }
    /// Of the run that goes on; all zero when there is none, or it is not observed.
    RunProgress progress() const { return m_live ? m_live->progress() : RunProgress(); }
    /// Why the last run did not begin: what was given cannot be read or contradicts the model. Empty again, and state()
    /// NotRun, once that is no longer what is given.
    const std::optional<base::Error>& refusal() const { return m_refusal; }
    /// The document's graph, after an observed run with the types that its inputs gave. Null without a document.
    const std::shared_ptr<const graph::InternalGraph>& graph() const;
    /// Why the last run's values are not those of the present inputs: "the inputs were changed", "x.npz changed on
    /// disk". Empty if they are, and while there is no run.
    std::string staleReason() const;

    /// Of the run that goes on, else of the last one.
    exec::ExprState exprState(graph::ExprId expr) const;
    /// Why an operation failed in the last run: it, or one inside of it. Null if it did not, and while a run goes on.
    const exec::Failure* failure(graph::ExprId expr) const;
    /// Whether a body is a branch that the last run took, at least once.
    bool wasTaken(graph::BodyId body) const;
    /// Whether the node was computed in the last run. True for everything before the first run.
    bool wasReached(graph::NodeId node) const;

    const RunSettings& settings() const { return m_settings; }
    /// Counts from the next run on.
    void setSettings(const RunSettings& settings);
    /// Nodes whose values come with each run although they are no watch points: what a user looks at.
    void setLookedAt(std::vector<graph::NodeId> nodes) { m_lookedAt = std::move(nodes); }
    const WatchPolicy& policy() const { return m_policy; }
    /// What is kept of watched values, from the next run on. Limits are kept within those of WatchPolicy.
    void setPolicy(const WatchPolicy& policy);
    /// What was kept of the last run's watched values besides the recording: the count of those that did not fit.
    /// Operands are gone once they were used.
    const WatchedValues& watchedValues() const { return m_watched; }
    /// Null if the last run has no summary of the node: it is not watched, or kept whole, or was not computed.
    const WatchSummary* summary(graph::NodeId node) const;
    /// Nodes whose values expression watches need, after each run, without being watched.
    void setOperands(std::vector<graph::NodeId> nodes) { m_operands = std::move(nodes); }
    /// Of the last run, once.
    std::unordered_map<graph::NodeId, tensor::Value> takeOperands();

    /// Live: whenever inputs change, the model is run.
    bool isLive() const { return m_isLive; }
    void setLive(bool live);

    /// Runs as far as watch and end points need; a run that goes on is superseded. Work for the executor.
    void run();
    /// Runs until the node is computed, once, without setting an end point.
    void runTo(graph::NodeId node);
    /// At once while inputs are read; else as soon as the operation that goes on is done. What was computed is kept.
    void cancel();
    /// The same from any other thread, as soon as the session's thread gets to it.
    void stop() { m_stop.stop(); }

    /// Inputs::set(), after which the value is read or, live, the model run.
    base::Result<void> give(std::string_view input, const InputSpec& spec);
    /// The same for a comparison: see Inputs::lend().
    base::Result<void> lend(std::string_view input, const InputSpec& spec);
    /// A file for the model as a whole: an archive for all inputs that it has arrays for, another one for the first.
    void giveFile(const std::string& path);
    /// Inputs::setValues(), after which the model is run if it is live.
    void giveValues(const std::vector<tensor::Value>& values);

    /// Whether a file of the document is no longer what was opened: there are no values until it is opened again.
    bool fileHasChanged() const;
    /// Why there are no values any more: a file changed, or can no longer be read. Empty if that is not known.
    const std::optional<base::Error>& fileError() const { return m_fileError; }
    /// Looks at the disk; false if a file has changed. To be asked after reading a value and before showing it. The
    /// first time that one has, every value goes and fileChanged() tells.
    bool checkFiles();

    /// By the session.
    void bind(std::shared_ptr<const document::Document> document);
    void inputsWereRead();
    void inputsWereChanged();

  private:
    void begin(exec::PlanOptions points);
    void readOrRun();
    void startIfGiven();
    std::vector<graph::NodeId> neededInputs() const;
    void startRun();
    void finish(RunResult result);
    void fail(base::Error error);
    base::Error changedFile() const;
    WatchKeeper::Nodes keptNodes() const;
    std::shared_ptr<const exec::Plan> planFor(const exec::PlanOptions& points) const;
    bool isProven() const;

    Executor& m_executor;
    Observer& m_observer;
    Inputs& m_inputs;
    const Points& m_points;
    Problems& m_problems;
    std::shared_ptr<const document::Document> m_document;
    std::shared_ptr<exec::Runner> m_runner;  ///< used by runs alone
    RunSettings m_settings;
    std::vector<graph::NodeId> m_lookedAt, m_operands;
    WatchPolicy m_policy;
    WatchedValues m_watched;  ///< of the last run
    bool m_isLive = false;

    StopSwitch m_stop;  ///< of the run that goes on, and of reading its inputs
    RunState m_state = RunState::NotRun;
    exec::PlanOptions m_wanted;       ///< what to run once the inputs are read
    bool m_isWaiting = false;         ///< for the inputs
    std::uint64_t m_number = 0;       ///< of the run; another one may begin while somebody is told of this one
    std::shared_ptr<LiveRun> m_live;  ///< of the run that goes on
    Run m_last;
    RunTypes m_types;
    std::optional<std::vector<tensor::TypeInfo>> m_proven;  ///< inputs for which the model's own code gave the same
    std::optional<base::Error> m_refusal;
    std::optional<base::Error> m_fileError;  ///< why there are no values any more
};

}  // namespace sonde::session
