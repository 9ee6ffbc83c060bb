// Elements that loops, layers of recurrent operators and lists in lists have made, hop by hop and as shares of the
// inputs. Networks whose numbers are worked by hand.

#include <QtTest>

#include <cmath>

#include "tests/core/session/gradient/small_net.h"
#include "tests/core/session/why/debugged_net.h"
#include "tests/support/float_bytes.h"

namespace tst_why_iterations {

using namespace sonde;
using graph::Argument;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;
using test::why::isNear;
using test::why::shareOf;
using test::why::text;
using Run = test::why::DebuggedNet;
namespace onnx = test::onnxfile;

namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

/// Of the element of the only input, by its index along an axis.
double shareAt(const QJsonObject& found, int axis, int index) {
    for (const QJsonValue& one : found["contributions"].toArray().at(0).toObject()["largest"].toArray())
        if (one.toObject()["index"].toArray().at(axis).toInt() == index) return one.toObject()["share"].toDouble();
    return 0;
}

/// x + step, three times: "last" the last sum, "all" each. The step is from outside of the loop.
onnx::Graph counting(std::int64_t trips = 3) {
    const onnx::Graph body{
        {{"Add", {"carried", "step"}, {"next"}}, {"Identity", {"next"}, {"listed"}}, {"Identity", {"cond"}, {"again"}}},
        {onnx::valueInfo("i", kInt64, {}), onnx::valueInfo("cond", kBool, {}), onnx::valueInfo("carried", kFloat, {1})},
        {onnx::valueInfo("again", kBool, {}), onnx::valueInfo("next", kFloat, {1}),
         onnx::valueInfo("listed", kFloat, {1})}};
    return {{{"Loop", {"trips", "", "x"}, {"last", "all"}, "", "", {onnx::graphAttribute("body", body.bytes())}}},
            {onnx::valueInfo("x", kFloat, {1}), onnx::valueInfo("step", kFloat, {1})},
            {onnx::valueInfo("last", kFloat, {1}), onnx::valueInfo("all", kFloat, {trips, 1})},
            {onnx::rawTensor("trips", kInt64, {}, {reinterpret_cast<const char*>(&trips), sizeof trips})}};
}

/// Two layers of a tanh cell with one unit each, without biases: layer 0 reads x [2,1,1] with the weight 1 and its own
/// state with `recurrent`, layer 1 reads layer 0 with the weight 1 and nothing of its own state. The model gives the
/// sequence or, as output 1, the last states.
std::shared_ptr<const document::Document> twoLayers(float recurrent, const Tensor& x, std::size_t output = 0) {
    test::gradients::SmallNet net;
    const NodeId input = net.input("x", x);
    const auto constant = [&](const Tensor& value) {
        graph::Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.body = net.graph.mainId();
        expr.scope = net.graph.rootScope();
        const std::string name = "k" + std::to_string(net.graph.exprCount());
        const NodeId node = net.graph.expr(net.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
        net.graph.setType(node, tensor::TypeInfo::of(Value(value)));
        net.graph.setConstant(node, Value(value));
        return Argument::of(node);
    };
    const auto weight = [&](float value) { return constant(Tensor::of<float>({1, 1}, {value})); };
    const Argument states = constant(Tensor::of<float>({2, 1, 1}, {0, 0}));
    const Argument weights =
        Argument::container(Argument::Kind::List, {weight(1), weight(recurrent), weight(1), weight(0)});
    const auto number = [](Value value) { return Argument::of(std::move(value)); };
    const NodeId y = net.call({"aten", "rnn_tanh.input", 0},
                              {Argument::of(input), states, weights, number(Value::ofBool(false)),
                               number(Value::ofInt(2)), number(Value::ofFloat(0)), number(Value::ofBool(false)),
                               number(Value::ofBool(false)), number(Value::ofBool(false))},
                              {}, 2)
                         .at(output);
    return net.finish(y);
}

}  // namespace

class TestWhyIterations : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// 7 = 5 + 2, 5 = 3 + 2, 3 = 1 + 2: of the last sum x has 5/7 · 3/5 · 1/3.
    void sharesGoBackThroughAllIterations() {
        Run run(counting(), {Value(Tensor::of<float>({1}, {1})), Value(Tensor::of<float>({1}, {2}))});
        const QJsonObject found = run.answer("contributions last[0]");
        QVERIFY2(isNear(shareOf(found, "x"), 1.0 / 7) && isNear(shareOf(found, "step"), 6.0 / 7), text(found));
        QVERIFY(isNear(found["unexplained"].toDouble(), 0) && isNear(found["constants"].toDouble(), 0));
    }
    /// Without an iteration the last state is the first one.
    void statesOfNoIterationAreWhatTheLoopWasGiven() {
        Run run(counting(0), {Value(Tensor::of<float>({1}, {4})), Value(Tensor::of<float>({1}, {2}))});
        QCOMPARE(run.chain("last[0]"), (QStringList{"last 4", "x 4"}));
        const QJsonObject found = run.answer("contributions last[0]");
        QVERIFY2(isNear(shareOf(found, "x"), 1) && isNear(shareOf(found, "step"), 0), text(found));
        QVERIFY2(isNear(found["unexplained"].toDouble(), 0) && isNear(found["constants"].toDouble(), 0), text(found));
        const onnx::Graph body{{{"Add", {"before", "item"}, {"sum"}}},
                               {onnx::valueInfo("before", kFloat, {}), onnx::valueInfo("item", kFloat, {})},
                               {onnx::valueInfo("sum", kFloat, {})}};
        const onnx::Graph sums{
            {{"Scan",
              {"start", "x"},
              {"last"},
              "",
              "",
              {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1)}}},
            {onnx::valueInfo("start", kFloat, {}), onnx::valueInfo("x", kFloat, {0})},
            {onnx::valueInfo("last", kFloat, {})}};
        Run scan(sums, {Value(Tensor::of<float>({}, {7})), Value(Tensor::of<float>({0}, {}))});
        const QJsonObject states = scan.answer("contributions last");
        QVERIFY2(isNear(shareOf(states, "start"), 1) && isNear(states["unexplained"].toDouble(), 0), text(states));
    }
    /// An element of a stacked result is of the iteration that made it.
    void stackedElementsAreOfTheirIteration() {
        Run run(counting(), {Value(Tensor::of<float>({1}, {1})), Value(Tensor::of<float>({1}, {2}))});
        QCOMPARE(run.chain("all[1, 0]"),
                 (QStringList{"all 5", "listed 5 1", "next 5 1", "carried 3 1", "next 3 0", "step 2"}));
        QCOMPARE(run.chain("all[2, 0]").mid(0, 3), (QStringList{"all 7", "listed 7 2", "next 7 2"}));
        const QJsonObject found = run.answer("contributions all[1, 0]");
        QVERIFY2(isNear(shareOf(found, "x"), 1.0 / 5) && isNear(shareOf(found, "step"), 4.0 / 5), text(found));
        const QJsonObject first = run.answer("contributions all[0, 0]");
        QVERIFY2(isNear(shareOf(first, "x"), 1.0 / 3) && isNear(shareOf(first, "step"), 2.0 / 3), text(first));
    }

    /// Each iteration is compared with the same one of the baseline: 11 of 5 + 2 + 2 + 2, and 7 of 1 + 2 + 2 + 2
    /// without the edit.
    void differencesAreFollowedThroughIterations() {
        Run run(counting(), {Value(Tensor::of<float>({1}, {1})), Value(Tensor::of<float>({1}, {2}))});
        QVERIFY(!run.answer("set x[0] = 5").contains("error"));
        QStringList hops;
        for (const QJsonValue& each : run.answer("chain last[0]")["chain"].toArray()) {
            const QJsonValue reference = each.toObject()["reference"];
            hops << each.toObject()["node"].toString() + " " + QString::number(each.toObject()["value"].toDouble()) +
                        (reference.isDouble() ? " not " + QString::number(reference.toDouble()) : QString());
        }
        QCOMPARE(hops, (QStringList{"last 11 not 7", "next 11 not 7", "carried 9 not 5", "next 9 not 5",
                                    "carried 7 not 3", "next 7 not 3", "carried 5 not 1", "x 5 not 1"}));
    }

    /// Sums of 1, 2, 3: what a Scan gave in each iteration, forward and from the last one on.
    void scansAreOfTheirIteration() {
        for (const bool isBackward : {false, true}) {
            const onnx::Graph body{{{"Add", {"before", "item"}, {"sum"}}, {"Identity", {"sum"}, {"listed"}}},
                                   {onnx::valueInfo("before", kFloat, {}), onnx::valueInfo("item", kFloat, {})},
                                   {onnx::valueInfo("sum", kFloat, {}), onnx::valueInfo("listed", kFloat, {})}};
            const onnx::Graph graph{
                {{"Scan",
                  {"start", "x"},
                  {"last", "all"},
                  "",
                  "",
                  {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1),
                   onnx::intsAttribute("scan_output_directions", {isBackward ? 1 : 0})}}},
                {onnx::valueInfo("x", kFloat, {3})},
                {onnx::valueInfo("last", kFloat, {}), onnx::valueInfo("all", kFloat, {3})},
                {onnx::rawTensor("start", kFloat, {}, std::string(4, '\0'))}};
            Run run(graph, {Value(Tensor::of<float>({3}, {1, 2, 3}))});
            const QStringList first = run.chain("all[0]").mid(0, 2), second = run.chain("all[1]").mid(0, 2);
            QCOMPARE(first, isBackward ? QStringList({"all 6", "listed 6 2"}) : QStringList({"all 1", "listed 1 0"}));
            QCOMPARE(second, QStringList({"all 3", "listed 3 1"}));
        }
    }

    /// out[1] = tanh(h[1]), h[1] = tanh(x[1] + h[0]), h[0] = tanh(x[0]): no output has h.
    void layersInsideAreFollowed() {
        const Tensor x = Tensor::of<float>({2, 1, 1}, {1, 1});
        Run run(twoLayers(1, x), {Value(x)});
        const QJsonObject found = run.answer("contributions loss[1, 0, 0]");
        const double state = std::tanh(1.0), ofFirst = state / (1 + state);
        QVERIFY2(isNear(shareAt(found, 0, 0), ofFirst) && isNear(shareAt(found, 0, 1), 1 - ofFirst), text(found));
        QVERIFY2(isNear(found["unexplained"].toDouble(), 0) && isNear(found["constants"].toDouble(), 0), text(found));
        Run alone(twoLayers(0, x), {Value(x)});
        const QJsonObject last = alone.answer("contributions loss[1, 0, 0]");
        QVERIFY2(isNear(shareAt(last, 0, 1), 1) && isNear(shareAt(last, 0, 0), 0), text(last));
        // A state that no node has is no element of the output.
        const QJsonObject why = run.answer("why loss[1, 0, 0]");
        for (const QJsonValue& term : why["terms"].toArray())
            if (term["part"].toString() == "x_h") QVERIFY2(term["node"].toString() != "loss", text(why));
        QVERIFY(isNear(why["recombined"].toDouble(), why["value"].toDouble()));
    }

    /// As above, hop by hop to the input: x[0] = 2 outweighs x[1] = 0.1. Where the model gives the last states alone,
    /// nobody reads the sequence.
    void theChainGoesThroughLayersInside() {
        const Tensor x = Tensor::of<float>({2, 1, 1}, {2, 0.1F});
        const double first = std::tanh(2.0), second = std::tanh(0.1F + first), last = std::tanh(second);
        for (const std::size_t output : {std::size_t{0}, std::size_t{1}}) {
            Run run(twoLayers(1, x, output), {Value(x)});
            const QJsonObject answer = run.answer("chain loss[1, 0, 0]");
            const QJsonArray hops = answer["chain"].toArray();
            QVERIFY2(hops.size() == 4, text(answer));
            QVERIFY2(isNear(hops[0].toObject()["value"].toDouble(), last), text(answer));
            const auto isInside = [&](int hop, double value, int step) {
                const QJsonObject at = hops[hop].toObject(), inside = at["inside"].toObject();
                return isNear(at["value"].toDouble(), value) && at["node"] == inside["node"] &&
                       inside["state"].toString() == "h of layer 0" &&
                       inside["index"].toArray() == QJsonArray{step, 0, 0} && !inside["node"].toString().isEmpty();
            };
            QVERIFY2(isInside(1, second, 1) && isInside(2, first, 0), text(answer));
            QCOMPARE(hops[3].toObject()["node"].toString(), QString("x"));
            QCOMPARE(hops[3].toObject()["index"].toArray(), (QJsonArray{0, 0, 0}));
            QCOMPARE(answer["end"].toString(), QString("an input of the model"));
        }
    }

    /// sum(w · (norm − x)) of two rows [1, 1], of which the second has a class that weighs 10: norm depends on each
    /// score by its probability 0.5, and the loss on norm by the weight of the class.
    void scoresCountByTheWeightOfTheClass() {
        const std::int64_t classes[] = {0, 1};
        const onnx::Graph graph{{{"SoftmaxCrossEntropyLoss",
                                  {"x", "labels", "weights"},
                                  {"loss"},
                                  "",
                                  "",
                                  {onnx::stringAttribute("reduction", "sum")}}},
                                {onnx::valueInfo("x", kFloat, {2, 2})},
                                {onnx::valueInfo("loss", kFloat, {})},
                                {onnx::rawTensor("labels", kInt64, {2}, {reinterpret_cast<const char*>(classes), 16}),
                                 onnx::rawTensor("weights", kFloat, {2}, test::floatBytes({1, 10}))}};
        Run run(graph, {Value(Tensor::of<float>({2, 2}, {1, 1, 1, 1}))});
        const QJsonObject why = run.answer("why loss 20");
        QVERIFY2(isNear(why["recombined"].toDouble(), 11 * std::log(2.0)), text(why));
        int seen = 0;
        for (const QJsonValue& each : why["terms"].toArray()) {
            const QJsonObject term = each.toObject();
            if (term["part"].toString() != "scores") continue;
            const int row = term["index"].toArray().at(0).toInt();
            QVERIFY2(isNear(term["weight"].toDouble(), row == 0 ? 0.5 : 5), text(why));
            ++seen;
        }
        QCOMPARE(seen, 4);
    }

    /// The LSTM gives (output, (h, c)), and the model takes h out of the inner tuple.
    void tuplesInTuplesAreEntered() {
        std::vector<std::int64_t> words;
        for (std::int64_t i = 1; i <= 30; ++i) words.push_back(i);
        Run run("zoo:lstm_classifier", {Value(Tensor::of<std::int64_t>({2, 15}, words))});
        const QStringList chain = run.chain("getitem_4[0, 3]");
        QVERIFY2(chain.size() > 4 && chain.at(4).startsWith("lstm/lstm"), qPrintable(chain.join(u';')));
        // The first number is the item's, the second that of the item in it.
        const QJsonObject member = run.answer("why lstm[1, 0, 1, 0, 3]");
        QVERIFY2(!member.contains("error"), text(member));
        QCOMPARE(member["terms"].toArray().at(0).toObject()["node"].toString(), QString("lstm/lstm_1"));
        QCOMPARE(member["value"].toDouble(), run.answer("why getitem_4[0, 3]")["value"].toDouble());
        const QJsonObject found = run.answer("contributions getitem_4[0, 3]");
        QVERIFY2(isNear(found["unexplained"].toDouble(), 0) && shareOf(found, "tokens") > 0.1, text(found));
    }
};

QTEST_GUILESS_MAIN(TestWhyIterations)

}  // namespace tst_why_iterations

#include "tst_why_iterations.moc"
