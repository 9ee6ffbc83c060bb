#include "core/document/test_cases.h"

#include <algorithm>

#include "core/base/number_text.h"
#include "core/graph/source_files.h"
#include "core/graph/traits.h"

namespace sonde::document {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// The input that an expected value comes from; in float16 models it is converted on the way.
NodeId givenBehind(const InternalGraph& graph, NodeId node) {
    const Expr& expr = graph.expr(graph.node(node).producer);
    if (expr.kind == ExprKind::Input && expr.body == graph.mainId()) return node;
    const bool isCast = graph::traitsOf(expr).opClass == operators::OpClass::Cast && expr.inputs.size() == 1;
    return isCast ? givenBehind(graph, expr.inputs.front()) : NodeId();
}

/// A file may hold an assertion of another form, which is an operation like any other.
bool isCheck(const InternalGraph& graph, const Expr& expr) {
    if (!graph::traitsOf(expr).is(operators::Trait::ReturnsError) || expr.arguments.size() != 2) return false;
    if (std::ranges::any_of(expr.arguments, [](const Argument& each) { return each.kind != Argument::Kind::Node; }))
        return false;
    return givenBehind(graph, expr.arguments[0].node).valid();
}

/// With what it was computed from and nothing else needs.
void eraseIfUnused(InternalGraph& graph, NodeId node) {
    const ExprId producer = graph.node(node).producer;
    if (graph.isErased(producer)) return;
    const auto& outputs = graph.outputs();
    const auto isUsed = [&](NodeId each) {
        return !graph.node(each).users.empty() || std::ranges::find(outputs, each) != outputs.end();
    };
    if (std::ranges::any_of(graph.expr(producer).outputs, isUsed)) return;
    const std::vector<NodeId> inputs = graph.expr(producer).inputs;
    graph.erase(producer);
    for (const NodeId input : inputs) eraseIfUnused(graph, input);
}

}  // namespace

std::size_t testCaseCount(const Document& document) {
    if (document.format != kDumpFormatName) return 0;
    const auto found =
        std::ranges::find(document.properties, kTestCasesProperty, &std::pair<std::string, std::string>::first);
    if (found == document.properties.end()) return 0;
    return base::parseNumber<std::size_t>(found->second).value_or(0);
}

std::vector<OutputCheck> checksOf(const InternalGraph& graph) {
    std::vector<OutputCheck> checks;
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
        const NodeId error = graph.outputs()[i];
        const Expr& expr = graph.expr(graph.node(error).producer);
        if (!isCheck(graph, expr)) continue;
        checks.push_back({i, expr.attributes.getString("name", ""), givenBehind(graph, expr.arguments[0].node),
                          expr.arguments[1].node, error, expr.attributes.getFloat("maxerr", 1e-4),
                          expr.attributes.getInt("verbose", 1) == 0});
    }
    return checks;
}

InternalGraph withoutChecks(const InternalGraph& source, const std::vector<OutputCheck>& checks) {
    InternalGraph graph = source;
    if (checks.empty()) return graph;
    std::vector<Argument> outputs;
    for (const NodeId output : graph.outputs()) outputs.push_back(Argument::of(output));
    for (const OutputCheck& check : checks) outputs[check.output] = Argument::of(check.value);
    const Argument result =
        outputs.size() == 1 ? outputs.front() : Argument::container(Argument::Kind::Tuple, std::move(outputs));
    const std::vector<ExprId> order = graph.main().order;
    for (const ExprId id : order)
        if (graph.expr(id).kind == ExprKind::Output) graph.setArguments(id, {result});
    graph.setResult(graph.mainId(), result);
    for (const OutputCheck& check : checks) eraseIfUnused(graph, check.error);
    return graph;
}

base::Result<TestCases> readTestCases(const Document& document) {
    TestCases cases;
    cases.graph = document.graph;
    if (document.format != kDumpFormatName) return cases;
    SONDE_TRY(graph::checkFiles(document.graph));
    SONDE_ASSIGN(io::dump::DumpFile file, io::dump::readDump(document.location));
    SONDE_TRY(graph::checkFiles(document.graph));
    cases.graph = file.graph;
    cases.checks = checksOf(*file.graph);
    cases.cases = std::move(file.cases);
    cases.metadata = std::move(file.metadata);
    return cases;
}

base::Result<std::vector<tensor::Value>> inputsOfCase(const InternalGraph& graph, const io::dump::TestCase& test) {
    std::vector<tensor::Value> values;
    std::size_t given = 0;
    for (const NodeId input : graph.inputs()) {
        const auto found =
            std::ranges::find(test, graph.node(input).name, &std::pair<std::string, tensor::Tensor>::first);
        given += found == test.end() ? 0 : 1;
        values.push_back(found == test.end() ? tensor::Value() : tensor::Value(found->second));
    }
    if (given != test.size())
        return base::unreadable("extra inputs provided in testcase: " + std::to_string(test.size()) + " values for " +
                                std::to_string(given) + " inputs");
    return values;
}

}  // namespace sonde::document
