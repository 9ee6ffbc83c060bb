// What every verb keeps to: where errors say that they are, what JSON begins with, numbers that JSON has no form for,
// files that are written, and what a session file brings with it.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>

#include "core/io/npz/npz.h"
#include "core/session/session.h"
#include "core/session/session_state.h"
#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_contract {

using namespace sonde;
using namespace test::onnxfile;
using tensor::Tensor;
using test::Outcome;
using test::runSonde;

namespace {

constexpr int kFloat = 1;

QJsonObject jsonOf(const Outcome& outcome) { return QJsonDocument::fromJson(outcome.out.toUtf8()).object(); }

/// y = −|x|, with a blank in the name of |x|.
std::string withBlank(std::int64_t version = 16) {
    return model({.nodes = {{"Abs", {"x"}, {"size of x"}}, {"Neg", {"size of x"}, {"y"}}},
                  .inputs = {valueInfo("x", kFloat, {2})},
                  .outputs = {valueInfo("y", kFloat, {2})}},
                 {}, {opset("", version)});
}

/// Module b returns h and t, which are x + x and h · x; y = h − t.
std::string twoResults() {
    return model({.nodes = {{"Add", {"x", "x"}, {"h"}, "/b/Add"},
                            {"Mul", {"h", "x"}, {"t"}, "/b/Mul"},
                            {"Sub", {"h", "t"}, {"y"}, "/Sub"}},
                  .inputs = {valueInfo("x", kFloat, {2})},
                  .outputs = {valueInfo("y", kFloat, {2}), valueInfo("h", kFloat, {2})}});
}

}  // namespace

class TestContract : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QVERIFY(write(path("blank.onnx"), withBlank()));
        QVERIFY(write(path("old.onnx"), withBlank(9)));
        QVERIFY(write(path("two.onnx"), twoResults()));
    }

    void errorsNameAPlace_data();
    void errorsNameAPlace();
    void standardOutputIsNoFile_data();
    void standardOutputIsNoFile();
    void modulesMeanAllThatTheyReturn();
    void namesMayHaveBlanks();
    void sweepsTakeThePointsOfASession();
    void benchesNameTheirFormat();
    void findingsNameNodesOnly();
    void costsAreToldOfOpenRanks();
    void infinityIsAText();
    void customTracesKnowTheirParameters();
    void sessionsKeepNoNamesThatAreNoText();

  private:
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

void TestContract::errorsNameAPlace_data() {
    QTest::addColumn<QStringList>("command");
    QTest::newRow("unknown option") << QStringList{"run", "zoo:seed", "--nope"};
    QTest::newRow("missing model") << QStringList{"run"};
    QTest::newRow("no file") << QStringList{"info", path("nope.onnx")};
    QTest::newRow("depth") << QStringList{"render", "zoo:seed", "-o", path("x.svg"), "--depth", "-1"};
    if (runSonde({"--help"}).out.contains("\n  window "))
        QTest::newRow("window without anything to do") << QStringList{"window", "zoo:seed"};
}

/// "sonde: error: WHAT (WHERE)".
void TestContract::errorsNameAPlace() {
    QFETCH(QStringList, command);
    const Outcome outcome = runSonde(command);
    QVERIFY2(outcome.status == 2 || outcome.status == 3, qPrintable(outcome.err));
    static const QRegularExpression form("^sonde: error: [^\n]+ \\([^\n]+\\)\n(hint: [^\n]+\n)?$");
    QVERIFY2(form.match(outcome.err).hasMatch(), qPrintable(outcome.err));
}

void TestContract::standardOutputIsNoFile_data() {
    QTest::addColumn<QStringList>("command");
    QTest::newRow("run") << QStringList{"run", "zoo:seed", "--out", "-"};
    QTest::newRow("profile") << QStringList{"run", "zoo:seed", "--profile", "-"};
    QTest::newRow("save") << QStringList{"save", "zoo:seed", "-o", "-"};
    QTest::newRow("cut") << QStringList{"cut", "zoo:seed", "--to", "add", "-o", "-"};
    QTest::newRow("junit") << QStringList{"problems", "zoo:seed", "--junit", "-"};
}

/// Nothing of that name is written; a dump goes to standard output.
void TestContract::standardOutputIsNoFile() {
    QFETCH(QStringList, command);
    const QTemporaryDir folder;
    QProcess process;
    process.setWorkingDirectory(folder.path());
    process.start(test::sondeProgram(), command);
    QVERIFY(process.waitForFinished(60'000));
    const QByteArray told = process.readAllStandardError();
    QVERIFY2(process.exitCode() == 2 && told.contains(" -)"), told.constData());
    QVERIFY(!QFile::exists(folder.filePath("-")));
}

void TestContract::modulesMeanAllThatTheyReturn() {
    const auto kept = [this](const QStringList& options) {
        const Outcome outcome =
            runSonde(QStringList{"run", path("two.onnx"), "--input-data", "[1,2]", "--out", path("two.npz")} + options);
        QStringList keys;
        const auto values = io::NpzFile::open(path("two.npz").toStdString());
        if (outcome.status == 0 && values)
            for (const std::string& key : values->keys())
                if (key.starts_with("node.")) keys << QString::fromStdString(key);
        keys.sort();
        return keys;
    };
    QCOMPARE(kept({"--watch", "b:"}), (QStringList{"node.h", "node.t"}));
    QCOMPARE(kept({"--end", "b:"}), (QStringList{"node.h", "node.t"}));
    QCOMPARE(kept({"--watch", ":"}), (QStringList{"node.h", "node.y"}));
    QCOMPARE(kept({"--watch", "t"}), QStringList{"node.t"});
}

/// Commands of the debugger take the name of a node as it is.
void TestContract::namesMayHaveBlanks() {
    QVERIFY(write(path("steps.txt"),
                  "watch size of x\nbreak size of x if max(x) > 1\nto size of x back\n"
                  "watch `size of x`\nstats size of y\nend size of x\nrun\nstats size of x\n"));
    const Outcome outcome =
        runSonde({"debug", path("blank.onnx"), "--input-data", "[3,-4]", "--script", path("steps.txt")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QStringList lines = outcome.out.split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 8);
    QVERIFY2(lines[0].contains(R"("watches":["size of x"])"), qPrintable(lines[0]));
    QVERIFY2(lines[1].contains(R"("at":"size of x")") && lines[1].contains("max(x) > 1"), qPrintable(lines[1]));
    QVERIFY2(lines[2].contains("'size of x' was not computed before"), qPrintable(lines[2]));
    for (const int i : {3, 5, 6, 7}) QVERIFY2(!lines[i].contains("\"error\""), qPrintable(lines[i]));
    QVERIFY2(lines[4].contains("there is no node 'size'"), qPrintable(lines[4]));
    QVERIFY2(lines[7].contains(R"("max":4)"), qPrintable(lines[7]));
}

void TestContract::sweepsTakeThePointsOfASession() {
    QVERIFY(write(path("points.txt"), "watch size of x\nsave " + path("points.sonde").toStdString() + "\n"));
    QVERIFY(runSonde({"debug", path("blank.onnx"), "--script", path("points.txt")}).status == 0);
    QVERIFY(io::writeNpz(path("cases.npz").toStdString(),
                         std::vector<io::NamedTensor>{{"in.x", Tensor::of<float>({2}, {3, -4})}}));
    const auto title = [this](const QStringList& options) {
        const Outcome outcome = runSonde(QStringList{"sweep", path("points.sonde"), path("cases.npz")} + options);
        return outcome.status == 0 ? outcome.out.section(u'\n', 0, 0) : outcome.err;
    };
    QVERIFY2(title({}).contains("size of x.max") && !title({}).contains("y.max"), qPrintable(title({})));
    QVERIFY2(title({"--watch", "y"}).contains("y.max") && !title({"--watch", "y"}).contains("size of x.max"),
             qPrintable(title({"--watch", "y"})));
}

void TestContract::benchesNameTheirFormat() {
    const Outcome outcome = runSonde({"bench", "zoo:seed", "--repeat", "2", "--json"});
    const QJsonObject bench = jsonOf(outcome);
    QCOMPARE(bench["format"].toString(), QStringLiteral("sonde-bench"));
    QCOMPARE(bench["version"].toInt(), 1);
    QVERIFY(outcome.out.startsWith("{\n  \"format\""));
}

/// A finding about the whole file has no nodes.
void TestContract::findingsNameNodesOnly() {
    const QJsonArray findings = jsonOf(runSonde({"findings", path("old.onnx"), "--json"}))["findings"].toArray();
    bool isFound = false;
    for (const QJsonValue finding : findings) {
        if (finding["id"].toString() != u"old-opset") continue;
        isFound = true;
        QVERIFY(finding["nodes"].isArray() && finding["nodes"].toArray().isEmpty());
        QVERIFY(finding["message"].toString().contains("opset 9"));
    }
    QVERIFY(isFound);
}

/// Nothing says the rank of the input: the cost is that of what a run takes, [1,12] in five layers of 12 by 12. Where a
/// run on its own input fails, it stays unknown.
void TestContract::costsAreToldOfOpenRanks() {
    const QString model = QStringLiteral(SONDE_TEST_DATA "/models/shared_twice.trace.pt");
    const QJsonObject info = jsonOf(runSonde({"info", model, "--json"}));
    QCOMPARE(info["macs"].toInt(), 5 * 12 * 12);
    QCOMPARE(info["cost"]["for"].toString(), QStringLiteral("the input that a run takes by itself (x: float32[1,12])"));
    QCOMPARE(jsonOf(runSonde({"info", model, "--json", "--input-data", "#rand(0,1,3,12)"}))["macs"].toInt(),
             3 * 5 * 12 * 12);
    const auto open = [](const std::string& name) {
        std::string tensor, type, data;
        protozero::pbf_writer(tensor).add_enum(1, kFloat);
        protozero::pbf_writer(type).add_message(1, tensor);
        protozero::pbf_writer writer(data);
        writer.add_string(1, name);
        writer.add_message(2, type);
        return data;
    };
    const std::string weight(3 * 4 * sizeof(float), '\0');
    QVERIFY(
        write(path("open.onnx"), test::onnxfile::model({.nodes = {{"MatMul", {"x", "w"}, {"y"}}},
                                                        .inputs = {open("x")},
                                                        .outputs = {open("y")},
                                                        .initializers = {rawTensor("w", kFloat, {3, 4}, weight)}})));
    const QJsonObject unknown = jsonOf(runSonde({"info", path("open.onnx"), "--json"}));
    QVERIFY(unknown["macs"].isNull());
    QCOMPARE(unknown["cost"]["for"].toString(), QStringLiteral("what can be told without the sizes of x"));
}

/// y = 1 / x and 1 / (x + x) at 0 against 0.5: bisect says how far they are apart in words that JSON has.
void TestContract::infinityIsAText() {
    const auto inverse = [](const char* by) {
        return model({.nodes = {{"Reciprocal", {"x"}, {"r"}}, {by, {"r"}, {"y"}}},
                      .inputs = {valueInfo("x", kFloat, {2})},
                      .outputs = {valueInfo("y", kFloat, {2})}});
    };
    QVERIFY(write(path("a.onnx"), inverse("Abs")));
    QVERIFY(write(path("b.onnx"), inverse("Tanh")));
    const Outcome outcome = runSonde(
        {"bisect", path("a.onnx"), path("b.onnx"), "--input-data", "[0,2]", "-o", path("piece.onnx"), "--json"});
    const QJsonObject found = jsonOf(outcome);
    QVERIFY2(found["max_abs"].toString() == u"inf", qPrintable(outcome.out + outcome.err));
}

/// custom-trace.md: a name that forward has not is an error; some of the parameters are fixed, as with others.
void TestContract::customTracesKnowTheirParameters() {
    const Outcome unknown = runSonde({"trace", "zoo:flag", "--tracer", "custom", "--concrete", "nope=1"});
    QCOMPARE(unknown.status, 2);
    QVERIFY2(unknown.err.contains("the model has no parameter 'nope' (--concrete nope"), qPrintable(unknown.err));
    const Outcome known = runSonde({"trace", "zoo:flag", "--tracer", "custom", "--concrete", "test_flag=True"});
    QVERIFY2(known.status == 0, qPrintable(known.err));
}

/// A name of bytes opens like any other, and a session refuses it in place of keeping that of another file.
void TestContract::sessionsKeepNoNamesThatAreNoText() {
    const std::string name = path("bad").toStdString() + "\xff.onnx", saved = path("bad.sonde").toStdString();
    std::filesystem::copy_file(path("blank.onnx").toStdString(), name);
    session::Session session;
    QVERIFY(session.open(name).has_value());
    const auto refused = session::saveSession(session, saved);
    QVERIFY(!refused && refused.error().what.find("not UTF-8") != std::string::npos);
    QVERIFY(!std::filesystem::exists(saved));
}

QTEST_GUILESS_MAIN(TestContract)

}  // namespace tst_contract

#include "tst_contract.moc"
