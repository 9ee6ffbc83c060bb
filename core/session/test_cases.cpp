#include "core/session/test_cases.h"

#include <algorithm>
#include <utility>

#include "core/base/count_text.h"
#include "core/document/test_cases.h"
#include "core/session/load_and_run/case_inputs.h"

namespace sonde::session {

namespace {

bool hasFailed(const CaseResult& result) {
    return result.error || !std::ranges::all_of(result.checks, &CheckedOutput::ok);
}

std::string countText(std::size_t count, const char* one, const char* several) {
    return base::countText(static_cast<std::int64_t>(count)) + ' ' + (count == 1 ? one : several);
}

}  // namespace

std::size_t TestCases::count() const { return m_document ? document::testCaseCount(*m_document) : 0; }

std::string TestCases::summary() const {
    if (m_results.empty()) return {};
    std::size_t outputs = 0, wrong = 0, failed = 0;
    for (const CaseResult& result : m_results) {
        outputs += result.checks.size();
        failed += result.error ? 1 : 0;
        wrong += static_cast<std::size_t>(std::ranges::count(result.checks, false, &CheckedOutput::ok));
    }
    const std::string cases = countText(m_results.size(), "test case", "test cases");
    if (failed > 0) return countText(failed, "run", "runs") + " of " + cases + " failed";
    if (outputs == 0) return cases + " ran; the file has no expected values";
    const std::string of = countText(outputs, "output", "outputs") + " of " + cases;
    if (wrong == 0) return of + (outputs == 1 ? " agrees" : " agree") + " with the expected values";
    return base::countText(static_cast<std::int64_t>(wrong)) + " of " + of + (wrong == 1 ? " differs" : " differ") +
           " from the expected values";
}

TestCases::Outcome TestCases::outcomeOf(const LoadAndRunTask& task, const base::WorkContext& work) {
    Outcome outcome{loadAndRun(task, work), {}};
    if (!outcome.result) return outcome;
    const auto cases = caseInputs(*task.document, task.options);
    if (!cases) {
        outcome.result = cases.error();
        return outcome;
    }
    for (const CaseValues& named : cases->cases) outcome.inputs.push_back(valuesFor(*task.document->graph, named));
    return outcome;
}

void TestCases::run(const PlainFormMaker& form) {
    if (!m_document) return;
    if (count() == 0) {
        const char* const hint =
            "dumps written with inputs have them; `sonde dump MODEL -o FILE --input-data INPUTS` writes one";
        return m_observer.failed(base::usageError("the model has no test cases", m_document->title, hint));
    }
    LoadAndRunTask task;
    task.document = m_document;
    task.options.iterations = 0;
    task.options.warmUps = 0;
    task.options.threads = m_runs.settings().threads;
    m_stop.renew();
    start(
        m_executor, Activity::TestCases, m_stop.token(),
        [task](const base::WorkContext& work) { return outcomeOf(task, work); },
        [this, form](Outcome outcome) { take(std::move(outcome), form); });
    m_observer.testCasesChanged();
}

void TestCases::take(Outcome outcome, const PlainFormMaker& form) {
    if (!outcome.result) {
        if (outcome.result.error().kind != base::ErrorKind::Cancelled) m_observer.failed(outcome.result.error());
        m_observer.testCasesChanged();
        return;
    }
    m_results = std::move(outcome.result->cases);
    m_inputs = std::move(outcome.inputs);
    tell();
    m_observer.testCasesChanged();
    const auto failed = std::ranges::find_if(m_results, hasFailed);
    show(failed == m_results.end() ? 0 : static_cast<std::size_t>(failed - m_results.begin()), form);
}

void TestCases::tell() const {
    Notice notice{base::Severity::Info, summary(), {}, {}, {}};
    for (std::size_t i = 0; i < m_results.size() && notice.severity == base::Severity::Info; ++i) {
        const CaseResult& result = m_results[i];
        if (!hasFailed(result)) continue;
        const auto wrong = std::ranges::find(result.checks, false, &CheckedOutput::ok);
        notice.severity = result.error ? base::Severity::Error : base::Severity::Warning;
        notice.where = "first: test case " + std::to_string(i);
        if (result.error) notice.hint = result.error->what;
        if (wrong == result.checks.end()) continue;
        notice.where += ", output " + wrong->name;
        notice.node = wrong->node;
    }
    m_observer.told(notice);
}

void TestCases::show(std::size_t index, const PlainFormMaker& form) {
    if (index >= m_inputs.size()) return;
    m_shown = index;
    m_runs.giveValues(m_inputs[index]);
    m_comparison.withUnoptimised(form);
    m_observer.testCasesChanged();
}

void TestCases::forget() {
    m_executor.abandon(Activity::TestCases);
    const bool wereThere = !m_results.empty();
    m_results.clear();
    m_inputs.clear();
    m_shown.reset();
    if (wereThere) m_observer.testCasesChanged();
}

void TestCases::bind(std::shared_ptr<const document::Document> document) { m_document = std::move(document); }

}  // namespace sonde::session
