// What dumps are compared with: their graphs without layouts, fusions and float16. Values are worked by hand.

#include <QtTest>

#include "core/analysis/infer.h"
#include "core/analysis/measured_runs.h"
#include "core/export/dump.h"
#include "core/export/plain_form.h"
#include "tests/core/passes/graph_maker.h"

namespace tst_plain_form {

using namespace sonde;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr std::int64_t kChannels = 8;

struct PlainModel : test::Maker {
    document::Document document;

    const document::Document& done(NodeId result) {
        graph.setResult(graph.mainId(), test::arg(result));
        base::Diagnostics findings;
        analysis::inferTypes(graph, findings);
        for (const NodeId node : graph.inputs()) document.inputs.push_back({graph.node(node).name, node});
        document.outputs.push_back({"y", result});
        document.graph = std::make_shared<InternalGraph>(graph);
        return document;
    }
    /// 1x1, twice each channel, and k - 4 added to channel k.
    NodeId doubled(const std::string& name, NodeId x) {
        std::vector<float> weights(kChannels * kChannels), bias(kChannels);
        for (std::size_t k = 0; k < kChannels; ++k) {
            weights[k * kChannels + k] = 2;
            bias[k] = static_cast<float>(k) - 4;
        }
        return onnx(name, "Conv", x, constant(name + "_w", Tensor::of<float>({kChannels, kChannels, 1, 1}, weights)),
                    constant(name + "_b", Tensor::of<float>({kChannels}, bias)));
    }
};

/// y = relu(conv(x) + x), conv as above.
document::Document summedDocument() {
    PlainModel model;
    const NodeId x = model.floats("x", {1, kChannels, 2, 2});
    return model.done(model.onnx("y", "Relu", model.onnx("sum", "Add", model.doubled("conv", x), x)));
}

/// Every element of channel k is k.
Value channelNumbers() {
    std::vector<float> values;
    for (std::int64_t k = 0; k < kChannels; ++k) values.insert(values.end(), 4, static_cast<float>(k));
    return Tensor::of<float>({1, kChannels, 2, 2}, values);
}

base::Result<io::dump::DumpFile> dumped(const document::Document& document, const std::string& option) {
    exporting::DumpOptions options;
    if (!option.empty()) SONDE_TRY(options.inference.set(option, true));
    return exporting::makeDump(document, {}, options);
}

std::size_t countOf(const InternalGraph& graph, std::string_view op) {
    std::size_t count = 0;
    for (const graph::ExprId id : graph.main().order) count += graph.expr(id).op.name == op ? 1 : 0;
    return count;
}

bool hasHalf(const InternalGraph& graph) {
    for (const graph::ExprId id : graph.main().order)
        for (const NodeId node : graph.expr(id).outputs)
            if (graph.node(node).type.dtype == DType::Float16) return true;
    return false;
}

std::vector<double> run(const std::shared_ptr<const InternalGraph>& graph, const Value& x) {
    exec::Runner runner(1);
    const auto plan = exec::Plan::make(graph, {});
    const exec::Recording recording = runner.run(**plan, {{x}});
    std::vector<double> values;
    if (recording.error) return values;
    const Tensor& y = recording.outputs.at(0).tensor();
    for (std::int64_t i = 0; i < y.numel(); ++i) values.push_back(y.toDouble(i));
    return values;
}

}  // namespace

class TestPlainForm : public QObject {
    Q_OBJECT

  private slots:
    void layoutsAndFusionsAreUndone_data() {
        QTest::addColumn<QString>("option");
        for (const char* option :
             {"enable_nchw88", "enable_nchw44", "enable_nchw44_dot", "enable_hwcd4", "enable_nchw4",
              "enable_fuse_conv_bias_nonlinearity", "enable_fuse_conv_bias_with_z"})
            QTest::newRow(option) << option;
    }

    /// y = max(2k + k - 4 + k, 0) = max(4k - 4, 0) in channel k.
    void layoutsAndFusionsAreUndone() {
        QFETCH(QString, option);
        const auto dump = dumped(summedDocument(), option.toStdString());
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        const auto plain = exporting::plainForm(*dump->graph);
        QVERIFY2(plain.has_value(), plain ? "" : plain.error().text().c_str());
        QCOMPARE(countOf(**plain, "ConvBias"), std::size_t(0));
        QCOMPARE(countOf(**plain, "Conv"), std::size_t(1));
        const std::vector<double> values = run(*plain, channelNumbers());
        QCOMPARE(values.size(), std::size_t(kChannels * 4));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t channel = i / 4;
            QCOMPARE(values[i], std::max(4.0 * static_cast<double>(channel) - 4.0, 0.0));
        }
    }

    /// Also what is in blocks there is in blocks here: no node is left without a counterpart.
    void everyNodeHasItsCounterpart_data() { layoutsAndFusionsAreUndone_data(); }

    void everyNodeHasItsCounterpart() {
        QFETCH(QString, option);
        const auto dump = dumped(summedDocument(), option.toStdString());
        const auto plain = exporting::plainForm(*dump->graph);
        QVERIFY(plain.has_value());
        std::size_t computed = 0;
        for (const graph::ExprId id : dump->graph->main().order) {
            const graph::Expr& expr = dump->graph->expr(id);
            if (expr.kind != graph::ExprKind::Apply) continue;
            ++computed;
            const graph::Node& node = dump->graph->node(expr.outputs.front());
            const NodeId other = (*plain)->findNode(node.name);
            QVERIFY2(other.valid(), node.name.c_str());
            QCOMPARE(QString::fromStdString((*plain)->node(other).type.text()),
                     QString::fromStdString(node.type.text()));
        }
        exec::Runner runner(1);
        const auto found =
            analysis::compareRuns({dump->graph, {channelNumbers()}}, {*plain, {channelNumbers()}}, {}, runner);
        QVERIFY(found.has_value() && !found->error);
        QCOMPARE(found->compared, computed);
        QCOMPARE(found->differing, std::size_t(0));
    }

    void weightsThatDifferAreSeen() {
        const auto dump = dumped(summedDocument(), "enable_nchw88");
        const auto plain = exporting::plainForm(*dump->graph);
        auto changed = std::make_shared<InternalGraph>(*dump->graph);
        for (const graph::ExprId id : dump->graph->main().order) {
            if (dump->graph->expr(id).op.name != "ConvBias") continue;
            const NodeId weights = dump->graph->expr(id).arguments[1].node;
            const auto zeros = Tensor::zeros(DType::Float32, dump->graph->node(weights).constant->tensor().shape());
            changed->setConstant(weights, Value(*zeros));
        }
        exec::Runner runner(1);
        const auto found =
            analysis::compareRuns({changed, {channelNumbers()}}, {*plain, {channelNumbers()}}, {}, runner);
        QVERIFY(found.has_value());
        QCOMPARE(changed->expr(changed->node(found->firstDiverging).producer).op.name, std::string("ConvBias"));
    }

    /// 1 + 2^-12 is 1 in float16.
    void float16IsWidened_data() {
        QTest::addColumn<QString>("option");
        QTest::newRow("io16xc32") << "enable_io16xc32";
        QTest::newRow("ioc16") << "enable_ioc16";
    }

    void float16IsWidened() {
        QFETCH(QString, option);
        PlainModel model;
        const NodeId x = model.floats("x", {2});
        const NodeId small = model.constant("small", Tensor::of<float>({1}, {1.0F / 4096}));
        const auto dump = dumped(model.done(model.onnx("y", "Add", x, small)), option.toStdString());
        QVERIFY(dump.has_value() && hasHalf(*dump->graph));
        const Value ones = Tensor::of<float>({2}, {1, 1});
        QCOMPARE(run(dump->graph, ones), (std::vector<double>{1, 1}));
        const auto plain = exporting::plainForm(*dump->graph);
        QVERIFY(plain.has_value() && !hasHalf(**plain));
        QCOMPARE(run(*plain, ones), (std::vector<double>{1 + 1.0 / 4096, 1 + 1.0 / 4096}));
    }

    /// A model may have inputs in float16 itself.
    void float16InputsAreCast() {
        PlainModel model;
        const NodeId x = model.input("x", tensor::TypeInfo::tensor(DType::Float16, Shape{2}));
        const auto small = Tensor::of<float>({1}, {1.0F / 4096}).cast(DType::Float16);
        const auto& document = model.done(model.onnx("y", "Add", x, model.constant("small", *small)));
        const auto plain = exporting::plainForm(*document.graph);
        QVERIFY(plain.has_value());
        const Value ones = *Tensor::of<float>({2}, {1, 1}).cast(DType::Float16);
        QCOMPARE(run(document.graph, ones), (std::vector<double>{1, 1}));
        QCOMPARE(run(*plain, ones), (std::vector<double>{1 + 1.0 / 4096, 1 + 1.0 / 4096}));
    }

    /// Operators of PyTorch name dtypes in ways that nothing here follows.
    void otherVocabulariesKeepFloat16() {
        PlainModel model;
        const NodeId x = model.input("x", tensor::TypeInfo::tensor(DType::Float16, Shape{2}));
        const auto& document = model.done(model.call("y", "aten::relu", x));
        const auto plain = exporting::plainForm(*document.graph);
        QVERIFY(plain.has_value());
        QCOMPARE((*plain)->exprCount(), document.graph->exprCount());
    }

    void weightsThatAreNoConstantAreAnError() {
        const auto dump = dumped(summedDocument(), "enable_nchw88");
        InternalGraph changed = *dump->graph;
        for (const graph::ExprId id : dump->graph->main().order) {
            const graph::Expr& expr = dump->graph->expr(id);
            if (expr.op.name != "ConvBias") continue;
            std::vector<graph::Argument> arguments = expr.arguments;
            arguments[1] = arguments[0];
            changed.setArguments(id, arguments);
        }
        const auto plain = exporting::plainForm(changed);
        QVERIFY(!plain.has_value());
        QCOMPARE(plain.error().kind, base::ErrorKind::Unreadable);
    }
};

QTEST_GUILESS_MAIN(TestPlainForm)

}  // namespace tst_plain_form

#include "tst_plain_form.moc"
