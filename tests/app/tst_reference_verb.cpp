// `sonde reference`: the real program and its helper with a library that stands for ONNX Runtime
// (tests/plugins/fake_ort.cpp): what is written, and that refusals, crashes and endless loops of the library are one
// line each. .ci/ort has the real one.

#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_reference_verb {

using namespace sonde;
using namespace sonde::test;

namespace {

const QString kFake = QStringLiteral(SONDE_BINARY_DIR "/../tests/plugins/fake_ort.so");
const QString kNoRuntime = QStringLiteral(SONDE_BINARY_DIR "/../tests/plugins/no_model.so");

/// Sets SONDE_FAKE_ORT while it is there.
class FakeMode {
  public:
    explicit FakeMode(const QByteArray& mode) { qputenv("SONDE_FAKE_ORT", mode); }
    ~FakeMode() { qunsetenv("SONDE_FAKE_ORT"); }
};

}  // namespace

class TestReferenceVerb : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void everyValueIsWritten();
    void checkTakesIt();
    void timesAreBesideOurs();
    void severalCasesHavePrefixes();
    void modelsOfOtherFormatsAreGivenAsOnnx();
    void failuresAreOneLine_data();
    void failuresAreOneLine();
    void anEndlessRunIsEnded();
    void nothingIsLoadedWithoutConsent();
    void theLibraryIsNotWrittenOver();

  private:
    QString path(const char* name) const { return m_files.filePath(QLatin1String(name)); }
    QStringList arguments(const QStringList& more = {}) const {
        return QStringList{"reference",    path("neg.onnx"), "--ort", kFake,        "--allow-native",
                           "--input-data", path("x.npz"),    "-o",    path("r.npz")} +
               more;
    }
    QTemporaryDir m_files;
};

/// y = −x in one operation, z = −y in another.
void TestReferenceVerb::initTestCase() {
    // An AddressSanitizer in the helper process would make an exit status of a crash.
    qputenv("ASAN_OPTIONS", qgetenv("ASAN_OPTIONS") + ":handle_segv=0");
    onnxfile::Graph graph;
    graph.nodes = {{"Neg", {"x"}, {"y"}, "negate"}, {"Neg", {"y"}, {"z"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("z", 1, {2})};
    QVERIFY(onnxfile::write(path("neg.onnx"), onnxfile::model(graph)));
    const std::vector<io::NamedTensor> arrays{{"in.x", tensor::Tensor::of<float>({2}, {3, -4})}};
    QVERIFY(io::writeNpz(path("x.npz").toStdString(), arrays));
}

void TestReferenceVerb::everyValueIsWritten() {
    const Outcome outcome = runSonde(arguments());
    QCOMPARE(outcome.err, QString());
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.out, QStringLiteral("ONNX Runtime 1.4.9: 4 values of 1 run in %1\n").arg(path("r.npz")));
    const auto file = io::NpzFile::open(path("r.npz").toStdString());
    QVERIFY(file);
    QVERIFY((file->keys() == std::vector<std::string>{"in.x", "node.y", "node.z", "out.z"}));
    const auto y = file->read("node.y"), x = file->read("in.x");
    QVERIFY(y && x);
    QCOMPARE(y->data<float>()[0], -3.0F);
    QCOMPARE(y->data<float>()[1], 4.0F);
    QCOMPARE(x->data<float>()[1], -4.0F);
}

/// The library is wrong about z: it is x again.
void TestReferenceVerb::checkTakesIt() {
    QCOMPARE(runSonde(arguments()).status, 0);
    const Outcome outcome = runSonde({"check", path("neg.onnx"), path("r.npz")});
    QCOMPARE(outcome.status, 1);
    QVERIFY2(outcome.out.contains(QStringLiteral("first diverging node: z")), qPrintable(outcome.out));
}

void TestReferenceVerb::timesAreBesideOurs() {
    const Outcome outcome = runSonde(arguments({"--times", "--json"}));
    QCOMPARE(outcome.status, 0);
    const QJsonObject object = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QCOMPARE(object.value("format").toString(), QStringLiteral("sonde-reference"));
    QCOMPARE(object.value("engine_version").toString(), QStringLiteral("1.4.9"));
    QCOMPARE(object.value("values").toInt(), 4);
    const QJsonArray operations = object.value("operations").toArray();
    QCOMPARE(operations.size(), 1);
    QCOMPARE(operations.first().toObject().value("node").toString(), QStringLiteral("y"));
    QCOMPARE(operations.first().toObject().value("engine_ns").toInt(), 12'500);
    QVERIFY(operations.first().toObject().value("sonde_ns").toInt() > 0);
    const Outcome table = runSonde(arguments({"--times"}));
    QVERIFY2(table.out.contains(QRegularExpression("y +Neg +0\\.0125 +[0-9.]+\n")), qPrintable(table.out));
}

void TestReferenceVerb::severalCasesHavePrefixes() {
    QFile list(path("list.txt"));
    QVERIFY(list.open(QFile::WriteOnly));
    list.write("#rand(0,1)\n#rand(2,3)\n");
    list.close();
    QStringList all = arguments();
    all[6] = QStringLiteral("@") + path("list.txt");
    const Outcome outcome = runSonde(all);
    QCOMPARE(outcome.err, QString());
    QVERIFY2(outcome.out.contains(QStringLiteral("8 values of 2 runs")), qPrintable(outcome.out));
    const auto file = io::NpzFile::open(path("r.npz").toStdString());
    QVERIFY(file);
    const auto first = file->read("out.z"), second = file->read("case1.out.z");
    QVERIFY(first && second);
    QVERIFY(first->data<float>()[0] > -1 && second->data<float>()[0] < -2);
}

/// TorchScript has no ONNX file: the operations that ran are written, and the values have the model's names.
void TestReferenceVerb::modelsOfOtherFormatsAreGivenAsOnnx() {
    const QString model = QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional.trace.pt");
    const Outcome outcome = runSonde({"reference", model, "--ort", kFake, "--allow-native", "-o", path("other.npz")});
    QCOMPARE(outcome.status, 0);
    QVERIFY2(outcome.err.contains(QStringLiteral("values of the ONNX form are no nodes of the model")),
             qPrintable(outcome.err));
    const auto file = io::NpzFile::open(path("other.npz").toStdString());
    QVERIFY(file);
    const Outcome check = runSonde({"check", model, path("other.npz")});
    QCOMPARE(check.status, 1);  // the library computes something else
    QVERIFY2(!check.out.contains(QStringLiteral("not in the model")), qPrintable(check.out));
}

void TestReferenceVerb::failuresAreOneLine_data() {
    QTest::addColumn<QByteArray>("mode");
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("text");
    const QString here = m_files.path();
    QTest::newRow("the model is refused")
        << QByteArray("refuse") << QStringList() << 3
        << "ONNX Runtime 1.4.9 failed while opening the model: no kernel for Frobnicate(1)";
    QTest::newRow("the run fails") << QByteArray("fail") << QStringList() << 4
                                   << "failed while running the model: shapes {2} and {3} do not go together";
    QTest::newRow("it crashes") << QByteArray("crash") << QStringList() << 4
                                << "ONNX Runtime crashed with signal 11 (Segmentation fault) while running the model";
    QTest::newRow("it ends the process") << QByteArray("exit") << QStringList() << 4
                                         << "ended without an answer, with exit status 7 while running the model";
    QTest::newRow("it is too old") << QByteArray("old") << QStringList() << 3
                                   << "this ONNX Runtime (1.4.9) has not the functions of version 1.5 or later";
    QTest::newRow("no such library") << QByteArray() << QStringList{"--ort", here + "/none.so"} << 3
                                     << "the file cannot be opened: No such file or directory";
    QTest::newRow("a library, but another one") << QByteArray() << QStringList{"--ort", kNoRuntime} << 3
                                                << "this is no ONNX Runtime: it does not export OrtGetApiBase";
    QTest::newRow("no library at all") << QByteArray() << QStringList{"--ort", here + "/neg.onnx"} << 3
                                       << "the library cannot be loaded: invalid ELF header";
    QTest::newRow("no engine") << QByteArray() << QStringList{"--ort", ""} << 2 << "no engine is named";
    QTest::newRow("no time") << QByteArray() << QStringList{"--timeout", "0"} << 2 << "--timeout";
    QTest::newRow("it cannot be written")
        << QByteArray() << QStringList{"-o", "/nowhere/r.npz"} << 4 << "/nowhere/r.npz";
}

void TestReferenceVerb::failuresAreOneLine() {
    QFETCH(QByteArray, mode);
    QFETCH(QStringList, more);
    QFETCH(int, status);
    QFETCH(QString, text);
    const FakeMode set(mode);
    QStringList all = arguments();
    for (qsizetype i = 0; i + 1 < more.size(); i += 2) {
        const qsizetype at = all.indexOf(more[i]);
        if (at < 0) all << more[i] << more[i + 1];
        else all[at + 1] = more[i + 1];
    }
    QFile::remove(path("r.npz"));
    const Outcome outcome = runSonde(all);
    QVERIFY2(outcome.err.startsWith(QStringLiteral("sonde: error: ")) && outcome.err.contains(text),
             qPrintable(outcome.err));
    QCOMPARE(outcome.err.count(QStringLiteral("sonde: error")), 1);
    QCOMPARE(outcome.status, status);
    QCOMPARE(outcome.out, QString());
    QVERIFY(!QFile::exists(path("r.npz")));
}

void TestReferenceVerb::anEndlessRunIsEnded() {
    const FakeMode set("hang");
    QElapsedTimer timer;
    timer.start();
    const Outcome outcome = runSonde(arguments({"--timeout", "1"}));
    QCOMPARE(outcome.status, 4);
    QVERIFY2(outcome.err.contains(QStringLiteral("did not answer within 1 s and was ended while running the model")),
             qPrintable(outcome.err));
    QVERIFY(timer.elapsed() >= 1000);
}

void TestReferenceVerb::nothingIsLoadedWithoutConsent() {
    QTemporaryDir settings;
    qputenv("XDG_CONFIG_HOME", settings.path().toUtf8());
    QStringList all = arguments();
    all.removeAll(QStringLiteral("--allow-native"));
    const Outcome outcome = runSonde(all);
    qunsetenv("XDG_CONFIG_HOME");
    QCOMPARE(outcome.status, 3);
    QVERIFY2(outcome.err.contains(QStringLiteral("you have not agreed to that")) &&
                 outcome.err.contains(QStringLiteral("hint: --allow-native agrees for this command")),
             qPrintable(outcome.err));
}

void TestReferenceVerb::theLibraryIsNotWrittenOver() {
    QFile::remove(path("copy.so"));
    QVERIFY(QFile::copy(kFake, path("copy.so")));
    QStringList all = arguments();
    all[all.indexOf(QStringLiteral("--ort")) + 1] = path("copy.so");
    all[all.indexOf(QStringLiteral("-o")) + 1] = path("copy.so");
    const Outcome outcome = runSonde(all);
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains(QStringLiteral("the engine's library")), qPrintable(outcome.err));
}

QTEST_GUILESS_MAIN(TestReferenceVerb)

}  // namespace tst_reference_verb

#include "tst_reference_verb.moc"
