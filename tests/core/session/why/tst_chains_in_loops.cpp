// Chains along what differs, where the difference is made in the body of a loop: st' = 3 · st + 1 three times, of 1 on:
// 4, 13, 40. By hand.

#include <QtTest>

#include "core/analysis/reference_keys.h"
#include "core/io/npz/npz.h"
#include "tests/core/session/why/debugged_net.h"
#include "tests/support/float_bytes.h"

namespace tst_chains_in_loops {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;
using Run = test::why::DebuggedNet;
namespace onnx = test::onnxfile;

namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

/// y = -st of the last iteration, "all" what 3 · st was in each.
onnx::Graph looped(const char* how = "Add") {
    const onnx::Graph body{
        {{"Mul", {"st", "k"}, {"q"}}, {how, {"q", "one"}, {"st2"}}, {"Identity", {"cond"}, {"again"}}},
        {onnx::valueInfo("i", kInt64, {}), onnx::valueInfo("cond", kBool, {}), onnx::valueInfo("st", kFloat, {1})},
        {onnx::valueInfo("again", kBool, {}), onnx::valueInfo("st2", kFloat, {1}), onnx::valueInfo("q", kFloat, {1})}};
    const std::int64_t trips = 3;
    return {{{"Loop", {"trips", "", "x"}, {"last", "all"}, "", "", {onnx::graphAttribute("body", body.bytes())}},
             {"Neg", {"last"}, {"y"}}},
            {onnx::valueInfo("x", kFloat, {1})},
            {onnx::valueInfo("y", kFloat, {1}), onnx::valueInfo("all", kFloat, {3, 1})},
            {onnx::rawTensor("trips", kInt64, {}, {reinterpret_cast<const char*>(&trips), sizeof trips}),
             onnx::rawTensor("k", kFloat, {}, test::floatBytes({3})),
             onnx::rawTensor("one", kFloat, {}, test::floatBytes({1}))}};
}

/// Of 1, 2, 3: so = s · x + 1, from 0 on.
onnx::Graph scanned() {
    const onnx::Graph body{
        {{"Mul", {"s", "xi"}, {"sm"}}, {"Add", {"sm", "one"}, {"so"}}, {"Identity", {"so"}, {"listed"}}},
        {onnx::valueInfo("s", kFloat, {}), onnx::valueInfo("xi", kFloat, {})},
        {onnx::valueInfo("so", kFloat, {}), onnx::valueInfo("listed", kFloat, {})}};
    return {{{"Scan",
              {"start", "x"},
              {"fs", "ys"},
              "",
              "",
              {onnx::graphAttribute("body", body.bytes()), onnx::intAttribute("num_scan_inputs", 1)}},
             {"Neg", {"fs"}, {"w"}}},
            {onnx::valueInfo("x", kFloat, {3})},
            {onnx::valueInfo("w", kFloat, {}), onnx::valueInfo("ys", kFloat, {3})},
            {onnx::rawTensor("start", kFloat, {}, test::floatBytes({0})),
             onnx::rawTensor("one", kFloat, {}, test::floatBytes({1}))}};
}

Value one(float value) { return Value(Tensor::of<float>({1}, {value})); }
const std::vector<Value>& inputs() {
    static const std::vector<Value> values{one(1)};
    return values;
}

/// "NODE value not REFERENCE" of each hop, with iterations.
QStringList hopsOf(const QJsonObject& answer) {
    QStringList hops;
    for (const QJsonValue& each : answer["chain"].toArray()) {
        const QJsonObject hop = each.toObject();
        QString text = hop["node"].toString();
        for (const QJsonValue& i : hop["iteration"].toArray()) text += "@" + QString::number(i.toInt());
        const QJsonValue value = hop["value"];
        text += " " + (value.isString() ? value.toString() : QString::number(value.toDouble()));
        if (hop["reference"].isDouble()) text += " not " + QString::number(hop["reference"].toDouble());
        hops << text;
    }
    return hops;
}

}  // namespace

class TestChainsInLoops : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// What the edit wrote does not depend on what the operation gave.
    void theyEndAtAnEdit_data() {
        QTest::addColumn<bool>("isScan");
        QTest::addColumn<QString>("edit");
        QTest::addColumn<QString>("element");
        QTest::addColumn<QStringList>("hops");
        QTest::newRow("state of a loop") << false << "set st2[0] = 5"
                                         << "y[0]" << QStringList{"y -5 not -40", "last 5 not 40", "st2@2 5 not 40"};
        // What the operation gives is infinite too where the iteration before was: only the first one is of the edit.
        QTest::newRow("infinity") << false << "set st2[0] = inf"
                                  << "y[0]" << QStringList{"y -inf not -40", "last inf not 40", "st2@2 inf not 40",
                                                           "q@2 inf not 39", "st@2 inf not 13", "st2@1 inf not 13",
                                                           "q@1 inf not 12", "st@1 inf not 4",  "st2@0 inf not 4"};
        QTest::newRow("an iteration before") << false << "set q[0] = 5"
                                             << "all[1, 0]" << QStringList{"all 5 not 12", "q@1 5 not 12"};
        // (3 · 1 + 1) · 2 = 8, (3 · 8 + 1) · 2 = 50, (3 · 50 + 1) · 2 = 302: the first one is of the edit alone.
        QTest::newRow("scaled") << false << "edit st2 scale 2"
                                << "y[0]" << QStringList{"y -302 not -40", "last 302 not 40", "st2@2 302 not 40",
                                                         "q@2 150 not 39", "st@2 50 not 13",  "st2@1 50 not 13",
                                                         "q@1 24 not 12",  "st@1 8 not 4",    "st2@0 8 not 4"};
        // 0 · 1 + 1 = 1, 1 · 2 + 1 = 3, 3 · 3 + 1 = 10
        QTest::newRow("state of a scan") << true << "set so = 4"
                                         << "w" << QStringList{"w -4 not -10", "fs 4 not 10", "so@2 4 not 10"};
        QTest::newRow("item of a scan") << true << "set so = 4"
                                        << "ys[1]" << QStringList{"ys 4 not 3", "listed@1 4 not 3", "so@1 4 not 3"};
    }
    void theyEndAtAnEdit() {
        QFETCH(bool, isScan);
        QFETCH(QString, edit);
        QFETCH(QString, element);
        QFETCH(QStringList, hops);
        Run run(isScan ? scanned() : looped(),
                isScan ? std::vector<Value>{Value(Tensor::of<float>({3}, {1, 2, 3}))} : inputs());
        QVERIFY(!run.answer(edit.toStdString()).contains("error"));
        const QJsonObject answer = run.answer("chain " + element.toStdString());
        QCOMPARE(hopsOf(answer), hops);
        QCOMPARE(answer["origin"].toString(), hops.back().section('@', 0, 0));
        QCOMPARE(answer["end"].toString(), QString("an edit makes the difference"));
    }

    /// The reference subtracts what is added here: 2, 5, 14. The first iteration makes the difference, as a model and
    /// as a file with the values of each iteration say; one with those of the last one cannot.
    void theyEndAtAFaultInABody() {
        Run run(looped(), inputs());
        const QString other = run.folder.filePath("other.onnx"), all = run.folder.filePath("all.npz"),
                      last = run.folder.filePath("last.npz");
        QVERIFY(onnx::write(other, onnx::model(looped("Sub"))));
        analysis::KeyedTensors ofLast{{"in.x", one(1).tensor()},       {"out.y", one(-14).tensor()},
                                      {"node.last", one(14).tensor()}, {"node.st2", one(14).tensor()},
                                      {"node.q", one(15).tensor()},    {"node.st", one(5).tensor()}};
        QVERIFY(io::writeNpz(last.toStdString(), ofLast));
        for (const auto& [node, values] : {std::pair("st", std::vector<float>{1, 2, 5}),
                                           {"q", std::vector<float>{3, 6, 15}},
                                           {"st2", std::vector<float>{2, 5, 14}}})
            for (std::size_t i = 0; i < 3; ++i)
                ofLast.emplace_back("node." + std::string(node) + ".pass" + std::to_string(i), one(values[i]).tensor());
        ofLast.emplace_back("out.all", Tensor::of<float>({3, 1}, {3, 6, 15}));
        QVERIFY(io::writeNpz(all.toStdString(), ofLast));
        const QStringList toFirst{"st2@1 13 not 5", "q@1 12 not 6", "st@1 4 not 2", "st2@0 4 not 2"};
        const QStringList toLast{"y -40 not -14", "last 40 not 14", "st2@2 40 not 14", "q@2 39 not 15",
                                 "st@2 13 not 5"};
        for (const QString& reference : {other, all}) {
            const QJsonObject answer = run.answer("chain y[0] against " + reference.toStdString());
            QVERIFY2(!answer.contains("error"), qPrintable(answer["error"].toString()));
            QCOMPARE(hopsOf(answer), toLast + toFirst);
            QCOMPARE(answer["origin"].toString(), QString("st2"));
            const QJsonObject listed = run.answer("chain all[1, 0] against " + reference.toStdString());
            QCOMPARE(hopsOf(listed), (QStringList{"all 12 not 6"} + toFirst.mid(1)));
            QCOMPARE(listed["origin"].toString(), QString("st2"));
        }
        const QJsonObject answer = run.answer("chain y[0] against " + last.toStdString());
        QCOMPARE(hopsOf(answer), (toLast + QStringList{"st2@1 13 not 5"}));
        QVERIFY(answer["origin"].isNull());
        QCOMPARE(answer["end"].toString(),
                 QString("the reference has no values of the iterations before: the difference may be made there"));
    }
};

QTEST_GUILESS_MAIN(TestChainsInLoops)

}  // namespace tst_chains_in_loops

#include "tst_chains_in_loops.moc"
