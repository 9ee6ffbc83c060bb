// Verbs that write: what they are told to write never replaces what they read, and nothing runs before that is clear.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_replaced_files {

using namespace sonde;
using tensor::Tensor;
using test::Outcome;
using test::runSonde;

namespace {

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TestReplacedFiles : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        using namespace test::onnxfile;
        Graph graph;
        graph.nodes = {{"Relu", {"x"}, {"y"}}};
        graph.inputs = {valueInfo("x", 1, {2})};
        graph.outputs = {valueInfo("y", 1, {2})};
        QVERIFY(write(at("m.onnx"), model(graph)));
        const Tensor pair = Tensor::of<float>({2}, std::vector<float>{-1, 2});
        const std::vector<io::NamedTensor> arrays{{"in.x", pair}, {"out.y", pair}};
        for (const char* name : {"ref.npz", "in.npz", "list.npz"})
            QVERIFY(io::writeNpz(at(name).toStdString(), arrays));
        QVERIFY(io::writeNpyFile(at("x.npy").toStdString(), pair));
        QFile list(at("list.txt"));
        QVERIFY(list.open(QIODevice::WriteOnly));
        list.write(("x:" + at("list.npz") + "#in.x\n").toUtf8());
        QVERIFY(QFile::link(at("m.onnx"), at("link.onnx")) && QFile::link(at("m.onnx"), at("link.svg")));
    }

    void theFileStays_data() {
        QTest::addColumn<QStringList>("arguments");  // a name that begins with '/' is one of the folder
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("says");
        const QString verbs = runSonde({"--help"}).out;
        const auto row = [&verbs](const char* name, const QStringList& arguments, const char* file, const char* says) {
            if (!verbs.contains("\n  " + arguments.front() + " ")) return;  // a build without the window
            QTest::newRow(name) << arguments << file << says;
        };
        row("run, the model", {"run", "/m.onnx", "--out", "/m.onnx"}, "m.onnx", "is the model file");
        row("run, a link to it", {"run", "/m.onnx", "--out", "/link.onnx"}, "m.onnx", "is the model file, ");
        row("run through a link", {"run", "/link.onnx", "--out", "/m.onnx"}, "m.onnx", "is the model file, ");
        row("run, its profile", {"run", "/m.onnx", "--profile", "/m.onnx"}, "m.onnx", "(--profile)");
        row("run, its input", {"run", "/m.onnx", "--input-data", "/ref.npz", "--out", "/ref.npz"}, "ref.npz",
            "is an input file: it would be overwritten (--out)");
        row("run, one of a list", {"run", "/m.onnx", "--input-data", "@/list.txt", "--out", "/list.npz"}, "list.npz",
            "is an input file");
        row("run, the list", {"run", "/m.onnx", "--input-data", "@/list.txt", "--out", "/list.txt"}, "list.txt",
            "is an input file");
        row("dump, the model", {"dump", "/m.onnx", "-o", "/m.onnx"}, "m.onnx", "is the model file");
        row("dump, its information", {"dump", "/m.onnx", "-o", "/m.dump", "--strip-info-file", "/m.onnx"}, "m.onnx",
            "(--strip-info-file)");
        row("dump, an input", {"dump", "/m.onnx", "-o", "/in.npz", "--input-data", "x:/in.npz#in.x"}, "in.npz",
            "is an input file");
        row("save, its input", {"save", "/m.onnx", "-o", "/in.npz", "--input-data", "x:/in.npz#in.x"}, "in.npz",
            "is an input file");
        row("render, the model", {"render", "/m.onnx", "-o", "/link.svg"}, "m.onnx", "is the model file, ");
        row("problems, the model", {"problems", "/m.onnx", "--junit", "/m.onnx"}, "m.onnx", "(--junit)");
        row("load-and-run, the model", {"load-and-run", "/m.onnx", "--profile", "/m.onnx"}, "m.onnx",
            "is the model file");
        row("load-and-run, its input", {"load-and-run", "/m.onnx", "--input", "x:/x.npy", "--io_dump", "/x.npy"},
            "x.npy", "is an input file");
        row("trace, the model", {"trace", "/m.onnx", "--save", "/m.onnx"}, "m.onnx", "(--save)");
    }
    void theFileStays() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, file);
        QFETCH(QString, says);
        for (QString& argument : arguments) argument.replace(u'/', at(""));
        const QByteArray before = contents(at(qPrintable(file)));
        const Outcome outcome = runSonde(arguments);
        QCOMPARE(contents(at(qPrintable(file))), before);
        QVERIFY2(outcome.status == 2, qPrintable(QString::number(outcome.status) + outcome.err));
        QVERIFY2(outcome.err.contains(says), qPrintable(outcome.err));
        QVERIFY2(outcome.err.contains("hint: choose another file"), qPrintable(outcome.err));
        QVERIFY(outcome.out.isEmpty() && !QFile::exists(at("m.dump")));
    }

    void twoOutputsAreTwoFiles() {
        const QString file = at("both.npz");
        const Outcome outcome =
            runSonde({"run", at("m.onnx"), "--out", file, "--profile", m_folder.path() + "/./both.npz"});
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains("would be written twice (--out, --profile)"), qPrintable(outcome.err));
        QVERIFY(!QFile::exists(file));
        QCOMPARE(runSonde({"run", at("m.onnx"), "--out", file, "--profile", at("times.json")}).status, 0);
        QVERIFY(QFile::exists(file));
        QCOMPARE(runSonde({"run", at("m.onnx"), "--out", "/dev/null", "--profile", "/dev/null"}).status, 0);
    }

    /// What was written once is written again; an ONNX model is replaced by the same one.
    void outputsAreWrittenAgain() {
        for (int i = 0; i < 2; ++i) {
            QCOMPARE(runSonde({"run", at("m.onnx"), "--out", at("again.npz")}).status, 0);
            const Outcome saved = runSonde({"save", at("m.onnx"), "-o", at("m.onnx")});
            QVERIFY2(saved.status == 0, qPrintable(saved.err));
            QCOMPARE(runSonde({"check", at("m.onnx"), at("again.npz")}).status, 0);
        }
        QVERIFY(QFile::exists(at("again.npz")));
    }

    /// In the place of a model of another format there would be one that no longer is what its name says.
    void otherFormatsAreNotReplaced() {
        const QString model = at("p.pt");
        QVERIFY(QFile::copy(QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional.trace.pt"), model));
        const QByteArray before = contents(model);
        const Outcome outcome = runSonde({"save", model, "-o", model});
        QVERIFY2(outcome.status == 2 && outcome.err.contains("is the model file"), qPrintable(outcome.err));
        QCOMPARE(contents(model), before);
    }

  private:
    QString at(const char* name) const { return m_folder.path() + u'/' + QLatin1String(name); }
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestReplacedFiles)

}  // namespace tst_replaced_files

#include "tst_replaced_files.moc"
