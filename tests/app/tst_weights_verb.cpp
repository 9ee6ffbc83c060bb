// `sonde weights`: the real program, its exit status, and what it prints.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/finding_networks.h"
#include "tests/support/run_sonde.h"

namespace tst_weights_verb {

using namespace sonde::test;
using namespace sonde::test::findingnetworks;

class TestWeightsVerb : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void everyWeightIsAnObject();
    void textIsSorted();
    void singularValuesOnDemand();
    void whatHasNoneIsToldAfterTheOthers();
    void wrongOnesAreOneLine_data();
    void wrongOnesAreOneLine();
    void helpHasKeysAndAnExample();

  private:
    QTemporaryDir m_folder;
    QString m_model;
};

/// y = x · w + b: w is diag(1 … 16) with a column of zeros, b has NaN.
void TestWeightsVerb::initTestCase() {
    Floats weights(256, 0);
    for (std::size_t i = 0; i < 15; ++i) weights[17 * i] = static_cast<float>(i + 1);
    Floats bias(16, 1);
    bias[3] = NAN;
    m_model = m_folder.filePath(QStringLiteral("net.onnx"));
    QVERIFY(
        write(m_model, onnxfile::model({.nodes = {{"MatMul", {"x", "w"}, {"h"}}, {"Add", {"h", "b"}, {"y"}}},
                                        .inputs = {valueInfo("x", kFloat, {1, 16})},
                                        .outputs = {valueInfo("y", kFloat, {1, 16})},
                                        .initializers = {floats("w", {16, 16}, weights), floats("b", {16}, bias)}})));
}

void TestWeightsVerb::everyWeightIsAnObject() {
    const Outcome outcome = runSonde({"weights", m_model, "--json", "--histogram"});
    QCOMPARE(outcome.status, 0);
    const QJsonObject json = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QCOMPARE(json["format"].toString(), QString("sonde-weights"));
    QCOMPARE(json["version"].toInt(), 1);
    const QJsonArray rows = json["weights"].toArray();
    QCOMPARE(rows.size(), 2);
    const QJsonObject w = rows[0].toObject(), b = rows[1].toObject();
    QCOMPARE(w["name"].toString(), QString("w"));
    QCOMPARE(w["used_by"].toArray(), (QJsonArray{"h"}));
    QCOMPARE(w["shape"].toArray(), (QJsonArray{16, 16}));
    QCOMPARE(w["zero"].toInt(), 241);
    QCOMPARE(w["max"].toDouble(), 15.0);
    QCOMPARE(w["filters"]["zero"].toArray(), (QJsonArray{15}));
    QCOMPARE(w["quartiles"].toArray(), (QJsonArray{4.5, 8, 11.5}));
    QCOMPARE(b["nan"].toInt(), 1);
    QCOMPARE(b["min"].toDouble(), 1.0);
    QVERIFY(b["filters"].isNull());
    QVERIFY(json["layers"]["layers"].toArray().size() >= 1);
    int binned = 0;
    for (const QJsonValue& count : w["histogram"]["counts"].toArray()) binned += count.toInt();
    QCOMPARE(binned, 256);
}

void TestWeightsVerb::textIsSorted() {
    const Outcome plain = runSonde({"weights", m_model});
    QCOMPARE(plain.status, 0);
    const QStringList lines = plain.out.split('\n');
    QVERIFY(lines[0].startsWith("Name"));
    QVERIFY(lines[1].startsWith("w ") && lines[2].startsWith("b "));
    QVERIFY(lines[3].startsWith("272 parameters in 2 tensors"));
    const QStringList sorted = runSonde({"weights", m_model, "--sort", "bad"}).out.split('\n');
    QVERIFY(sorted[1].startsWith("b ") && sorted[2].startsWith("w "));
}

void TestWeightsVerb::singularValuesOnDemand() {
    const Outcome outcome = runSonde({"weights", m_model, "--json", "--svd", "w"});
    QCOMPARE(outcome.status, 0);
    const QJsonObject spectrum = QJsonDocument::fromJson(outcome.out.toUtf8())["spectra"][0].toObject();
    QCOMPARE(spectrum["method"].toString(), QString("svd"));
    const QJsonArray values = spectrum["singular_values"].toArray();
    QCOMPARE(values.size(), 16);
    for (int i = 0; i < 16; ++i) QVERIFY(std::abs(values[i].toDouble() - (15 - i)) < 1e-9);
    QCOMPARE(spectrum["numerical_rank"].toInt(), 15);
    // exp(−Σ p·ln p) of p = 1/120 … 15/120, in Python.
    QVERIFY2(std::abs(spectrum["effective_rank"].toDouble() - 12.73352075581783) < 1e-9,
             QByteArray::number(spectrum["effective_rank"].toDouble()).constData());
    QVERIFY(std::abs(spectrum["stable_rank"].toDouble() - 1240.0 / 225) < 1e-9);
}

void TestWeightsVerb::whatHasNoneIsToldAfterTheOthers() {
    const QString path = m_folder.filePath(QStringLiteral("bad.onnx"));
    Floats bad(256, 1);
    bad[7] = NAN;
    QVERIFY(write(
        path, onnxfile::model({.nodes = {{"MatMul", {"x", "w"}, {"h"}}, {"MatMul", {"h", "v"}, {"y"}}},
                               .inputs = {valueInfo("x", kFloat, {1, 16})},
                               .outputs = {valueInfo("y", kFloat, {1, 16})},
                               .initializers = {floats("w", {16, 16}, bad), floats("v", {16, 16}, Floats(256, 1))}})));
    const Outcome outcome = runSonde({"weights", path, "--json", "--svd", "w", "--svd", "v"});
    QCOMPARE(outcome.status, 4);
    QVERIFY2(outcome.err.contains(QStringLiteral("no singular values (w)")), qPrintable(outcome.err));
    const QJsonObject json = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QCOMPARE(json["weights"].toArray().size(), 2);
    QCOMPARE(json["spectra"].toArray().size(), 1);
    QCOMPARE(json["spectra"][0]["name"].toString(), QString("v"));
}

void TestWeightsVerb::wrongOnesAreOneLine_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("error");
    QTest::newRow("no such weight") << QStringList{m_model, "--svd", "v"} << 2
                                    << "sonde: error: the model has no such parameter or buffer (v)";
    QTest::newRow("a vector") << QStringList{m_model, "--svd", "b"} << 2 << "(b)";
    QTest::newRow("no such column") << QStringList{m_model, "--sort", "nothing"} << 2 << "--sort";
    QTest::newRow("no such file") << QStringList{m_folder.filePath("none.onnx")} << 3 << "none.onnx";
}

void TestWeightsVerb::wrongOnesAreOneLine() {
    QFETCH(QStringList, arguments);
    QFETCH(int, status);
    QFETCH(QString, error);
    const Outcome outcome = runSonde(QStringList{"weights"} + arguments);
    QCOMPARE(outcome.status, status);
    QVERIFY2(outcome.err.contains(error), qPrintable(outcome.err));
    QVERIFY(outcome.out.isEmpty());
}

void TestWeightsVerb::helpHasKeysAndAnExample() {
    const Outcome outcome = runSonde({"weights", "--help"});
    QCOMPARE(outcome.status, 0);
    for (const char* text : {"duplicate-filters", "Roy and Vetterli", "sonde weights model.onnx"})
        QVERIFY2(outcome.out.contains(QLatin1String(text)), text);
}

QTEST_GUILESS_MAIN(TestWeightsVerb)

}  // namespace tst_weights_verb

#include "tst_weights_verb.moc"
