#include "core/session/load_and_run/first_difference.h"

#include <filesystem>
#include <fmt/format.h>

#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/visible_text.h"
#include "core/document/document.h"
#include "core/graph/missing_data.h"
#include "core/session/load_and_run/unoptimised.h"

namespace sonde::session {

using analysis::MeasuredRun;
using analysis::RunDifferences;

namespace {

constexpr std::string_view kUnoptimised = "unoptimised";

base::Result<RunDifferences> differencesFrom(const LoadAndRunTask& task, const MeasuredRun& actual,
                                             const base::WorkContext& work) {
    const std::size_t threads = task.options.threads;
    const std::string& reference = task.options.firstDifference;
    if (reference == kUnoptimised) {
        if (!task.plainForm) return base::usageError("the unoptimised graph is not known here", "--first_difference");
        return differencesFromUnoptimised(*task.document, actual, task.plainForm, {}, threads, work);
    }
    SONDE_ASSIGN(const auto other, document::open(reference, {}, work));
    exec::Runner runner(threads);
    return analysis::compareRuns(actual, {other->graph, inputsFor(*other->graph, actual)}, {}, runner, work);
}

/// "conv1 (ConvBias)", in which module where that is known.
std::string nodeText(const graph::InternalGraph& graph, graph::NodeId node) {
    const graph::Expr& expr = graph.expr(graph.node(node).producer);
    std::string text = graph.node(node).name + " (" + (expr.op.name.empty() ? expr.target : expr.op.name);
    if (expr.qualname && !expr.qualname->empty()) text += " in " + *expr.qualname;
    return base::visibleText(text + ')');
}

std::string differenceText(const graph::InternalGraph& graph, const RunDifferences& found, const std::string& title) {
    if (found.differing == 0)
        return fmt::format("no difference from {}: {} agree", title,
                           base::countedText(static_cast<std::int64_t>(found.compared), "value"));
    const analysis::NodeDifference& first = *found.ofNode[found.firstDiverging.index()];
    std::string text = fmt::format("first difference from {}: {}: ", title, nodeText(graph, found.firstDiverging));
    if (first.isMeasured) text += "max absolute " + base::roundedText(first.maxAbsolute, 6);
    if (const std::string remarks = first.remarks(); !remarks.empty())
        text += (first.isMeasured ? ", " : "") + base::visibleText(remarks);
    return text + fmt::format("; {} of {} values differ", found.differing, found.compared);
}

}  // namespace

base::Result<CaseDifferences> differencesOfCase(const LoadAndRunTask& task, const document::TestCases& tests,
                                                const CaseValues& values, const base::WorkContext& work) {
    auto graph = std::make_shared<graph::InternalGraph>(document::withoutChecks(*tests.graph, tests.checks));
    const std::vector<tensor::Value> inputs = valuesFor(*graph, values);
    const MeasuredRun actual{graph::withKeptOf(std::move(graph), task.document->graph), inputs};
    CaseDifferences result;
    SONDE_ASSIGN(result.differences, differencesFrom(task, actual, work));
    const std::string& reference = task.options.firstDifference;
    const std::string title =
        reference == kUnoptimised ? reference : std::filesystem::path(reference).filename().string();
    // Two models without a value in common do not agree: one of them was named by mistake.
    if (result.differences.compared == 0) {
        base::Error error =
            base::usageError("no value of the dump has a counterpart in " + title, "--first_difference");
        error.hint = "name a model with the same nodes";
        return error;
    }
    result.text = differenceText(*actual.graph, result.differences, title);
    return result;
}

}  // namespace sonde::session
