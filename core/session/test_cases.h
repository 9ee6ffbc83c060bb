#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/session/comparison.h"
#include "core/session/load_and_run/load_and_run.h"

namespace sonde::session {

/// The test cases in the file of a dump: runs all of them, and shows one. See Session for threads.
class TestCases {
  public:
    TestCases(Executor& executor, Observer& observer, Runs& runs, Comparison& comparison)
        : m_executor(executor), m_observer(observer), m_runs(runs), m_comparison(comparison) {}

    /// In the file of the document; 0 if it is no dump.
    std::size_t count() const;
    bool isActive() const { return m_executor.isActive(Activity::TestCases); }
    /// What the last run() gave, a result for each case; empty before.
    const std::vector<CaseResult>& results() const { return m_results; }
    /// "1 of 4 outputs of 2 test cases differs from the expected value"; empty without results.
    std::string summary() const;
    /// The case whose inputs the session was given; none before.
    std::optional<std::size_t> shown() const { return m_shown; }

    /// Runs each case once and checks its outputs: testCasesChanged(). Then shows the first case that fails, else the
    /// first. Work for the executor. Without test cases failed(), which tells how to get them.
    void run(const PlainFormMaker& form);
    /// The inputs of a case become the session's, the model is run on them, and its values are compared with those of
    /// the unoptimised graph. Only with results.
    void show(std::size_t index, const PlainFormMaker& form);
    void cancel() { m_stop.stop(); }
    /// The same from any thread.
    void stop() { m_stop.stop(); }

    /// By the session: another document, or none; what was found goes.
    void bind(std::shared_ptr<const document::Document> document);
    /// By the session: the file has changed.
    void forget();

  private:
    struct Outcome {
        base::Result<LoadAndRunResult> result;
        std::vector<std::vector<tensor::Value>> inputs;  ///< by case, in the order of the document's inputs
    };
    static Outcome outcomeOf(const LoadAndRunTask& task, const base::WorkContext& work);
    void take(Outcome outcome, const PlainFormMaker& form);
    void tell() const;

    Executor& m_executor;
    Observer& m_observer;
    Runs& m_runs;
    Comparison& m_comparison;
    StopSwitch m_stop;
    std::shared_ptr<const document::Document> m_document;
    std::vector<CaseResult> m_results;
    std::vector<std::vector<tensor::Value>> m_inputs;
    std::optional<std::size_t> m_shown;
};

}  // namespace sonde::session
