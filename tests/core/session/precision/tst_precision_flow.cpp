// Lower precision in branches, and beside operations that only move elements: who is blamed for an error.

#include <QTemporaryDir>
#include <QtTest>

#include "core/session/bisection/bisection.h"
#include "core/session/precision/precision.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace tst_precision_flow {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;
namespace bisection = session::bisection;

namespace {

constexpr int kFloat = 1, kInt64 = 7;

std::shared_ptr<const document::Document> open(const QTemporaryDir& folder, const onnx::Graph& graph) {
    const QString path = folder.filePath(QStringLiteral("model.onnx"));
    if (!onnx::write(path, onnx::model(graph))) return {};
    auto document = document::open(path.toStdString());
    return document ? *document : nullptr;
}

}  // namespace

class TestPrecisionFlow : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The error is made inside of the branch, and its result only has it.
    void beginsInsideOfTheBranch() {
        const onnx::Graph square{{{"Mul", {"x", "x"}, {"a"}}}, {}, {onnx::valueInfo("a", kFloat, {2})}};
        const onnx::Graph same{{{"Identity", {"x"}, {"b"}}}, {}, {onnx::valueInfo("b", kFloat, {2})}};
        const QTemporaryDir folder;
        const auto document = open(folder, {{{"Greater", {"limit", "zero"}, {"c"}},
                                             {"If",
                                              {"c"},
                                              {"y"},
                                              "",
                                              "",
                                              {onnx::graphAttribute("then_branch", square.bytes()),
                                               onnx::graphAttribute("else_branch", same.bytes())}}},
                                            {onnx::valueInfo("x", kFloat, {2}), onnx::valueInfo("limit", kFloat, {})},
                                            {onnx::valueInfo("y", kFloat, {2})},
                                            {onnx::rawTensor("zero", kFloat, {}, test::floatBytes({0}))}});
        QVERIFY(document);
        session::precision::Request request;
        request.inputs = {Value(Tensor::of<float>({2}, {1.0001F, 3.3F})), Value(Tensor::scalar<float>(1))};
        const auto report =
            session::precision::measure(*document, {session::precision::NumberType::BFloat16, false, {}}, request);
        QVERIFY2(report, report ? "" : report.error().text().c_str());
        const graph::InternalGraph& graph = *document->graph;
        QCOMPARE(graph.node(report->begins).name, std::string("a"));
        QVERIFY(!report->growing.empty());
        QCOMPARE(graph.node(report->nodes[report->growing.front()].node).name, std::string("a"));
        const auto& branch = report->nodes.back();
        QCOMPARE(graph.node(branch.node).name, std::string("y"));
        QCOMPARE(branch.inputSqnr, branch.error.sqnr);
    }

    /// A reshaped value is as wrong as what was reshaped, and not by itself.
    void movingElementsDiffersNotByItself() {
        const std::int64_t all = -1;
        const QTemporaryDir folder;
        const auto document =
            open(folder, {{{"Mul", {"x", "x"}, {"a"}}, {"Reshape", {"a", "row"}, {"r"}}, {"Mul", {"r", "r"}, {"y"}}},
                          {onnx::valueInfo("x", kFloat, {1, 3})},
                          {onnx::valueInfo("y", kFloat, {3})},
                          {onnx::rawTensor("row", kInt64, {1}, {reinterpret_cast<const char*>(&all), sizeof all})}});
        QVERIFY(document);
        bisection::Request request{document, {Value(Tensor::of<float>({1, 3}, {1.3F, -0.7F, 2.11F}))}};
        request.tolerances.fixed = analysis::Tolerance{0, 1e-7, 0};
        bisection::LowerPrecision lower;
        lower.options.type = session::precision::NumberType::Int8;
        const auto found = bisection::bisect(request, lower);
        QVERIFY2(found, found ? "" : found.error().what.c_str());
        QVERIFY(found->found.differs);
        QStringList names;
        for (const graph::NodeId node : found->found.all)
            names << QString::fromStdString(found->document->graph->node(node).name);
        QCOMPARE(names, (QStringList{"a", "y"}));
        QCOMPARE(found->found.inBetween, std::size_t{3});
    }
};

QTEST_GUILESS_MAIN(TestPrecisionFlow)

}  // namespace tst_precision_flow

#include "tst_precision_flow.moc"
