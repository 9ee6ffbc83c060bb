#include "core/session/load_and_run/unoptimised.h"

#include <algorithm>
#include <optional>

#include "core/base/number_text.h"
#include "core/document/test_cases.h"
#include "core/exec/runner.h"
#include "core/graph/missing_data.h"
#include "core/session/load_and_run/form_choice.h"

namespace sonde::session {

using document::OutputCheck;
using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

namespace {

/// The test case that has these inputs.
base::Result<std::optional<io::dump::TestCase>> caseOf(const document::TestCases& tests, const InternalGraph& graph,
                                                       const std::vector<Value>& inputs) {
    for (const io::dump::TestCase& test : tests.cases) {
        bool isIt = inputs.size() == graph.inputs().size();
        for (std::size_t i = 0; i < inputs.size() && isIt; ++i) {
            const auto found = std::ranges::find(test, graph.node(graph.inputs()[i]).name,
                                                 &std::pair<std::string, tensor::Tensor>::first);
            isIt = found == test.end() ? inputs[i].isNone()
                                       : inputs[i].isTensor() && tensor::identical(inputs[i].tensor(), found->second);
        }
        if (isIt) return std::optional(test);
    }
    return std::optional<io::dump::TestCase>();
}

/// A node "NAME" that is the expected value, in place of the computed one, which nothing compares.
void expect(InternalGraph& graph, std::vector<Value>& inputs, const std::string& name, const tensor::Tensor& value) {
    const NodeId computed = graph.findNode(name);
    if (!computed.valid() || graph.expr(graph.node(computed).producer).kind == ExprKind::Input) return;
    std::string other = name + "_computed";
    while (graph.findNode(other).valid()) other += '_';
    if (!graph.rename(computed, other)) return;
    // Counterparts are also found by module and operator.
    graph.mutableExpr(graph.node(computed).producer).qualname.reset();
    constexpr int kIdentityVersion = 13;
    Expr given;
    given.kind = ExprKind::Apply;
    given.op = {"", "Identity", kIdentityVersion};
    given.target = "Identity";
    given.body = graph.mainId();
    given.scope = graph.rootScope();
    const std::string input = name + ":expect";
    const tensor::TypeInfo type = tensor::TypeInfo::tensor(value.dtype(), value.shape());
    given.arguments = {Argument::of(graph.addInput(graph.mainId(), input, type, input))};
    inputs.emplace_back(value);
    // The expr of kind Output stays the last one.
    const auto& order = graph.main().order;
    const bool endsInOutput = !order.empty() && graph.expr(order.back()).kind == ExprKind::Output;
    const ExprId id = graph.addExpr(std::move(given), std::span(&name, 1), order.size() - (endsInOutput ? 1 : 0));
    if (!endsInOutput) return;
    const ExprId last = graph.main().order.back();
    std::vector<Argument> results = graph.expr(last).arguments;
    for (Argument& result : results)
        result.forEachNode([&](NodeId& node) { node = node == computed ? graph.expr(id).outputs.front() : node; });
    graph.setArguments(last, std::move(results));
}

const tensor::Tensor* expectedOf(const InternalGraph& stored, const OutputCheck& check,
                                 const io::dump::TestCase& test) {
    const auto found =
        std::ranges::find(test, stored.node(check.expected).name, &std::pair<std::string, tensor::Tensor>::first);
    return found == test.end() ? nullptr : &found->second;
}

base::Result<std::vector<std::pair<NodeId, std::string>>> failedChecks(const document::Document& document,
                                                                       const document::TestCases& tests,
                                                                       const io::dump::TestCase& test,
                                                                       const base::WorkContext& work) {
    std::vector<std::pair<NodeId, std::string>> failed;
    SONDE_ASSIGN(const std::vector<Value> inputs, document::inputsOfCase(*tests.graph, test));
    SONDE_ASSIGN(const auto plan, exec::Plan::make(withoutThrows(tests, document), {}));
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(*plan, inputs, work);
    if (recording.error) return failed;  // comparing meets the same error
    for (const OutputCheck& check : tests.checks) {
        const double error = recording.outputs.at(check.output).tensor().toDouble(0);
        if (error >= 0 && error <= check.maxError) continue;
        failed.emplace_back(check.value, "AssertEqual: err=" + base::roundedText(error, 6) + ", and " +
                                             base::shortestText(check.maxError) + " is allowed");
    }
    return failed;
}

}  // namespace

std::vector<Value> inputsFor(const InternalGraph& graph, const analysis::MeasuredRun& given) {
    std::vector<Value> values(graph.inputs().size());
    const std::vector<NodeId>& theirs = given.graph->inputs();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string& name = graph.node(graph.inputs()[i]).name;
        const auto same =
            std::ranges::find_if(theirs, [&](NodeId node) { return given.graph->node(node).name == name; });
        const std::size_t at = same != theirs.end() ? static_cast<std::size_t>(same - theirs.begin()) : i;
        if (at < given.inputs.size()) values[i] = given.inputs[at];
    }
    return values;
}

base::Result<UnoptimisedRun> unoptimisedRun(const document::Document& document, const std::vector<Value>& inputs,
                                            const PlainFormMaker& form, const base::WorkContext& work) {
    UnoptimisedRun result;
    result.run.inputs = inputs;
    SONDE_ASSIGN(const document::TestCases tests, document::readTestCases(document));
    SONDE_ASSIGN(const std::shared_ptr<InternalGraph> plain, form(*document.graph, work));
    SONDE_ASSIGN(const auto test, caseOf(tests, *document.graph, inputs));
    if (test) {
        for (const OutputCheck& check : tests.checks)
            if (const tensor::Tensor* value = expectedOf(*tests.graph, check, *test))
                expect(*plain, result.run.inputs, document.graph->node(check.value).name, *value);
        SONDE_ASSIGN(result.failedChecks, failedChecks(document, tests, *test, work));
    }
    result.run.graph = graph::withKeptOf(plain, document.graph);
    return result;
}

base::Result<analysis::RunDifferences> differencesFromUnoptimised(const document::Document& document,
                                                                  const analysis::MeasuredRun& actual,
                                                                  const PlainFormMaker& form,
                                                                  const analysis::Tolerances& tolerances,
                                                                  std::size_t threads, const base::WorkContext& work) {
    SONDE_ASSIGN(const UnoptimisedRun reference,
                 unoptimisedRun(document, inputsFor(*document.graph, actual), form, work));
    exec::Runner runner(threads);
    SONDE_ASSIGN(analysis::RunDifferences found,
                 analysis::compareRuns(actual, reference.run, tolerances, runner, work));
    // Another form of the graph has nodes of its own.
    const auto nodeOf = [&](NodeId node) {
        return actual.graph == document.graph ? node : actual.graph->findNode(document.graph->node(node).name);
    };
    for (const auto& [node, note] : reference.failedChecks)
        if (const NodeId own = nodeOf(node); own.valid()) analysis::markDifferent(*actual.graph, found, own, note);
    return found;
}

}  // namespace sonde::session
