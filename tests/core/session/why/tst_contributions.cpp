// How an element is made up of the elements of the inputs, over many operations, and the chain of largest terms. Shares
// are worked by hand from the formula of core/session/why/contributions.h.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <limits>

#include "core/session/debug_commands.h"
#include "core/session/repeated_run.h"
#include "core/session/why/contributions.h"
#include "core/session/why/run_reader.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_network.h"

namespace tst_contributions {

using namespace sonde;
using session::why::ContributionOptions;
using session::why::Contributions;
using session::why::Place;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

std::string oneNode(const char* op, const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& out,
                    const std::vector<std::string>& attributes = {}) {
    onnx::Graph graph{{{op, {"x"}, {"y"}}}, {onnx::valueInfo("x", 1, in)}, {onnx::valueInfo("y", 1, out)}, {}};
    graph.nodes[0].attributes = attributes;
    return onnx::model(graph);
}

Tensor counted(const tensor::Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Tensor::of<float>(shape, values);
}

struct Run {
    QTemporaryDir folder;
    session::Session session;
    session::DebugCommands commands{session};
    std::shared_ptr<session::RepeatedRun> again;

    Run(const std::string& bytes, std::vector<tensor::Value> inputs) {
        const QString path = folder.filePath(QStringLiteral("model.onnx"));
        if (onnx::write(path, bytes)) open(path.toStdString(), std::move(inputs));
    }
    explicit Run(const std::string& model) { open(model, {}); }

    void open(const std::string& model, std::vector<tensor::Value> inputs) {
        if (!session.open(model)) return;
        if (!inputs.empty()) session.runs().giveValues(inputs);
        session.runs().run();
        if (auto made = session::RepeatedRun::of(session)) again = *made;
    }
    graph::NodeId node(const char* name) const { return session.document()->graph->findNode(name); }
    base::Result<Contributions> of(const char* name, std::vector<std::int64_t> index,
                                   const ContributionOptions& options = {}) {
        const base::WorkContext work;
        SONDE_TRY(again->reach(node(name), work));
        const session::debug::View view = again->view(node(name));
        session::why::RunReader reader(view, work);
        return session::why::contributions(*session.document()->graph, {node(name), {}, std::move(index)}, reader,
                                           options, work);
    }
    QJsonObject answer(std::string_view line) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
    }
};

double whole(const Contributions& found) {
    double sum = found.constants + found.unexplained + found.cut;
    for (const session::why::Share& share : found.inputs) sum += share.sum;
    return sum;
}

}  // namespace

class TestContributions : public QObject {
    Q_OBJECT

  private slots:
    /// y is a sum of positive products: the share of x[p] is the sum of w[j] x[p] over the windows j that it is in, by
    /// the value. Of the biases 0.5 (1 + 2 + 3 + 4) is left.
    void sumsOfProductsAreExact() {
        Run run(test::windowNetwork(), {tensor::Value(counted({1, 1, 6, 6}))});
        const auto found = run.of("y", {0, 0});
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        QCOMPARE(found->inputs.size(), std::size_t{1});
        const auto& share = found->inputs.front();
        QCOMPARE(share.node, run.node("x"));
        QCOMPARE(share.map.shape(), (tensor::Shape{1, 1, 6, 6}));
        for (int i = 0; i < 36; ++i) {
            double expected = 0;
            for (int j = 0; j < 4; ++j) {
                const int row = i / 6 - 2 * (j / 2), column = i % 6 - 2 * (j % 2);
                if (row >= 0 && row < 3 && column >= 0 && column < 3) expected += (j + 1) * i / 1499.0;
            }
            QVERIFY2(std::fabs(share.map.toDouble(i) - expected) < 1e-7, qPrintable(QString::number(i)));
        }
        QVERIFY(std::fabs(share.sum - 1494.0 / 1499) < 1e-12);
        QVERIFY(std::fabs(found->constants - 5.0 / 1499) < 1e-12);
        QVERIFY(std::fabs(found->cut) < 1e-12 && std::fabs(found->unexplained) < 1e-12);
        // x[0,0,4,2] = 26 is in the two lower windows, with the weights 3 and 4; x[0,0,2,2] = 14 in all four.
        const auto largest = share.largest(2);
        QCOMPARE(largest[0].first, (std::vector<std::int64_t>{0, 0, 4, 2}));
        QVERIFY(std::fabs(largest[0].second - 182.0 / 1499) < 1e-7);
        QVERIFY(std::fabs(largest[1].second - 140.0 / 1499) < 1e-7);
    }

    /// The windows have 63.5, 163, 514.5 and 758 of 1499: up to 0.042, 0.151, 0.494 and 1. One draw, at 0.5, takes the
    /// last one for all; two, at 0.25 and 0.75, the last two for half each.
    void drawnElementsStandForOthers() {
        Run run(test::windowNetwork(), {tensor::Value(counted({1, 1, 6, 6}))});
        const auto one = run.of("y", {0, 0}, {1});
        QVERIFY(one && one->isSampled);
        QVERIFY(std::fabs(one->inputs.front().sum - 189.0 / 189.5) < 1e-12);
        QVERIFY(std::fabs(one->constants - 0.5 / 189.5) < 1e-12);
        QVERIFY(std::fabs(one->inputs.front().map.toDouble(28) - 28.0 / 189.5) < 1e-7);
        QCOMPARE(one->inputs.front().map.toDouble(0), 0.0);
        const auto two = run.of("y", {0, 0}, {2});
        QVERIFY(two);
        QVERIFY(std::fabs(two->inputs.front().sum - (171 / 171.5 + 189 / 189.5) / 2) < 1e-12);
        QVERIFY(std::fabs(whole(*two) - 1) < 1e-12);
        QVERIFY(!run.of("y", {0, 0})->isSampled);
    }

    void whatIsNotFollowedIsCounted() {
        Run run(test::windowNetwork(), {tensor::Value(counted({1, 1, 6, 6}))});
        ContributionOptions few;
        few.terms = 3;
        const auto none = run.of("y", {0, 0}, few);
        QVERIFY(none && none->inputs.empty());
        QVERIFY(std::fabs(none->cut - 1) < 1e-12);
    }

    /// 3·1 − 1·2: the parts are 3/5 and 2/5, whatever their signs.
    void bothSignsCount() {
        const onnx::Graph graph{{{"MatMul", {"x", "w"}, {"y"}}},
                                {onnx::valueInfo("x", 1, {1, 2})},
                                {onnx::valueInfo("y", 1, {1, 1})},
                                {onnx::rawTensor("w", 1, {2, 1}, test::floatBytes({1, -2}))}};
        Run run(onnx::model(graph), {tensor::Value(Tensor::of<float>({1, 2}, {3, 1}))});
        const auto found = run.of("y", {0, 0});
        QVERIFY(found);
        QCOMPARE(found->inputs.front().map.data<float>()[0], 0.6F);
        QCOMPARE(found->inputs.front().map.data<float>()[1], 0.4F);
    }

    /// a·b of two inputs: half of each product goes to either factor. 1·4 + 2·3: 4/10 and 6/10.
    void twoInputsShareTheirProduct() {
        const onnx::Graph graph{{{"MatMul", {"a", "b"}, {"y"}}},
                                {onnx::valueInfo("a", 1, {1, 2}), onnx::valueInfo("b", 1, {2, 1})},
                                {onnx::valueInfo("y", 1, {1, 1})},
                                {}};
        Run run(onnx::model(graph),
                {tensor::Value(Tensor::of<float>({1, 2}, {1, 2})), tensor::Value(Tensor::of<float>({2, 1}, {4, 3}))});
        const auto found = run.of("y", {0, 0});
        QVERIFY(found && found->inputs.size() == 2);
        for (const auto& share : found->inputs) {
            QCOMPARE(share.map.data<float>()[0], 0.2F);
            QCOMPARE(share.map.data<float>()[1], 0.3F);
        }
    }

    void onlyNanMakesNan() {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        Run run(oneNode("ReduceSum", {1, 3}, {1, 1}), {tensor::Value(Tensor::of<float>({1, 3}, {1, nan, 2}))});
        const auto found = run.of("y", {0, 0});
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        QCOMPARE(found->inputs.front().map.data<float>()[0], 0.0F);
        QCOMPARE(found->inputs.front().map.data<float>()[1], 1.0F);
    }

    void noRuleAndNoTermsAreSaid() {
        const onnx::Graph graph{
            {{"NonZero", {"x"}, {"y"}}}, {onnx::valueInfo("x", 1, {2, 2})}, {onnx::valueInfo("y", 7, {2, 3})}, {}};
        Run places(onnx::model(graph), {tensor::Value(counted({2, 2}))});
        const auto unknown = places.of("y", {0, 1});
        QVERIFY2(unknown, unknown ? "" : unknown.error().text().c_str());
        QVERIFY(unknown->inputs.empty());
        QCOMPARE(unknown->unexplained, 1.0);
        Run zeros(oneNode("ReduceSum", {1, 3}, {1, 1}), {tensor::Value(Tensor::of<float>({1, 3}, {0, 0, 0}))});
        const auto none = zeros.of("y", {0, 0});
        QVERIFY(none);
        QCOMPARE(none->unexplained, 1.0);
    }

    void anEmptyTensorHasNoElement() {
        Run run(oneNode("Relu", {0, 3}, {0, 3}),
                {tensor::Value(Tensor::zeros(tensor::DType::Float32, {0, 3}).value())});
        QVERIFY(run.again);
        const auto found = run.of("y", {0, 0});
        QVERIFY(!found);
        QVERIFY2(QString::fromStdString(found.error().what).contains("out of bounds"), found.error().what.c_str());
    }

    /// Nothing is lost on the way through a whole network.
    void theSharesOfANetworkAreOne() {
        Run run("zoo:resnet18?width=0.125&classes=10");
        QVERIFY(run.again);
        const std::string output =
            run.session.document()->graph->node(run.session.document()->graph->outputs()[0]).name;
        const auto found = run.of(output.c_str(), {0, 3}, {64});
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        QVERIFY2(std::fabs(whole(*found) - 1) < 1e-6, qPrintable(QString::number(whole(*found), 'g', 10)));
        QVERIFY(found->inputs.size() == 1 && found->inputs.front().sum > 0);
        QVERIFY(found->through.size() > 30);
    }

    void itIsStopped() {
        Run run(test::windowNetwork(), {tensor::Value(counted({1, 1, 6, 6}))});
        std::stop_source stop;
        stop.request_stop();
        const base::WorkContext stopped{stop.get_token(), {}};
        const auto reached = run.again->reach(run.node("y"), stopped);
        QVERIFY(!reached && reached.error().kind == base::ErrorKind::Cancelled);
        // Stopping leaves a run that can still go on.
        QVERIFY(run.of("y", {0, 0}));
    }

    void theCommandsAnswer() {
        Run run(test::windowNetwork(), {tensor::Value(counted({1, 1, 6, 6}))});
        (void)run.answer("run");
        const QJsonObject parts = run.answer("contributions y[0,0] 1");
        const QJsonObject input = parts.value("contributions").toArray().at(0).toObject();
        QCOMPARE(input.value("node").toString(), QStringLiteral("x"));
        QVERIFY(std::fabs(input.value("share").toDouble() - 1494.0 / 1499) < 1e-12);
        QCOMPARE(input.value("largest").toArray().size(), 1);
        QCOMPARE(input.value("largest").toArray().at(0).toObject().value("index").toArray(), (QJsonArray{0, 0, 4, 2}));
        QVERIFY(std::fabs(parts.value("constants").toDouble() - 5.0 / 1499) < 1e-12);
        QCOMPARE(run.answer("contributions y[0,0] many").value("column").toInt(), 22);
        const QJsonObject chain = run.answer("chain y[0,0]");
        QStringList hops;
        for (const QJsonValue& hop : chain.value("chain").toArray()) hops << hop.toObject().value("node").toString();
        QCOMPARE(hops, (QStringList{"y", "f", "r", "c", "x"}));
        QCOMPARE(chain.value("chain").toArray().last().toObject().value("index").toArray(), (QJsonArray{0, 0, 4, 4}));
        QCOMPARE(chain.value("end").toString(), QStringLiteral("an input of the model"));
        QVERIFY(chain.value("origin").isNull());
        QCOMPARE(run.answer("chain y[0,0] 4").value("column").toInt(), 14);
    }
};

QTEST_GUILESS_MAIN(TestContributions)

}  // namespace tst_contributions

#include "tst_contributions.moc"
