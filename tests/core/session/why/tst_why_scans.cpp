// Shares of what a Scan or SequenceMap was given: the scan inputs at the iteration, states through earlier iterations,
// values from outside of the body. The numbers are worked by hand.

#include <QtTest>

#include <algorithm>
#include <map>

#include "tests/core/session/why/debugged_net.h"

namespace tst_why_scans {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;
using test::why::DebuggedNet;
using test::why::isNear;
using test::why::shareOf;
using test::why::text;
namespace onnx = test::onnxfile;

namespace {

constexpr int kFloat = 1, kInt64 = 7;

/// Shares of the elements of an input, by index: "0 2:0.25".
std::map<QString, double> elementsOf(const QJsonObject& found, const QString& input) {
    std::map<QString, double> shares;
    for (const QJsonValue& one : found["contributions"].toArray()) {
        if (one.toObject()["node"].toString() != input) continue;
        for (const QJsonValue& each : one.toObject()["largest"].toArray()) {
            QStringList index;
            for (const QJsonValue& i : each.toObject()["index"].toArray()) index << QString::number(i.toInt());
            shares[index.join(u' ')] = each.toObject()["share"].toDouble();
        }
    }
    return shares;
}
bool areNear(const std::map<QString, double>& found, const std::map<QString, double>& expected) {
    return found.size() == expected.size() && std::ranges::equal(found, expected, [](const auto& a, const auto& b) {
               return a.first == b.first && isNear(a.second, b.second);
           });
}

/// sum + item * gain over the last axis of x [2, 3], from its end if `isBackward`; `gain` is from outside of the body.
/// "all" [2, 3] has the sums, with the last iteration in front if `isStackedBackward`.
onnx::Graph sums(bool isBackward, bool isStackedBackward) {
    const onnx::Graph body{{{"Mul", {"item", "gain"}, {"scaled"}},
                            {"Add", {"before", "scaled"}, {"sum"}},
                            {"Identity", {"sum"}, {"listed"}}},
                           {onnx::valueInfo("before", kFloat, {2}), onnx::valueInfo("item", kFloat, {2})},
                           {onnx::valueInfo("sum", kFloat, {2}), onnx::valueInfo("listed", kFloat, {2})}};
    return {{{"Scan",
              {"start", "x"},
              {"last", "all"},
              "",
              "",
              {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1),
               onnx::intsAttribute("scan_input_axes", {-1}),
               onnx::intsAttribute("scan_input_directions", {isBackward ? 1 : 0}),
               onnx::intsAttribute("scan_output_axes", {1}),
               onnx::intsAttribute("scan_output_directions", {isStackedBackward ? 1 : 0})}}},
            {onnx::valueInfo("start", kFloat, {2}), onnx::valueInfo("x", kFloat, {2, 3}),
             onnx::valueInfo("gain", kFloat, {})},
            {onnx::valueInfo("last", kFloat, {2}), onnx::valueInfo("all", kFloat, {2, 3})}};
}
std::vector<Value> sumInputs() {
    return {Value(Tensor::of<float>({2}, {10, 20})), Value(Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})),
            Value(Tensor::of<float>({}, {1}))};
}

}  // namespace

class TestWhyScans : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Of 31 = 20 + 6 + 5 (from the end). Both factors of a product are terms: of 6 = 6 * 1 the gain has 1/7.
    void scanInputsAreFollowedThroughIterations_data() {
        QTest::addColumn<bool>("isBackward");
        QTest::addColumn<bool>("isStackedBackward");
        QTest::addColumn<int>("column");
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("elements");  // of x that take part
        QTest::newRow("forward") << false << false << 1 << 29.0 << "1 0:4;1 1:5";
        QTest::newRow("backward") << true << false << 1 << 31.0 << "1 2:6;1 1:5";
        QTest::newRow("backward, the first") << true << false << 0 << 26.0 << "1 2:6";
        QTest::newRow("stacked backward") << false << true << 0 << 35.0 << "1 0:4;1 1:5;1 2:6";
        QTest::newRow("both backward") << true << true << 2 << 26.0 << "1 2:6";
    }
    void scanInputsAreFollowedThroughIterations() {
        QFETCH(bool, isBackward);
        QFETCH(bool, isStackedBackward);
        QFETCH(int, column);
        QFETCH(double, value);
        QFETCH(QString, elements);
        DebuggedNet run(sums(isBackward, isStackedBackward), sumInputs());
        const std::string element = "all[1, " + std::to_string(column) + "]";
        QCOMPARE(run.answer("why " + element)["value"].toDouble(), value);
        const QJsonObject found = run.answer("contributions " + element);
        std::map<QString, double> expected;
        double sum = 0;
        for (const QString& each : elements.split(u';')) {
            const double part = each.section(u':', 1).toDouble();
            expected[each.section(u':', 0, 0)] = part / value * part / (part + 1);
            sum += part / value / (part + 1);
        }
        QVERIFY2(areNear(elementsOf(found, "x"), expected), text(found));
        QVERIFY2(areNear(elementsOf(found, "start"), {{"1", 20 / value}}), text(found));
        QVERIFY2(isNear(shareOf(found, "gain"), sum), text(found));
        QVERIFY2(isNear(found["unexplained"].toDouble(), 0) && isNear(found["constants"].toDouble(), 0), text(found));
    }
    /// The element of a scan input is one of the outer value: its index has the iteration, at the axis.
    void elementsOfScanInputsAreThoseOfTheOuterValue() {
        DebuggedNet run(sums(true, false), sumInputs());
        const QJsonObject why = run.answer("why item[1]");
        const QJsonObject term = why["terms"].toArray().at(0).toObject();
        QCOMPARE(why["terms"].toArray().size(), 1);
        QCOMPARE(term["node"].toString(), QString("x"));
        QCOMPARE(term["index"].toArray(), (QJsonArray{1, 0}));
        QCOMPARE(term["value"].toDouble(), 4.0);
        QCOMPARE(why["recombined"].toDouble(), why["value"].toDouble());
        QCOMPARE(run.chain("all[1, 1]"), (QStringList{"all 31", "listed 31 1", "sum 31 1", "before 26 1", "sum 26 0",
                                                      "before 20 0", "start 20"}));
    }

    /// Version 8: [batch, time], lengths of 3 in both batches, from the end. No batch has a share in another.
    void batchesOfScansAreApart() {
        const onnx::Graph body{{{"Add", {"before", "item"}, {"sum"}}, {"Identity", {"sum"}, {"listed"}}},
                               {onnx::valueInfo("before", kFloat, {}), onnx::valueInfo("item", kFloat, {})},
                               {onnx::valueInfo("sum", kFloat, {}), onnx::valueInfo("listed", kFloat, {})}};
        const onnx::Graph graph{{{"Scan",
                                  {"", "start", "x"},
                                  {"last", "all"},
                                  "",
                                  "",
                                  {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1),
                                   onnx::intsAttribute("directions", {1})}}},
                                {onnx::valueInfo("start", kFloat, {2}), onnx::valueInfo("x", kFloat, {2, 3})},
                                {onnx::valueInfo("last", kFloat, {2}), onnx::valueInfo("all", kFloat, {2, 3})}};
        std::vector<Value> inputs = sumInputs();
        inputs.pop_back();
        DebuggedNet run(graph, inputs, 8);
        const QJsonObject second = run.answer("contributions all[1, 1]");
        QVERIFY2(areNear(elementsOf(second, "x"), {{"1 1", 5.0 / 31}, {"1 2", 6.0 / 31}}), text(second));
        QVERIFY2(areNear(elementsOf(second, "start"), {{"1", 20.0 / 31}}), text(second));
        const QJsonObject first = run.answer("contributions last[0]");
        QVERIFY2(areNear(elementsOf(first, "x"), {{"0 0", 1.0 / 16}, {"0 1", 2.0 / 16}, {"0 2", 3.0 / 16}}),
                 text(first));
        QVERIFY2(areNear(elementsOf(first, "start"), {{"0", 10.0 / 16}}), text(first));
    }

    /// 7 = (1 + 2.5) * 2, of which the terms are 3.5 and 2: the item of the second sequence, the value that all
    /// iterations were given, and one from outside of the body.
    void itemsOfSequencesAreFollowed() {
        const onnx::Graph body{{{"Add", {"item", "extra"}, {"sum"}}, {"Mul", {"sum", "gain"}, {"made"}}},
                               {onnx::valueInfo("item", kFloat, {1}), onnx::valueInfo("extra", kFloat, {1})},
                               {onnx::valueInfo("made", kFloat, {1})}};
        const std::int64_t second = 1;
        const onnx::Graph graph{
            {{"SplitToSequence", {"x"}, {"items"}, "", "", {onnx::intAttribute("axis", 0)}},
             {"SequenceMap", {"items", "extra"}, {"mapped"}, "", "", {onnx::graphAttribute("body", body.bytes())}},
             {"SequenceAt", {"mapped", "second"}, {"y"}},
             {"SequenceConstruct", {"y", "x"}, {"pair"}},
             {"SequenceAt", {"pair", "zero"}, {"z"}}},
            {onnx::valueInfo("x", kFloat, {3}), onnx::valueInfo("extra", kFloat, {1}),
             onnx::valueInfo("gain", kFloat, {1})},
            {onnx::valueInfo("z", kFloat, {1})},
            {onnx::rawTensor("second", kInt64, {}, {reinterpret_cast<const char*>(&second), sizeof second}),
             onnx::rawTensor("zero", kInt64, {}, std::string(8, '\0'))}};
        DebuggedNet run(graph,
                        {Value(Tensor::of<float>({3}, {7, 1, 8})), Value(Tensor::of<float>({1}, {2.5})),
                         Value(Tensor::of<float>({1}, {2}))},
                        18);
        QCOMPARE(run.answer("why z[0]")["value"].toDouble(), 7.0);
        const QJsonObject found = run.answer("contributions z[0]");
        QVERIFY2(areNear(elementsOf(found, "x"), {{"1", 1 / 5.5}}), text(found));
        QVERIFY2(areNear(elementsOf(found, "extra"), {{"0", 2.5 / 5.5}}), text(found));
        QVERIFY2(isNear(shareOf(found, "gain"), 2 / 5.5), text(found));
        QVERIFY2(isNear(found["unexplained"].toDouble(), 0), text(found));
        const QJsonObject term = run.answer("why item[0]")["terms"].toArray().at(0).toObject();
        QCOMPARE(term["node"].toString() + " " + QString::number(term["value"].toDouble()), QString("items 8"));
    }
};

QTEST_GUILESS_MAIN(TestWhyScans)

}  // namespace tst_why_scans

#include "tst_why_scans.moc"
