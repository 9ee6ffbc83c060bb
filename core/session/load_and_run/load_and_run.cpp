#include "core/session/load_and_run/load_and_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "core/analysis/infer.h"
#include "core/base/number_text.h"
#include "core/base/visible_text.h"
#include "core/graph/missing_data.h"
#include "core/session/load_and_run/case_files.h"
#include "core/session/load_and_run/case_inputs.h"
#include "core/session/load_and_run/first_difference.h"
#include "core/session/load_and_run/form_choice.h"
#include "core/session/load_and_run/inspection.h"

namespace sonde::session {

using document::OutputCheck;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

namespace {

/// What the model returns, in the order of its outputs.
std::vector<NodeId> checkedNodes(const document::TestCases& tests) {
    std::vector<NodeId> nodes = tests.graph->outputs();
    for (const OutputCheck& check : tests.checks) nodes[check.output] = check.value;
    return nodes;
}

/// One graph with its runner, for all cases.
class CaseRunner {
  public:
    CaseRunner(const LoadAndRunTask& task, document::TestCases tests, std::shared_ptr<const exec::Plan> plan,
               std::unique_ptr<Inspection> inspection, const base::WorkContext& work)
        : m_task(task), m_tests(std::move(tests)), m_plan(std::move(plan)), m_inspection(std::move(inspection)),
          m_runner(task.options.threads), m_work(work) {}

    base::Result<LoadAndRunResult> run(const std::vector<CaseValues>& cases) {
        std::int64_t totalNs = 0;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            tell(fmt::format("=== run testcase: #{}", i));
            m_case = i;
            m_inputs = valuesFor(m_plan->graph(), cases[i]);
            CaseResult result;
            SONDE_TRY(runCase(result));
            if (!m_task.options.firstDifference.empty() && !result.error) {
                SONDE_ASSIGN(CaseDifferences found, differencesOfCase(m_task, m_tests, cases[i], m_work));
                tell(found.text);
                result.differences = std::move(found.differences);
            }
            if (result.error && result.error->kind == base::ErrorKind::Cancelled) return *result.error;
            for (const std::int64_t ns : result.iterationsNs) totalNs += ns;
            m_result.cases.push_back(std::move(result));
        }
        SONDE_TRY(m_profiles.write(m_task.options.profile));
        SONDE_TRY(m_memory.write(m_task.options.staticMemoryInfo));
        tell(fmt::format("=== total time: {:.3f}ms", inMilliseconds(totalNs)));
        m_result.violations = m_inspection->violations();
        for (const std::string& violation : m_result.violations) tell(violation);
        if (!m_result.failure && !m_result.violations.empty())
            m_result.failure = base::Error{base::ErrorKind::Comparison, m_result.violations.front()};
        return std::move(m_result);
    }

  private:
    void tell(const std::string& line) const {
        if (m_task.tell) m_task.tell(line);
    }

    /// The first run is one by itself: what is written and checked takes time. Without iterations it is the one that is
    /// profiled, and it is there for every case; only the first case has warm-ups.
    base::Result<void> runCase(CaseResult& result) {
        const LoadAndRunOptions& options = m_task.options;
        exec::Recording recording;
        m_isFirst = true;
        const bool isOnlyProfile = options.iterations == 0 && !options.profile.empty();
        const bool isOnlyRun = options.iterations == 0 && (options.warmUps == 0 || m_case > 0);
        if (m_inspection->looksAtFirstRuns() || isOnlyProfile || isOnlyRun) {
            SONDE_TRY(runOnce(m_inspection->looksAtFirstRuns() || isOnlyProfile, result, recording));
            if (!options.staticMemoryInfo.empty() && !result.error)
                m_memory.add(m_case, *m_plan, m_inspection->bytes());
            if (isOnlyProfile && !result.error) addProfile(recording);
        }
        for (std::size_t i = 0; i < options.warmUps && m_case == 0 && !result.error; ++i) {
            SONDE_TRY(runOnce(m_inspection->looksAtAllRuns(), result, recording));
            if (!result.error) tell(fmt::format("warm up {}  {:.3f}ms", i, inMilliseconds(recording.totalNs)));
        }
        for (std::size_t i = 0; i < options.iterations && !result.error; ++i) {
            const bool isProfiled = !options.profile.empty() && i + 1 == options.iterations;
            SONDE_TRY(runOnce(m_inspection->looksAtAllRuns() || isProfiled, result, recording));
            if (result.error) break;
            result.iterationsNs.push_back(recording.totalNs);
            tell(fmt::format("iter {}/{}: {:.3f}ms", i, options.iterations, inMilliseconds(recording.totalNs)));
            if (isProfiled) addProfile(recording);
        }
        if (result.error) {
            const base::Error brief{result.error->kind, result.error->what, result.error->where};
            tell(fmt::format("case {} failed: {}", m_case, base::visibleText(brief.text())));
            if (!m_result.failure) m_result.failure = *result.error;
        }
        tellTimes(result);
        return {};
    }

    base::Result<void> runOnce(bool isObserved, CaseResult& result, exec::Recording& recording) {
        exec::RunOptions options;
        if (isObserved) options.observer = m_inspection.get();
        if (isObserved) m_inspection->begin(m_case, m_isFirst, m_inputs);
        recording = m_runner.run(*m_plan, m_inputs, m_work, options);
        result.error = recording.error;
        if (isObserved) SONDE_TRY(m_inspection->end());
        if (m_isFirst && !result.error) readChecks(recording, result);
        m_isFirst = false;
        return {};
    }

    void readChecks(const exec::Recording& recording, CaseResult& result) {
        for (const OutputCheck& check : m_tests.checks) {
            const Value& error = recording.outputs.at(check.output);
            CheckedOutput made{check.name,     check.value,   check.error, error.tensor().toDouble(0),
                               check.maxError, check.isSilent};
            if (!made.isSilent) tell(made.text());
            if (!made.ok() && !m_task.options.disableAssertThrow && !m_result.failure)
                m_result.failure = failureOf(made);
            result.checks.push_back(std::move(made));
        }
    }

    base::Error failureOf(const CheckedOutput& check) const {
        return {base::ErrorKind::Comparison,
                check.text() + ", and " + base::shortestText(check.maxError) + " is allowed",
                "case " + std::to_string(m_case)};
    }

    void addProfile(const exec::Recording& recording) {
        // Dim sizes that the file leaves open are known by now: so are bytes.
        m_profiles.add(m_case, analysis::typedFor(m_plan->graph(), m_inputs), recording);
    }

    void tellTimes(const CaseResult& result) const {
        const std::vector<std::int64_t>& times = result.iterationsNs;
        if (times.empty()) return;
        const auto count = static_cast<double>(times.size());
        double sum = 0, squares = 0;
        for (const std::int64_t ns : times) sum += inMilliseconds(ns);
        for (const std::int64_t ns : times) squares += std::pow(inMilliseconds(ns) - sum / count, 2);
        const double deviation = times.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
        tell(
            fmt::format("=== finished test #{}: time={:.3f}ms avg_time={:.3f}ms standard_deviation={:.3f}ms "
                        "minmax={:.3f},{:.3f}",
                        m_case, sum, sum / count, deviation, inMilliseconds(std::ranges::min(times)),
                        inMilliseconds(std::ranges::max(times))));
    }

    const LoadAndRunTask& m_task;
    document::TestCases m_tests;
    std::shared_ptr<const exec::Plan> m_plan;
    std::unique_ptr<Inspection> m_inspection;
    exec::Runner m_runner;
    const base::WorkContext& m_work;
    std::vector<Value> m_inputs;
    std::size_t m_case = 0;
    bool m_isFirst = true;
    CaseProfiles m_profiles;
    CaseMemory m_memory;
    LoadAndRunResult m_result;
};

/// A column for each: what, name, shape, dtype.
void tellModel(const LoadAndRunTask& task) {
    std::vector<std::array<std::string, 4>> rows{{"type", "name", "shape", "dtype"}};
    const InternalGraph& graph = *task.document->graph;
    const auto add = [&](const char* what, const document::NamedNode& named) {
        const tensor::TypeInfo& type = graph.node(named.node).type;
        rows.push_back({what, base::visibleText(named.name), type.shape ? type.shapeText() : "?",
                        type.isTensor() ? std::string(tensor::name(type.dtype)) : type.text()});
    };
    for (const document::NamedNode& input : task.document->inputs) add("INPUT", input);
    for (const document::NamedNode& output : task.document->outputs) add("OUTPUT", output);
    std::array<std::size_t, 3> widths{};
    for (const auto& row : rows)
        for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    for (const auto& row : rows)
        task.tell(
            fmt::format("{:{}}  {:{}}  {:{}}  {}", row[0], widths[0], row[1], widths[1], row[2], widths[2], row[3]));
}

void tellOptions(const LoadAndRunTask& task) {
    for (const std::string& name : task.options.withoutEffect) {
        const auto option = std::ranges::find(loadAndRunOptions(), name, &LoadAndRunOption::name);
        task.tell("--" + name + ": no effect (" + std::string(option->noEffect) + ")");
    }
    if (!task.options.layoutTransformDump.empty() && task.options.layoutTransform.empty())
        task.tell("--layout_transform_dump: no effect (it needs --layout_transform)");
    if (task.options.modelInfo) tellModel(task);
}

}  // namespace

std::string CheckedOutput::text() const {
    return fmt::format("AssertEqual: err={} (name={} id={})", base::roundedText(difference, 6), base::visibleText(name),
                       error.index());
}

base::Result<LoadAndRunResult> loadAndRun(const LoadAndRunTask& task, const base::WorkContext& work) {
    SONDE_TRY(graph::checkComplete(task.document->graph));
    if (task.tell) tellOptions(task);
    SONDE_ASSIGN(const CaseInputs inputs, caseInputs(*task.document, task.options, task.inputs));
    if (task.tell)
        for (const std::string& note : inputs.notes) task.tell(base::visibleText(note));
    SONDE_ASSIGN(const document::TestCases tests, chosenForm(task, inputs.tests, inputs.cases.front(), work));
    SONDE_ASSIGN(auto plan, exec::Plan::make(withoutThrows(tests, *task.document), {}));
    SONDE_ASSIGN(auto inspection, Inspection::make(task.options, plan->sharedGraph(), checkedNodes(tests)));
    return CaseRunner(task, tests, std::move(plan), std::move(inspection), work).run(inputs.cases);
}

}  // namespace sonde::session
