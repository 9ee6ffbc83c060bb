// `sonde cut`: the real program on small networks and on the models of the tests. What a piece has to give is what the
// whole model gave: written by hand, or the reference values that PyTorch made.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_cut_verb {

using namespace sonde;
using namespace sonde::test;

namespace {

constexpr int kFloat = 1, kInt64 = 7;

/// x ↦ a = −x ↦ b = |a|; c = a + b ↦ y = c · c; and an int64 s, the shape of a.
std::string diamond() {
    onnxfile::Graph graph;
    graph.nodes = {{"Neg", {"x"}, {"a"}},
                   {"Abs", {"a"}, {"b"}},
                   {"Add", {"a", "b"}, {"c"}},
                   {"Mul", {"c", "c"}, {"y"}},
                   {"Shape", {"a"}, {"s"}}};
    graph.inputs = {onnxfile::valueInfo("x", kFloat, {3})};
    graph.outputs = {onnxfile::valueInfo("y", kFloat, {3}), onnxfile::valueInfo("s", kInt64, {1})};
    return onnxfile::model(graph);
}

}  // namespace

class TestCutVerb : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QVERIFY(onnxfile::write(path("net.onnx"), diamond())); }

    void aPieceHasTheValuesAtItsBorder();
    void withoutABeginningItStartsAtTheInputs();
    void piecesOfModelsAgree_data();
    void piecesOfModelsAgree();
    void modulesKeepTheirNames();
    void withoutItsValuesThereIsNoPiece();
    void errorsChangeNoFile_data();
    void errorsChangeNoFile();

  private:
    QString path(const char* name) { return m_files.filePath(QLatin1String(name)); }
    std::vector<float> array(const QString& file, const char* key) {
        const auto npz = io::NpzFile::open(file.toStdString());
        if (!npz) return {};
        const auto tensor = npz->read(key);
        if (!tensor) return {};
        std::vector<float> values;
        for (std::int64_t i = 0; i < tensor->numel(); ++i) values.push_back(static_cast<float>(tensor->toDouble(i)));
        return values;
    }
    QTemporaryDir m_files;
};

void TestCutVerb::aPieceHasTheValuesAtItsBorder() {
    const Outcome cut = runSonde({"cut", path("net.onnx"), "--from", "a", "--from", "b", "--to", "c", "--to", "y",
                                  "--input-data", "[1,-2,3]", "-o", path("piece.onnx")});
    QVERIFY2(cut.status == 0, qPrintable(cut.err));
    QVERIFY2(cut.out.contains("2 of 5 operations"), qPrintable(cut.out));
    const auto npz = io::NpzFile::open(path("piece.npz").toStdString());
    QVERIFY(npz);
    QCOMPARE(npz->keys(), (std::vector<std::string>{"in.a", "in.b", "out.c", "out.y"}));
    QCOMPARE(array(path("piece.npz"), "in.a"), (std::vector<float>{-1, 2, -3}));
    QCOMPARE(array(path("piece.npz"), "in.b"), (std::vector<float>{1, 2, 3}));
    QCOMPARE(array(path("piece.npz"), "out.c"), (std::vector<float>{0, 4, 0}));
    QCOMPARE(array(path("piece.npz"), "out.y"), (std::vector<float>{0, 16, 0}));
    const Outcome check = runSonde({"check", path("piece.onnx"), path("piece.npz")});
    QVERIFY2(check.status == 0 && check.out.contains("2 values in 1 case compared, 0 failed"), qPrintable(check.out));
    // A piece computes on its own: with another input it gives another output, c = 1 + 1.
    QVERIFY(io::writeNpz(path("other.npz").toStdString(),
                         std::vector<io::NamedTensor>{{"in.a", tensor::Tensor::of<float>({3}, {1, 0, 0})},
                                                      {"in.b", tensor::Tensor::of<float>({3}, {1, 0, 0})},
                                                      {"out.y", tensor::Tensor::of<float>({3}, {4, 0, 0})}}));
    QCOMPARE(runSonde({"check", path("piece.onnx"), path("other.npz")}).status, 0);
}

void TestCutVerb::withoutABeginningItStartsAtTheInputs() {
    const Outcome cut =
        runSonde({"cut", path("net.onnx"), "--to", "b", "--input-data", "[1,-2,3]", "-o", path("start.onnx")});
    QVERIFY2(cut.status == 0, qPrintable(cut.err));
    QCOMPARE(array(path("start.npz"), "in.x"), (std::vector<float>{1, -2, 3}));
    QCOMPARE(array(path("start.npz"), "out.b"), (std::vector<float>{1, 2, 3}));
    const auto piece = document::open(path("start.onnx").toStdString());
    QVERIFY(piece);
    QVERIFY(!(*piece)->graph->findNode("c").valid());  // what nobody asked for is not in it
    QCOMPARE(runSonde({"check", path("start.onnx"), path("start.npz")}).status, 0);
}

void TestCutVerb::piecesOfModelsAgree_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QStringList>("ends");
    QTest::newRow("ONNX") << "resnet18_slim.onnx" << QStringList{"--from", "layer1:", "--to", "layer2:"};
    QTest::newRow("residual: two borders")
        << "resnet18_slim.onnx" << QStringList{"--from", "layer1:", "--to", "layer2.0:", "--to", "fc:"};
    QTest::newRow("in-place writes outside")
        << "unet_small.trace.pt" << QStringList{"--from", "enc1:", "--from", "mid:", "--to", "up2:"};
    QTest::newRow("transformer") << "gpt_mini.trace.pt" << QStringList{"--to", "blocks.0:"};
    QTest::newRow("control flow") << "control_flow.onnx" << QStringList{"--to", "#last"};
    QTest::newRow("recurrent") << "lstm_classifier.onnx" << QStringList{"--to", "#last"};
    // Calls of modules are opened where a border is inside of them; one that returns a tuple, too.
    QTest::newRow("from one call into another")
        << "lstm_classifier.trace.pt" << QStringList{"--from", "lstm/lstm", "--to", "fc/linear"};
    QTest::newRow("inside of a call with several outputs")
        << "lstm_classifier.trace.pt" << QStringList{"--to", "lstm/lstm_1", "--to", "fc/linear"};
}
void TestCutVerb::piecesOfModelsAgree() {
    QFETCH(QString, model);
    QFETCH(QStringList, ends);
    const QString file = QStringLiteral(SONDE_TEST_DATA "/models/") + model;
    const auto document = document::open(file.toStdString());
    QVERIFY(document);
    for (QString& end : ends)
        if (end == "#last")
            end = QString::fromStdString((*document)->graph->node((*document)->outputs.front().node).name);
    const Outcome cut = runSonde(QStringList{"cut", file, "-o", path("model.onnx")} + ends);
    QVERIFY2(cut.status == 0, qPrintable(cut.err));
    const Outcome check = runSonde({"check", path("model.onnx"), path("model.npz")});
    QVERIFY2(check.status == 0, qPrintable(check.out + check.err));
    const auto npz = io::NpzFile::open(path("model.npz").toStdString());
    QVERIFY(npz);
    // Outputs have the names of the nodes that were asked for.
    for (qsizetype i = 0; i + 1 < ends.size(); i += 2) {
        const auto node = (*document)->findNode(ends[i + 1].toStdString());
        QVERIFY(node);
        const std::string key = (ends[i] == "--to" ? "out." : "in.") + (*document)->graph->node(*node).name;
        QVERIFY2(npz->has(key) || (*document)->graph->expr((*document)->graph->node(*node).producer).body !=
                                      (*document)->graph->mainId(),
                 key.c_str());
    }
    QCOMPARE(std::ranges::count_if(npz->keys(), [](const std::string& key) { return key.starts_with("out."); }),
             std::ptrdiff_t(ends.count("--to")));
}

void TestCutVerb::modulesKeepTheirNames() {
    const QString file = QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx");
    QCOMPARE(runSonde({"cut", file, "--from", "layer1:", "--to", "layer2:", "-o", path("layer2.onnx")}).status, 0);
    const Outcome nodes = runSonde({"trace", path("layer2.onnx"), "--format", "nodes"});
    QVERIFY2(nodes.out.contains("is from module layer2.0.downsample.0"), qPrintable(nodes.out));
    QVERIFY2(!nodes.out.contains("is from module layer3"), qPrintable(nodes.out));
}

/// The values' place is taken by a folder: neither half is written, and a piece of before stays.
void TestCutVerb::withoutItsValuesThereIsNoPiece() {
    QVERIFY(QDir().mkpath(path("half.npz")));
    const QStringList cut{"cut", path("net.onnx"), "--to", "b", "--input-data", "[1,-2,3]", "-o", path("half.onnx")};
    const Outcome refused = runSonde(cut);
    QCOMPARE(refused.status, 4);
    QVERIFY2(refused.err.contains(path("half.npz")), qPrintable(refused.err));
    QVERIFY(!QFile::exists(path("half.onnx")) && !QFile::exists(path("half.npz.part")));
    QVERIFY(onnxfile::write(path("half.onnx"), "of before"));
    QCOMPARE(runSonde(cut).status, 4);
    QFile before(path("half.onnx"));
    QVERIFY(before.open(QIODevice::ReadOnly));
    QCOMPARE(before.readAll(), QByteArray("of before"));
}

void TestCutVerb::errorsChangeNoFile_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, QStringList arguments, int status, const char* message) {
        QTest::newRow(name) << std::move(arguments) << status << message;
    };
    row("inside of a branch", {"--to", "/Tanh_output_0"}, 2, "'/Tanh_output_0' is inside of '/If_output_0'");
    row("no end", {"--from", "a"}, 2, "--to is required");
    row("unknown node", {"--to", "nothing"}, 2, "nothing");
    row("ends at an input", {"--to", "x"}, 2, "'x' is an input of the model");
    row("begins where it ends", {"--from", "b", "--to", "b"}, 2, "'b' is where the piece begins and where it ends");
    row("begins behind its end", {"--from", "y", "--to", "b"}, 2, "no end of the piece depends on 'y'");
    row("not an ONNX name", {"--to", "b", "-o", "piece.npz"}, 2, "name a file that ends in .onnx");
    row("wrong input", {"--to", "b", "--input-data", "[1,2"}, 2, "[1,2");
}
void TestCutVerb::errorsChangeNoFile() {
    QFETCH(QStringList, arguments);
    QFETCH(int, status);
    QFETCH(QString, message);
    for (QString& argument : arguments)
        if (argument == "piece.npz") argument = path("bad.npz");
    if (!arguments.contains("-o")) arguments << "-o" << path("bad.onnx");
    const bool isBranch = arguments.contains("/Tanh_output_0");
    const QString model = isBranch ? QStringLiteral(SONDE_TEST_DATA "/models/control_flow.onnx") : path("net.onnx");
    const Outcome outcome = runSonde(QStringList{"cut", model} + arguments);
    QCOMPARE(outcome.status, status);
    QVERIFY2(outcome.err.startsWith("sonde: error: ") && outcome.err.contains(message), qPrintable(outcome.err));
    QVERIFY(!QFile::exists(path("bad.onnx")) && !QFile::exists(path("bad.npz")));
}

QTEST_GUILESS_MAIN(TestCutVerb)

}  // namespace tst_cut_verb

#include "tst_cut_verb.moc"
