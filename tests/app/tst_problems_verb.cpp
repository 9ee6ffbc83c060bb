// `sonde problems`: the real program on generated networks with one fault each, its exit status, and what it writes.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "core/session/problem_search.h"
#include "tests/support/planted_networks.h"
#include "tests/support/run_sonde.h"

namespace tst_problems_verb {

using namespace sonde;
using namespace sonde::test;

QString sharedModel() { return QStringLiteral(SONDE_TEST_DATA "/capture/shared.pt"); }

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
    void aContradictionOfTheReferenceIsTold_data();
    void aContradictionOfTheReferenceIsTold();
    void whatCheckFailsIsAnError();
    void insidesOfModulesAreCompared();
    void junitHasACaseForEachProblem();
    void errorsAreOneLine_data();
    void errorsAreOneLine();

  private:
    QString path(const char* name) { return m_files.filePath(QLatin1String(name)); }
    /// All values of a run of shared.pt, those of some keys doubled and moved by 1; in scaled.npz.
    void writeScaled(const QStringList& scaled, const QStringList& only = {});
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

void TestProblemsVerb::writeScaled(const QStringList& scaled, const QStringList& only) {
    if (!QFile::exists(path("all.npz")))
        QCOMPARE(
            runSonde({"run", sharedModel(), "--input-data", "#rand(0,1,1,6)", "--watch-all", "--out", path("all.npz")})
                .status,
            0);
    const auto file = io::NpzFile::open(path("all.npz").toStdString());
    QVERIFY(file);
    std::vector<io::NamedTensor> arrays;
    QStringList found;
    for (const std::string& key : file->keys()) {
        const QString name = QString::fromStdString(key);
        if (!only.isEmpty() && !only.contains(name)) continue;
        auto array = file->read(key);
        QVERIFY(array);
        if (scaled.contains(name)) {
            std::vector<float> values;
            for (std::int64_t i = 0; i < array->numel(); ++i)
                values.push_back(static_cast<float>(2 * array->toDouble(i) + 1));
            array = tensor::Tensor::of<float>(array->shape(), values);
            found << name;
        }
        arrays.emplace_back(key, *array);
    }
    QCOMPARE(found.size(), scaled.size());
    QVERIFY(io::writeNpz(path("scaled.npz").toStdString(), arrays));
}

void TestProblemsVerb::aContradictionOfTheReferenceIsTold_data() {
    QTest::addColumn<QString>("scaled");
    QTest::addColumn<QString>("keys");
    QTest::addColumn<bool>("isHandedOn");
    QTest::newRow("output") << "out.out"
                            << "out.out and node.flatten" << false;
    QTest::newRow("call") << "node.first_fc2"
                          << "node.first_fc2 and node.first_fc2/linear" << false;
    QTest::newRow("inside of a call") << "node.first_fc2/linear"
                                      << "node.first_fc2/linear and node.first_fc2" << false;
    QTest::newRow("input") << "in.x"
                           << "node.x and in.x" << true;
    QTest::newRow("node of an input") << "node.x"
                                      << "node.x and in.x" << false;
}
/// The model's value is right under one name of the reference, and not under another.
void TestProblemsVerb::aContradictionOfTheReferenceIsTold() {
    QFETCH(QString, scaled);
    QFETCH(QString, keys);
    QFETCH(bool, isHandedOn);
    writeScaled({scaled});
    QCOMPARE(runSonde({"check", sharedModel(), path("scaled.npz")}).status, 1);
    const Outcome outcome = runSonde({"problems", sharedModel(), path("scaled.npz"), "--json"});
    QCOMPARE(outcome.status, 1);
    const QJsonArray problems = QJsonDocument::fromJson(outcome.out.toUtf8()).object().value("problems").toArray();
    QVERIFY(!problems.isEmpty());
    const QJsonObject first = problems.first().toObject();
    QCOMPARE(first.value("role").toString(), QStringLiteral("origin"));
    QCOMPARE(first.value("severity").toString(), QStringLiteral("error"));
    const QString message = first.value("message").toString();
    QVERIFY2(message.startsWith("the reference contradicts itself: " + keys + " are the same value of the model; "),
             qPrintable(message));
    QCOMPARE(problems.size() > 1, isHandedOn);
    for (const QJsonValue other : problems)
        if (other != problems.first()) QCOMPARE(other.toObject().value("role").toString(), QStringLiteral("carrier"));
}

/// Whichever key of the reference is another value; every second one with the output, so that names count as well.
void TestProblemsVerb::whatCheckFailsIsAnError() {
    writeScaled({});
    const auto file = io::NpzFile::open(path("all.npz").toStdString());
    QVERIFY(file);
    session::Session session;
    QVERIFY(session.open(sharedModel().toStdString()));
    const std::string reference = path("scaled.npz").toStdString();
    std::size_t failed = 0;
    for (std::size_t i = 0; i < file->keys().size(); ++i) {
        const QString key = QString::fromStdString(file->keys()[i]);
        QStringList scaled{key};
        if (i % 2 == 1 && key != QStringLiteral("out.out")) scaled << QStringLiteral("out.out");
        writeScaled(scaled);
        const auto compared = session.check(reference);
        const auto report = session::findAllProblems(session, {{}, reference});
        QVERIFY(compared && report);
        const bool isOk = std::ranges::all_of(compared->cases, &analysis::ComparedCase::ok);
        QVERIFY2((report->errorCount() == 0) == isOk, qPrintable(scaled.join(u' ')));
        failed += isOk ? 0 : 1;
    }
    QVERIFY(failed > file->keys().size() / 2);
}

/// An operation inside of a called module has a name of its own: its value counts also where all outputs are right.
void TestProblemsVerb::insidesOfModulesAreCompared() {
    const QString key = QStringLiteral("node.first_fc2/linear");
    for (const QStringList& others : {QStringList{"in.x"}, QStringList{"in.x", "out.out"}}) {
        writeScaled({key}, others + QStringList{key});
        const Outcome outcome = runSonde({"check", sharedModel(), path("scaled.npz")});
        QCOMPARE(outcome.status, 1);
        QVERIFY2(outcome.out.contains(QStringLiteral("first diverging node: first_fc2/linear")),
                 qPrintable(outcome.out));
    }
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
