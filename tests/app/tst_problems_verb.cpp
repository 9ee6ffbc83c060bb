// `sonde problems`: the real program on generated networks with one fault each, its exit status, and what it writes.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/planted_networks.h"
#include "tests/support/run_sonde.h"

namespace tst_problems_verb {

using namespace sonde;
using namespace sonde::test;

class TestProblemsVerb : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theFirstRowIsTheFault_data() {
        QTest::addColumn<int>("index");
        for (int i = 0; i < kPlantedCount; ++i) QTest::addRow("%d, %s", i, nameOf(PlantedNetwork(i).fault())) << i;
    }
    void theFirstRowIsTheFault();
    void everyCaseOfAReferenceIsCompared();
    void aCaseWithOutputsAloneAddsNoOrigin();
    void junitHasACaseForEachProblem();
    void errorsAreOneLine_data();
    void errorsAreOneLine();

  private:
    QString path(const char* name) { return m_files.filePath(QLatin1String(name)); }
    QTemporaryDir m_files;
};

void TestProblemsVerb::theFirstRowIsTheFault() {
    QFETCH(int, index);
    PlantedNetwork network(index);
    QVERIFY(onnxfile::write(path("right.onnx"), network.model(false)));
    QVERIFY(onnxfile::write(path("wrong.onnx"), network.model(true)));
    session::Session session;
    QVERIFY(session.open(path("right.onnx").toStdString()));
    QVERIFY(io::writeNpz(path("reference.npz").toStdString(), network.reference(session)));
    const std::vector<io::NamedTensor> given{{"in.x", network.given()}};
    QVERIFY(io::writeNpz(path("given.npz").toStdString(), given));

    QStringList arguments{"problems", path("wrong.onnx"), "--json"};
    if (network.needsReference()) arguments << path("reference.npz");
    if (network.isInInput() || !network.needsReference()) arguments << "--input-data" << path("given.npz");
    const Outcome outcome = runSonde(arguments);
    QVERIFY2(outcome.err.isEmpty(), qPrintable(outcome.err));
    const QJsonObject object = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QCOMPARE(object.value("format").toString(), QStringLiteral("sonde-problems"));
    const QJsonObject first = object.value("problems").toArray().first().toObject();
    QCOMPARE(first.value("node").toString(), QString::fromStdString(network.faultyNode()));
    QCOMPARE(first.value("role").toString(), QStringLiteral("origin"));
    QCOMPARE(outcome.status, first.value("severity") == QStringLiteral("error") ? 1 : 0);
    for (const char* key : {"kind", "message", "advice", "operator"})
        QVERIFY2(!first.value(QLatin1String(key)).toString().isEmpty(), key);

    const Outcome right = runSonde({"problems", path("right.onnx"), path("reference.npz")});
    QCOMPARE(right.out, QStringLiteral("0 problems, errors: 0\n"));
    QCOMPARE(right.status, 0);
}

/// x ↦ −x; case1 of the reference says otherwise.
void TestProblemsVerb::everyCaseOfAReferenceIsCompared() {
    onnxfile::Graph graph;
    graph.nodes = {{"Neg", {"x"}, {"y"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {2})};
    QVERIFY(onnxfile::write(path("neg.onnx"), onnxfile::model(graph)));
    const auto row = [](float a, float b) { return tensor::Tensor::of<float>({2}, {a, b}); };
    const std::vector<io::NamedTensor> arrays{
        {"in.x", row(1, 2)}, {"out.y", row(-1, -2)}, {"case1.in.x", row(3, 4)}, {"case1.out.y", row(-3, 4.5F)}};
    QVERIFY(io::writeNpz(path("cases.npz").toStdString(), arrays));
    const Outcome outcome = runSonde({"problems", path("neg.onnx"), path("cases.npz")});
    QCOMPARE(outcome.status, 1);
    QVERIFY2(outcome.out.contains(QStringLiteral("differs from the reference by up to 8.5")) &&
                 outcome.out.contains(QStringLiteral("(in case1)")),
             qPrintable(outcome.out));
    QCOMPARE(runSonde({"problems", path("neg.onnx"), path("cases.npz"), "--atol", "9"}).status, 0);
}

/// x ↦ −x ↦ |−x| ↦ 2|−x|, wrong in the second step: the reference has x + 1 there. Of case1 it has the output alone,
/// which could come from any of three operations.
void TestProblemsVerb::aCaseWithOutputsAloneAddsNoOrigin() {
    onnxfile::Graph graph;
    graph.nodes = {{"Neg", {"x"}, {"a"}}, {"Abs", {"a"}, {"b"}}, {"Add", {"b", "b"}, {"y"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {2})};
    QVERIFY(onnxfile::write(path("chain.onnx"), onnxfile::model(graph)));
    const auto row = [](float a, float b) { return tensor::Tensor::of<float>({2}, {a, b}); };
    const std::vector<io::NamedTensor> arrays{{"in.x", row(1, 2)},       {"node.a", row(-1, -2)},
                                              {"node.b", row(2, 3)},     {"out.y", row(4, 6)},
                                              {"case1.in.x", row(5, 6)}, {"case1.out.y", row(12, 14)}};
    QVERIFY(io::writeNpz(path("chain.npz").toStdString(), arrays));
    const Outcome outcome = runSonde({"problems", path("chain.onnx"), path("chain.npz"), "--json"});
    QCOMPARE(outcome.status, 1);
    const QJsonArray problems = QJsonDocument::fromJson(outcome.out.toUtf8()).object().value("problems").toArray();
    QStringList origins, carriers;
    for (const QJsonValue value : problems) {
        const QJsonObject problem = value.toObject();
        (problem.value("role") == QStringLiteral("origin") ? origins : carriers) << problem.value("node").toString();
    }
    QCOMPARE(origins, QStringList{"b"});
    QCOMPARE(carriers, QStringList{"y"});
}

void TestProblemsVerb::junitHasACaseForEachProblem() {
    const QString model = QStringLiteral(SONDE_TEST_DATA "/capture/shared.broken.pt");
    const QString reference = QStringLiteral(SONDE_TEST_DATA "/capture/shared.npz");
    const Outcome outcome = runSonde({"problems", model, reference, "--junit", path("report.xml")});
    QCOMPARE(outcome.status, 1);
    QVERIFY2(outcome.out.startsWith(QStringLiteral("error    divergence  origin   first_fc2  first.fc2 (")),
             qPrintable(outcome.out));
    QFile file(path("report.xml"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString xml = QString::fromUtf8(file.readAll());
    QCOMPARE(xml.count(QStringLiteral("<testcase ")), outcome.out.count(u'\n') - 1);
    QCOMPARE(xml.count(QStringLiteral("<failure type=\"divergence\"")), 1);
}

void TestProblemsVerb::errorsAreOneLine_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("status");
    const QString model = QStringLiteral(SONDE_TEST_DATA "/capture/shared.pt");
    const QString reference = QStringLiteral(SONDE_TEST_DATA "/capture/shared.npz");
    QTest::newRow("no such reference") << QStringList{model, "/no/such.npz"} << 3;
    QTest::newRow("over the reference") << QStringList{model, reference, "--junit", reference} << 2;
    QTest::newRow("no folder") << QStringList{model, reference, "--junit", "/no/such/folder/report.xml"} << 4;
    // NaN is within no tolerance, and everything would be within infinity.
    for (const char* option : {"--rtol", "--atol"})
        for (const char* value : {"nan", "inf", "1e999", "-1", "x"})
            QTest::addRow("%s %s", option, value) << QStringList{model, reference, option, value} << 2;
}
void TestProblemsVerb::errorsAreOneLine() {
    QFETCH(QStringList, arguments);
    QFETCH(int, status);
    const Outcome outcome = runSonde(QStringList{"problems"} + arguments);
    QCOMPARE(outcome.status, status);
    QVERIFY2(outcome.err.contains(QStringLiteral("sonde: error: ")), qPrintable(outcome.err));
}

QTEST_GUILESS_MAIN(TestProblemsVerb)

}  // namespace tst_problems_verb

#include "tst_problems_verb.moc"
