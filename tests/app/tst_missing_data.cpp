// A model whose external data files are missing: what needs no values is told, with all that is missing; what needs
// them refuses by name.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_missing_data {

using namespace sonde::test;
using namespace sonde::test::onnxfile;

namespace {

constexpr int kFloat = 1;

/// y = (x·w + b)·v; w and b are in first.bin, v is in deep/second.bin, and nothing reads `spare`, which is there too.
std::string layers(std::int64_t batch = 1) {
    return model({.nodes = {{"MatMul", {"x", "w"}, {"m"}}, {"Add", {"m", "b"}, {"h"}}, {"MatMul", {"h", "v"}, {"y"}}},
                  .inputs = {valueInfo("x", kFloat, {batch, 4})},
                  .outputs = {valueInfo("y", kFloat, {batch, 8})},
                  .initializers = {externalTensor("w", {4, 4}, {{"location", "first.bin"}, {"length", "64"}}),
                                   externalTensor("v", {4, 8}, {{"location", "deep/second.bin"}, {"length", "128"}}),
                                   externalTensor("b", {4}, {{"location", "first.bin"}, {"offset", "64"}}),
                                   externalTensor("spare", {2}, {{"location", "deep/second.bin"}, {"length", "8"}})}});
}

}  // namespace

class TestMissingData : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init();
    void infoListsAllOfThem();
    void infoReadsAsText();
    void infoForAnInputNeedsNone();
    void findingsTellWhatWasNotChecked();
    void reportSaysIt();
    void graphIsShown();
    void whatNeedsValuesRefuses_data();
    void whatNeedsValuesRefuses();
    void passesKeepWhatIsMissing();
    void filesMayComeLater();

  private:
    QString path(const QString& name) const { return m_folder->filePath(name); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestMissingData::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(write(path("m.onnx"), layers()));
}

void TestMissingData::infoListsAllOfThem() {
    const Outcome info = runSonde({"info", path("m.onnx"), "--json"});
    QCOMPARE(info.status, 0);
    const QJsonObject json = QJsonDocument::fromJson(info.out.toUtf8()).object();
    const QJsonArray missing = json["file"]["missing"].toArray();
    QCOMPARE(missing.size(), 2);
    QCOMPARE(missing[0]["path"].toString(), QStringLiteral("first.bin"));
    QCOMPARE(missing[0]["tensors"].toArray(), (QJsonArray{"w", "b"}));
    QCOMPARE(missing[0]["bytes"].toInt(), 4 * (16 + 4));
    QVERIFY(missing[0]["reason"].toString().contains("no such file"));
    QCOMPARE(missing[1]["path"].toString(), QStringLiteral("deep/second.bin"));
    QCOMPARE(missing[1]["tensors"].toArray(), (QJsonArray{"v", "spare"}));
    QCOMPARE(json["file"]["external"].toArray(), QJsonArray());
    // What shapes tell; `spare`, which nothing reads, is not known to be a weight.
    QCOMPARE(json["parameters"].toInt(), 16 + 4 + 32);
    QCOMPARE(json["parameter_bytes"].toInt(), 4 * (16 + 4 + 32));
    QCOMPARE(json["macs"].toInt(), 16 + 32);
    QCOMPARE(json["operators"].toObject(), (QJsonObject{{"Add", 1}, {"MatMul", 2}}));
}

void TestMissingData::infoReadsAsText() {
    const Outcome info = runSonde({"info", path("m.onnx")});
    QCOMPARE(info.status, 0);
    for (const char* text : {"first.bin", "'w', 'b'", "deep/second.bin", "'v', 'spare'"})
        QVERIFY2(info.out.contains(QLatin1String(text)), text);
    for (const char* file : {"'first.bin' cannot be opened", "'deep/second.bin' cannot be opened"})
        QVERIFY2(info.err.contains(QLatin1String(file)), qPrintable(info.err));
}

void TestMissingData::infoForAnInputNeedsNone() {
    const Outcome info = runSonde({"info", path("m.onnx"), "--input-data", "#rand(0,1)", "--json"});
    QCOMPARE(info.status, 0);
    QCOMPARE(QJsonDocument::fromJson(info.out.toUtf8())["macs"].toInt(), 16 + 32);
    // What the file leaves open is that of the input, behind weights that are missing too: 2 · (16 + 32).
    QVERIFY(write(path("open.onnx"), layers(-1)));
    const Outcome two = runSonde({"info", path("open.onnx"), "--input-data", "x:#rand(0,1,2,4)", "--json"});
    QCOMPARE(two.status, 0);
    QCOMPARE(QJsonDocument::fromJson(two.out.toUtf8())["macs"].toInt(), 2 * (16 + 32));
}

void TestMissingData::findingsTellWhatWasNotChecked() {
    const Outcome found = runSonde({"findings", path("m.onnx"), "--input-data", "#rand(0,1)", "--json"});
    QCOMPARE(found.status, 0);
    const QJsonArray findings = QJsonDocument::fromJson(found.out.toUtf8())["findings"].toArray();
    const bool isUnusedFound = std::ranges::any_of(findings, [](const QJsonValue& one) {
        return one["id"].toString() == "unused-parameter" && one["nodes"].toArray().contains("spare");
    });
    QVERIFY2(isUnusedFound, qPrintable(found.out));
    QVERIFY2(found.err.contains("the values of 2 tensors: 'w', 'b' were not checked"), qPrintable(found.err));
    QVERIFY2(found.err.contains("was not run, so that its values were not checked: the data file 'first.bin'"),
             qPrintable(found.err));
}

void TestMissingData::reportSaysIt() {
    const Outcome report = runSonde({"report", path("m.onnx"), "-o", path("r.html")});
    QCOMPARE(report.status, 0);
    QFile file(path("r.html"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString html = QString::fromUtf8(file.readAll());
    for (const char* text : {"missing file", "first.bin", "deep/second.bin", "The model was not run"})
        QVERIFY2(html.contains(QLatin1String(text)), text);
}

void TestMissingData::graphIsShown() {
    const Outcome trace = runSonde({"trace", path("m.onnx"), "--format", "json"});
    QCOMPARE(trace.status, 0);
    QVERIFY(QJsonDocument::fromJson(trace.out.toUtf8())["nodes"].toArray().size() >= 3);
    QCOMPARE(runSonde({"render", path("m.onnx"), "-o", path("m.svg")}).status, 0);
}

void TestMissingData::whatNeedsValuesRefuses_data() {
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const char* name, QStringList after) { QTest::newRow(name) << (QStringList{name} + after); };
    row("run", {"MODEL"});
    row("check", {"MODEL", "values.npz"});
    row("bench", {"MODEL"});
    row("profile", {"MODEL"});
    row("weights", {"MODEL"});
    row("problems", {"MODEL"});
    row("save", {"MODEL", "-o", "out.onnx"});
    row("dump", {"MODEL", "-o", "out.mgb"});
    row("diff", {"MODEL", "MODEL"});
    row("sweep", {"MODEL", "."});
    row("cut", {"MODEL", "--to", "h", "-o", "out.onnx"});
    row("debug", {"MODEL"});
    row("gradient", {"MODEL"});
    row("load-and-run", {"MODEL"});
}

void TestMissingData::whatNeedsValuesRefuses() {
    QFETCH(QStringList, arguments);
    for (QString& argument : arguments)
        if (argument == "MODEL") argument = path("m.onnx");
        else if (argument.contains('.')) argument = path(argument);
    const Outcome outcome = runSonde(arguments);
    QVERIFY2(outcome.status == 3, qPrintable(QString::number(outcome.status) + outcome.err));
    const QStringList lines = outcome.err.trimmed().split('\n');
    QVERIFY2(lines.size() == 2 && lines[0].startsWith("sonde: error: the data file 'first.bin' cannot be opened") &&
                 lines[0].contains("nor can 1 other") && lines[0].contains("2 tensors: 'w'") &&
                 lines[1].startsWith("hint: put the data files"),
             qPrintable(outcome.err));
}

void TestMissingData::passesKeepWhatIsMissing() {
    QCOMPARE(runSonde({"run", path("m.onnx"), "--pass", "fold-constant"}).status, 3);
    const Outcome info = runSonde({"info", path("m.onnx"), "--pass", "fold-constant", "--json"});
    QCOMPARE(info.status, 0);
    QCOMPARE(QJsonDocument::fromJson(info.out.toUtf8())["file"]["missing"].toArray().size(), 2);
}

void TestMissingData::filesMayComeLater() {
    QVERIFY(QDir(m_folder->path()).mkpath("deep"));
    QVERIFY(write(path("first.bin"), std::string(80, '\0')));
    QVERIFY(write(path("deep/second.bin"), std::string(128, '\0')));
    const Outcome run = runSonde({"run", path("m.onnx")});
    QVERIFY2(run.status == 0, qPrintable(run.err));
    QVERIFY(QFile::remove(path("first.bin")));
    const QJsonObject json =
        QJsonDocument::fromJson(runSonde({"info", path("m.onnx"), "--json"}).out.toUtf8()).object();
    QCOMPARE(json["file"]["missing"].toArray().size(), 1);
    QCOMPARE(json["file"]["external"].toArray().size(), 1);
}

QTEST_GUILESS_MAIN(TestMissingData)

}  // namespace tst_missing_data

#include "tst_missing_data.moc"
