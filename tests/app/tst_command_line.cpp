// The command line as its users meet it: real processes, their output, their exit status.

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <csignal>

#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_command_line {

using namespace sonde;
using test::Outcome;
using test::runSonde;

namespace {

QString model(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + name; }
QString sample(const char* name) { return QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/") + name; }

QString contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

}  // namespace

class TestCommandLine : public QObject {
    Q_OBJECT

  private slots:
    void traceEqualsTheReferenceListing();
    void traceOfAnOnnxFileLeavesParametersOut();
    void jsonIsOneObjectOfTheContract();
    void dotAndGraphArePrinted();
    void robustTracesTellWhatTheyLeftOut();
    void tracedModulesAreSavedAsPassesReport();
    void checkPassesOnReferenceModels_data();
    void checkPassesOnReferenceModels();
    void checkNamesTheFirstDivergingNode();
    void controlCharactersOfNamesAreVisible();
    void runWritesWhatItWatched();
    void runStopsAtEndPoints();
    void runAnswersOnRealPictures();
    void runRepeatsItself();
    void listsOfCasesRunOneByOne();
    void profileIsATrace();
    void benchGivesFigures();
    void infoCountsParameters();
    void savedArchivesPassTheirReferences_data();
    void savedArchivesPassTheirReferences();
    void opsAndModelsAreListed();
    void weightsComeFromAFile();
    void everyVerbHasHelpWithAnExample();
    void errorsHaveTheirFormAndStatus_data();
    void errorsHaveTheirFormAndStatus();
    void wrongFilesAreRefusedByEveryVerb_data();
    void wrongFilesAreRefusedByEveryVerb();
    void unknownOperatorsAreNamedAndRunToTheirDoor();
    void interruptionIsStatus5();
    void aWindowWithoutADisplayIsRefused();

  private:
    QTemporaryDir m_folder;
};

void TestCommandLine::traceEqualsTheReferenceListing() {
    const Outcome outcome = runSonde({"trace", "zoo:resnet18"});
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.out, contents(model("resnet18.fx.txt")));
    QCOMPARE(outcome.out.count(u'\n'), 71);
}

void TestCommandLine::traceOfAnOnnxFileLeavesParametersOut() {
    const Outcome outcome = runSonde({"trace", model("mobilenet_v3_small.onnx")});
    QCOMPARE(outcome.status, 0);
    const QStringList lines = outcome.out.split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 124);  // the input and the 123 nodes of the file
    QCOMPARE(lines.first(), QString("Node x is from module"));
    QVERIFY(lines.contains(
        "Node /features/features.4/block/block.3/block.3.0/Conv_output_0 is from module features.4.block.3.0"));
}

void TestCommandLine::jsonIsOneObjectOfTheContract() {
    const Outcome outcome = runSonde({"trace", model("shared_twice.onnx"), "--format", "json"});
    QCOMPARE(outcome.status, 0);
    const QJsonObject root = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QCOMPARE(root["format"].toString(), QString("sonde-graph"));
    QCOMPARE(root["version"].toInt(), 1);
    QVERIFY(root["inputs"].isArray() && root["outputs"].isArray());
    const QJsonArray nodes = root["nodes"].toArray();
    QVERIFY(nodes.size() > 20);
    for (const QJsonValue node : nodes) {
        for (const char* key : {"id", "name", "op", "domain", "kind", "qualname", "module_class", "inputs", "outputs",
                                "dtype", "shape", "attributes", "source"}) {
            QVERIFY2(node.toObject().contains(QLatin1String(key)), key);
        }
    }
    const QJsonArray scopes = root["scopes"].toArray();
    int blockCalls = 0;
    for (const QJsonValue scope : scopes) {
        for (const char* key : {"id", "parent", "qualname", "module_class", "call"}) {
            QVERIFY2(scope.toObject().contains(QLatin1String(key)), key);
        }
        blockCalls += scope.toObject()["qualname"].toString() == u"block" ? 1 : 0;
    }
    QCOMPARE(blockCalls, 3);  // modules called two and three times
}

void TestCommandLine::dotAndGraphArePrinted() {
    const Outcome dot = runSonde({"trace", "zoo:resnet18", "--format", "dot"});
    QCOMPARE(dot.status, 0);
    QVERIFY(dot.out.startsWith("digraph"));
    QVERIFY(dot.out.contains("cluster_layer1.0"));
    const Outcome graph = runSonde({"trace", model("unet_small.onnx"), "--format", "graph"});
    QCOMPARE(graph.status, 0);
    QVERIFY(graph.out.contains("logits: float32[1,3,64,64]"));
}

void TestCommandLine::robustTracesTellWhatTheyLeftOut() {
    const Outcome listing = runSonde({"trace", "zoo:branching", "--tracer", "robust"});
    QCOMPARE(listing.status, 0);
    QVERIFY2(!listing.out.contains("tried") && !listing.out.contains("never called"), qPrintable(listing.out));
    // W3 of the robust tracer's reference: `cf` fails, `unused` is never called.
    QVERIFY2(listing.err.contains("module cf (") && listing.err.contains("  tried to trace its forward as part of "),
             qPrintable(listing.err));
    QVERIFY2(listing.err.contains("was never called: the forward of the model never calls it\n"),
             qPrintable(listing.err));
    const Outcome json = runSonde({"trace", "zoo:branching", "--tracer", "robust", "--format", "json"});
    QVERIFY2(json.err.isEmpty(), qPrintable(json.err));
    const QJsonObject root = QJsonDocument::fromJson(json.out.toUtf8()).object();
    QCOMPARE(root["unvisited"].toArray().size(), 1);
    QCOMPARE(root["unvisited"][0]["qualname"].toString(), QString("unused"));
}

void TestCommandLine::tracedModulesAreSavedAsPassesReport() {
    const QString file = m_folder.filePath("fused.sondetm");
    const QStringList trace{"trace", "zoo:unet_small", "--tracer", "traced-module", "--save", file, "--pass"};
    const Outcome saved = runSonde(trace + QStringList{"fuse-conv-bn"});
    QVERIFY2(saved.status == 0 && !saved.err.contains("applied 0 times"), qPrintable(saved.err));
    const Outcome graphs = runSonde({"trace", file, "--format", "graph"});
    QVERIFY2(graphs.status == 0 && graphs.out.contains("(Conv2d)"), qPrintable(graphs.err));
    QVERIFY2(!graphs.out.contains("BatchNorm"), qPrintable(graphs.out));
    const Outcome again = runSonde({"trace", file, "--pass", "fuse-conv-bn"});
    QVERIFY2(again.err.contains("applied 0 times"), qPrintable(again.err));
    const Outcome constants = runSonde(trace + QStringList{"attr-to-constant"});
    QVERIFY2(constants.status == 0 && !constants.err.contains("applied 0 times"), qPrintable(constants.err));
    // What the calls of its activations write is for their callers, and no graph of the module can give it to them.
    const QStringList inPlace{"trace",        model("unet_small.trace.pt"),
                              "--tracer",     "traced-module",
                              "--input-data", "#rand(0,1)",
                              "--pass",       "remove-inplace"};
    const Outcome told = runSonde(inPlace);
    QVERIFY2(told.err.contains("pass remove-inplace: 0 nodes removed, 0 added, 14 changed\n"), qPrintable(told.err));
    const QString other = m_folder.filePath("in_place.sondetm");
    const Outcome notSaved = runSonde(inPlace + QStringList{"--save", other});
    QCOMPARE(notSaved.status, 2);
    QVERIFY2(notSaved.err.contains("that a traced module cannot hold"), qPrintable(notSaved.err));
    QVERIFY(!QFile::exists(other));
}

void TestCommandLine::checkPassesOnReferenceModels_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("cases");
    QTest::addColumn<int>("atLeast");
    QTest::newRow("resnet18_slim") << model("resnet18_slim.onnx") << 2 << 2;
    QTest::newRow("mobilenet_v3_small") << model("mobilenet_v3_small.onnx") << 2 << 2;
    QTest::newRow("unet_small") << model("unet_small.onnx") << 1 << 1;
    QTest::newRow("ch_ppocr_mobile_v2.0_cls_infer") << sample("ch_ppocr_mobile_v2.0_cls_infer.onnx") << 2 << 200;
}

void TestCommandLine::checkPassesOnReferenceModels() {
    QFETCH(QString, file);
    QFETCH(int, cases);
    QFETCH(int, atLeast);
    const QString reference = model(QTest::currentDataTag()) + ".npz";
    const Outcome outcome = runSonde({"check", file, reference, "--rtol", "1e-3", "--atol", "1e-4"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.out.right(2000) + outcome.err));
    QVERIFY(!outcome.out.contains("FAIL"));
    QVERIFY(outcome.out.contains(QString(" in %1 case%2 compared, 0 failed").arg(cases).arg(cases == 1 ? "" : "s")));
    QVERIFY(outcome.out.count(" ok") >= atLeast);
}

void TestCommandLine::checkNamesTheFirstDivergingNode() {
    // y = relu(x), z = -y: the reference is wrong in both.
    using namespace test::onnxfile;
    const QString file = m_folder.filePath("two.onnx");
    QVERIFY(write(file, test::onnxfile::model({{{"Relu", {"x"}, {"y"}}, {"Neg", {"y"}, {"z"}}},
                                               {valueInfo("x", 1, {2})},
                                               {valueInfo("z", 1, {2})}})));
    using tensor::Tensor;
    const QString reference = m_folder.filePath("two.npz");
    QVERIFY(io::writeNpz(reference.toStdString(),
                         std::vector<io::NamedTensor>{{"in.x", Tensor::of<float>({2}, {-1, 2})},
                                                      {"node.y", Tensor::of<float>({2}, {0, 3})},
                                                      {"node.nowhere", Tensor::of<float>({1}, {0})},
                                                      {"out.z", Tensor::of<float>({2}, {0, -3})}}));
    const Outcome outcome = runSonde({"check", file, reference});
    QCOMPARE(outcome.status, 1);
    QVERIFY2(outcome.out.contains("first diverging node: y"), qPrintable(outcome.out));
    QVERIFY(outcome.out.contains("1 reference value has no counterpart in the model: node.nowhere"));
    QCOMPARE(outcome.out.count("FAIL"), 2);
    // With tolerance for a difference of 1 it passes.
    QCOMPARE(runSonde({"check", file, reference, "--atol", "1.01"}).status, 0);
}

/// Names of a file may hold line ends and the escape sequences of terminals.
void TestCommandLine::controlCharactersOfNamesAreVisible() {
    using namespace test::onnxfile;
    using tensor::Tensor;
    const std::string inner = "a\nb", end = "z\x1b[2J";
    const QString file = m_folder.filePath("names.onnx"), reference = m_folder.filePath("names.npz");
    QVERIFY(write(file, test::onnxfile::model({{{"Log", {"x"}, {inner}}, {"Neg", {inner}, {end}}},
                                               {valueInfo("x", 1, {2})},
                                               {valueInfo(end, 1, {2})}})));
    QVERIFY(io::writeNpz(reference.toStdString(),
                         std::vector<io::NamedTensor>{{"in.x", Tensor::of<float>({2}, {-1, 1})},
                                                      {"node." + inner, Tensor::of<float>({2}, {7, 7})},
                                                      {"out." + end, Tensor::of<float>({2}, {7, 7})}}));
    const QString report = m_folder.filePath("names.xml");
    const Outcome check = runSonde({"check", file, reference});
    const Outcome problems = runSonde({"problems", file, "--input-data", "x:[-1,1]", "--junit", report});
    for (const Outcome& outcome : {check, problems}) {
        QVERIFY2(outcome.out.contains("a\\nb") && outcome.out.contains("z\\x1b[2J"),
                 qPrintable(outcome.out + outcome.err));
        QVERIFY2(!outcome.out.contains("a\nb") && !outcome.out.contains(u'\x1b'), qPrintable(outcome.out));
    }
    QVERIFY2(check.out.contains("first diverging node: a\\nb ("), qPrintable(check.out));
    QVERIFY2(contents(report).contains("classname=\"(root)\" name=\"a\\nb nan\""), qPrintable(contents(report)));
    // An operator that is not known is told of at opening.
    const QString unknown = m_folder.filePath("unknown.onnx");
    QVERIFY(write(unknown, test::onnxfile::model({{{"NoSuchOp", {"x"}, {inner}}, {"Neg", {inner}, {end}}},
                                                  {valueInfo("x", 1, {2})},
                                                  {valueInfo(end, 1, {2})}})));
    for (const char* verb : {"save", "dump", "run"}) {
        QStringList arguments{verb, unknown};
        if (verb != std::string_view("run")) arguments << "-o" << m_folder.filePath("unknown.out");
        const Outcome told = runSonde(arguments);
        QVERIFY2(told.err.contains("a\\nb"), qPrintable(told.err));
        QVERIFY2(!told.err.contains("a\nb") && !told.err.contains(u'\x1b'), qPrintable(told.err));
    }
}

void TestCommandLine::runWritesWhatItWatched() {
    const QString out = m_folder.filePath("values.npz");
    const Outcome outcome =
        runSonde({"run", model("resnet18_slim.onnx"), "--input-data", model("resnet18_slim.npz"), "--watch",
                  "layer1:", "--watch", "/layer2/layer2.0/conv1/Conv_output_0", "--out", out});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const auto file = io::NpzFile::open(out.toStdString());
    QVERIFY(file.has_value());
    QVERIFY(file->has("in.x"));
    QVERIFY(file->has("node./layer2/layer2.0/conv1/Conv_output_0"));
    // The output of layer1 is that of its last activation; its reference is fx's layer1_1_relu_1.
    const auto layer = file->read("node./layer1/layer1.1/relu_1/Relu_output_0");
    QVERIFY(layer.has_value());
    const auto reference = io::NpzFile::open(model("resnet18_slim.npz").toStdString());
    const auto head = reference->read("node.layer1_1_relu_1.head");
    QVERIFY(head.has_value());
    for (int i = 0; i < 64; ++i) QVERIFY(std::abs(head->toDouble(i) - layer->toDouble(i)) < 1e-4);
    const auto y = file->read("out.y");
    const auto expected = reference->read("out.y");
    for (int i = 0; i < 100; ++i) QVERIFY(std::abs(y->toDouble(i) - expected->toDouble(i)) < 1e-4);
}

void TestCommandLine::runStopsAtEndPoints() {
    const QString out = m_folder.filePath("end.npz");
    const QString profile = m_folder.filePath("end.json");
    const Outcome outcome = runSonde({"run", "zoo:resnet18", "--end", "conv1", "--out", out, "--profile", profile});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const auto file = io::NpzFile::open(out.toStdString());
    QCOMPARE(file->read("node.conv1")->typeText(), std::string("float32[1,64,112,112]"));
    for (const std::string& key : file->keys()) QVERIFY(!QString::fromStdString(key).startsWith("out."));
    QVERIFY(!contents(profile).contains("layer4"));
}

void TestCommandLine::runAnswersOnRealPictures() {
    // "is a line of text upright (output 0) or upside down (output 1)?" (resources/samples/README.md)
    for (int turned : {0, 1}) {
        const QString out = m_folder.filePath("answer.npz");
        const Outcome outcome =
            runSonde({"run", sample("ch_ppocr_mobile_v2.0_cls_infer.onnx"), "--image", "signed", "--input-data",
                      sample(turned ? "text-line-upside-down.png" : "text-line.png"), "--out", out});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
        const auto answer = io::NpzFile::open(out.toStdString())->read("out.softmax_0.tmp_0");
        QVERIFY(answer.has_value());
        QVERIFY(answer->toDouble(turned) > 0.99);
    }
}

void TestCommandLine::runRepeatsItself() {
    QByteArray bytes[2];
    for (QByteArray& result : bytes) {
        const QString out = m_folder.filePath("repeat.npz");
        QCOMPARE(runSonde({"run", model("shared_twice.onnx"), "--seed", "3", "--watch-all", "--out", out}).status, 0);
        QFile file(out);
        QVERIFY(file.open(QIODevice::ReadOnly));
        result = file.readAll();
    }
    QVERIFY(!bytes[0].isEmpty());
    QVERIFY(bytes[0] == bytes[1]);
}

void TestCommandLine::listsOfCasesRunOneByOne() {
    QFile list(m_folder.filePath("list.txt"));
    QVERIFY(list.open(QIODevice::WriteOnly));
    list.write("#rand(0,1)\n\n#zeros\n");
    list.close();
    const QString out = m_folder.filePath("list.npz");
    const Outcome outcome =
        runSonde({"run", model("shared_twice.onnx"), "--input-data", "@" + list.fileName(), "--out", out});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const auto file = io::NpzFile::open(out.toStdString());
    QVERIFY(file->has("out.y") && file->has("case1.out.y"));
    QCOMPARE(file->read("case1.in.x")->toDouble(3), 0.0);
}

void TestCommandLine::profileIsATrace() {
    const QString profile = m_folder.filePath("profile.json");
    QCOMPARE(runSonde({"run", model("mobilenet_v3_small.onnx"), "--profile", profile}).status, 0);
    const QJsonDocument document = QJsonDocument::fromJson(contents(profile).toUtf8());
    const QJsonArray events = document.isArray() ? document.array() : document.object()["traceEvents"].toArray();
    int complete = 0;
    for (const QJsonValue event : events) complete += event.toObject()["ph"].toString() == u"X" ? 1 : 0;
    QVERIFY(complete >= 60);
}

void TestCommandLine::benchGivesFigures() {
    const Outcome outcome =
        runSonde({"bench", model("shared_twice.onnx"), "--repeat", "3", "--json", "--threads", "1"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QJsonObject root = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QVERIFY(root["median_ms"].toDouble() > 0);
    QVERIFY(root["min_ms"].toDouble() <= root["median_ms"].toDouble());
    QVERIFY(root["max_ms"].toDouble() >= root["median_ms"].toDouble());
    // Steps that were done within another one's time have none of their own, and say with which.
    const Outcome joined =
        runSonde({"bench", model("resnet18_slim.onnx"), "--repeat", "3", "--json", "--threads", "1"});
    QStringList names, leaders;
    double sum = 0;
    for (const QJsonValue node : QJsonDocument::fromJson(joined.out.toUtf8()).object()["nodes"].toArray()) {
        names << node["name"].toString();
        sum += node["median_ms"].toDouble();
        if (!node["done_with"].isString()) continue;
        leaders << node["done_with"].toString();
        QCOMPARE(node["median_ms"].toDouble(), 0.0);
    }
    QVERIFY(leaders.size() > 10 && sum > 0);
    for (const QString& leader : leaders) QVERIFY2(names.contains(leader), qPrintable(leader));
    QVERIFY(runSonde({"bench", model("resnet18_slim.onnx"), "--repeat", "1"}).out.contains(" with "));
}

/// torchvision publishes the count of ResNet-18; its 20 norms have 4,800 channels with a mean and a variance each.
void TestCommandLine::infoCountsParameters() {
    const Outcome outcome = runSonde({"info", "zoo:resnet18", "--json"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QJsonObject info = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    QCOMPARE(info["format"].toString(), QStringLiteral("sonde-info"));
    QCOMPARE(info["parameters"].toInteger(), qint64{11'689'512});
    QCOMPARE(info["parameter_bytes"].toInteger(), qint64{4 * 11'689'512});
    QVERIFY(info["buffers"].toInteger() >= 9600);
    QVERIFY(info["modules"].toInteger() > 60);
    const Outcome text = runSonde({"info", "zoo:resnet18"});
    QVERIFY2(text.out.contains(QLatin1String("11,689,512 in 62 tensors, 44.6 MiB of float32")), qPrintable(text.out));
}

void TestCommandLine::savedArchivesPassTheirReferences_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("vit_small") << "vit_small";
    QTest::newRow("lstm_classifier") << "lstm_classifier";
}

/// An archive's names are counted up otherwise than those of fx, which the reference has: also in an ONNX file or a
/// traced module that it was saved as.
void TestCommandLine::savedArchivesPassTheirReferences() {
    QFETCH(QString, name);
    const QString archive = model(qPrintable(name + ".trace.pt")), reference = model(qPrintable(name + ".npz"));
    const QString onnx = m_folder.filePath(name + ".onnx"), module = m_folder.filePath(name + ".sondetm");
    const QList<QStringList> saves{
        {"save", archive, "-o", onnx, "--input-data", reference},
        {"trace", archive, "--tracer", "traced-module", "--input-data", reference, "--save", module}};
    for (const QStringList& save : saves) {
        const Outcome saved = runSonde(save);
        QVERIFY2(saved.status == 0, qPrintable(saved.err));
    }
    for (const QString& file : {onnx, module}) {
        const Outcome checked = runSonde({"check", file, reference});
        // A case of other sizes than the file was written for is told, too.
        QVERIFY2(checked.status != 1 && checked.out.contains(", 0 failed"), qPrintable(checked.out + checked.err));
    }
}

void TestCommandLine::opsAndModelsAreListed() {
    const Outcome ops = runSonde({"ops"});
    QCOMPARE(ops.status, 0);
    QVERIFY(ops.out.contains("Conv"));
    const Outcome models = runSonde({"models"});
    QCOMPARE(models.status, 0);
    QVERIFY(models.out.contains("zoo:resnet18"));
    QVERIFY(models.out.contains("(tokens int64[2,15]; settings: classes=5, vocab=120"));
}

void TestCommandLine::weightsComeFromAFile() {
    const QString reference = model("unet_small.npz");
    const QStringList check{"check", "zoo:unet_small", reference};
    QCOMPARE(runSonde(check).status, 1);
    const Outcome outcome = runSonde(check + QStringList{"--weights", model("unet_small.trace.pt")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.out + outcome.err));
    QVERIFY(outcome.out.contains("56 values in 1 case compared, 0 failed"));
}

void TestCommandLine::everyVerbHasHelpWithAnExample() {
    const Outcome help = runSonde({"--help"});
    QCOMPARE(help.status, 0);
    for (const char* verb : {"info", "trace", "run", "check", "bench", "ops", "models", "conformance"}) {
        QVERIFY2(help.out.contains(QLatin1String(verb)), verb);
        const Outcome own = runSonde({verb, "--help"});
        QCOMPARE(own.status, 0);
        QVERIFY2(own.out.contains("Example"), verb);
        QVERIFY2(own.out.contains(QString("sonde %1").arg(verb)), verb);
    }
    QVERIFY(runSonde({"--version"}).out.startsWith("sonde "));
}

void TestCommandLine::wrongFilesAreRefusedByEveryVerb_data() {
    QTest::addColumn<QStringList>("written");
    QTest::addColumn<QString>("breaks");
    const QString file = m_folder.filePath("whole");
    const QStringList module{"trace", "zoo:seed", "--tracer", "traced-module", "--save", file};
    for (const char* breaks : {"cut", "other version", "other kind", "no graph"}) {
        QTest::addRow("traced module, %s", breaks) << module << breaks;
        QTest::addRow("dump, %s", breaks) << QStringList{"dump", "zoo:seed", "-o", file} << breaks;
    }
    QTest::newRow("values") << QStringList{"run", "zoo:seed", "--out", m_folder.filePath("whole.npz")} << "";
}

/// Files of ours that are not what their head says; status 3 whatever is asked of them.
void TestCommandLine::wrongFilesAreRefusedByEveryVerb() {
    QFETCH(QStringList, written);
    QFETCH(QString, breaks);
    QCOMPARE(runSonde(written).status, 0);
    QFile whole(written.last());
    QVERIFY(whole.open(QIODevice::ReadOnly));
    QByteArray bytes = whole.readAll();
    if (breaks == "cut") bytes.chop(bytes.size() / 3);
    if (breaks == "other version") bytes.replace("\"version\":", "\"version\":9");
    if (breaks == "other kind") bytes.replace("\"format\":\"sonde", "\"format\":\"sound");
    if (breaks == "no graph") bytes.replace("\"graph", "\"grapf");
    const QString file = m_folder.filePath("wrong.sondetm");
    QFile wrong(file);
    QVERIFY(wrong.open(QIODevice::WriteOnly) && wrong.write(bytes) == bytes.size());
    wrong.close();
    for (const QStringList& verb :
         {QStringList{"trace", file}, QStringList{"run", file}, QStringList{"check", file, model("mlp_functional.npz")},
          QStringList{"info", file}}) {
        const Outcome outcome = runSonde(verb);
        QVERIFY2(outcome.status == 3, qPrintable(verb.first() + ": " + QString::number(outcome.status) + outcome.err));
        QVERIFY2(outcome.err.startsWith("sonde: error: "), qPrintable(outcome.err));
        QVERIFY(outcome.out.isEmpty());
    }
}

void TestCommandLine::errorsHaveTheirFormAndStatus_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("says");
    const QString net = model("shared_twice.onnx");
    QTest::newRow("no model") << QStringList{"trace"} << 2 << "MODEL";
    QTest::newRow("unknown option") << QStringList{"trace", net, "--bogus"} << 2 << "--bogus";
    QTest::newRow("unknown format") << QStringList{"trace", net, "--format", "xml"} << 2 << "xml";
    QTest::newRow("no file") << QStringList{"trace", "nothing.onnx"} << 3 << "no such file (nothing.onnx)";
    QTest::newRow("a folder") << QStringList{"trace", "."} << 3 << "folder";
    QTest::newRow("a picture") << QStringList{"trace", sample("chelsea.png")} << 3 << "PNG";
    QTest::newRow("text") << QStringList{"trace", sample("README.md")} << 3 << "text";
    QTest::newRow("weights alone") << QStringList{"trace", model("mlp_functional.state_dict.pt")} << 3 << "";
    QTest::newRow("unknown zoo model") << QStringList{"trace", "zoo:resnet81"} << 3 << "resnet18";
    QTest::newRow("unknown setting") << QStringList{"trace", "zoo:resnet18?depth=3"} << 2 << "settings: classes, width";
    QTest::newRow("weights that do not fit")
        << QStringList{"trace", "zoo:gpt_mini", "--weights", model("mlp_functional.state_dict.pt")} << 3
        << "unexpected: fc1.bias";
    QTest::newRow("weights for a file") << QStringList{"trace", net, "--weights", model("mlp_functional.state_dict.pt")}
                                        << 2 << "built-in models and models in C++ only";
    QTest::newRow("unknown node") << QStringList{"run", net, "--watch", "/act/Tan_output_0"} << 2
                                  << "did you mean /act/Tanh_output_0";
    QTest::newRow("unknown number") << QStringList{"run", net, "--end", "#99999"} << 2 << "#99999";
    QTest::newRow("unknown module") << QStringList{"run", net, "--end", "blok:"} << 2 << "did you mean block";
    QTest::newRow("bad input") << QStringList{"run", net, "--input-data", "#rand(1e-3,2)"} << 2 << "#rand";
    QTest::newRow("input of another rank")
        << QStringList{"run", net, "--input-data", "#rand(0,1,3)"} << 2
        << "input 'x' expects float32[4,12], got float32[3] (rank: 2 declared, 1 given)";
    QTest::newRow("input of other sizes")
        << QStringList{"run", net, "--input-data", "#rand(0,1,4,13)"} << 2 << "dimension 1: 12 declared, 13 given";
    QTest::newRow("tracer for a graph") << QStringList{"trace", net, "--tracer", "robust"} << 2 << "--tracer";
    QTest::newRow("the kernel fails") << QStringList{"run", model("gpt_mini.onnx"), "--input-data",
                                                     "#rand(9000,9999,1,20)"}
                                      << 4 << "tok_emb";
    QTest::newRow("reference of another model")
        << QStringList{"check", net, model("gpt_mini.npz")} << 2 << "the file has no array for input 'x'";
    QTest::newRow("scale that is no number")
        << QStringList{"render", net, "-o", m_folder.filePath("r.png"), "--scale", "nan"} << 2 << "'nan' is no number";
    QTest::newRow("no reference") << QStringList{"check", net, "nothing.npz"} << 3 << "nothing.npz";
}

void TestCommandLine::errorsHaveTheirFormAndStatus() {
    QFETCH(QStringList, arguments);
    QFETCH(int, status);
    QFETCH(QString, says);
    const Outcome outcome = runSonde(arguments);
    QVERIFY2(outcome.status == status, qPrintable(QString::number(outcome.status) + outcome.err));
    QStringList lines = outcome.err.split(u'\n', Qt::SkipEmptyParts);
    lines.removeIf([](const QString& line) { return line.startsWith("sonde: warning: "); });
    QVERIFY(!lines.isEmpty() && lines.size() <= 2);
    QVERIFY2(lines[0].startsWith("sonde: error: "), qPrintable(lines[0]));
    if (lines.size() == 2) QVERIFY2(lines[1].startsWith("hint: "), qPrintable(lines[1]));
    QVERIFY2(lines.join(u'\n').contains(says), qPrintable(outcome.err));
}

void TestCommandLine::unknownOperatorsAreNamedAndRunToTheirDoor() {
    using namespace test::onnxfile;
    const QString file = m_folder.filePath("unknown.onnx");
    QVERIFY(write(file,
                  test::onnxfile::model(
                      {{{"Relu", {"x"}, {"y"}}, {"Frobnicate", {"y"}, {"z"}, "odd", "own"}, {"Twiddle", {"z"}, {"w"}}},
                       {valueInfo("x", 1, {2})},
                       {valueInfo("w", 1, {2})}})));
    const Outcome trace = runSonde({"trace", file});
    QCOMPARE(trace.status, 0);
    QCOMPARE(trace.out.count(u'\n'), 4);
    QVERIFY(trace.err.contains("Frobnicate") && trace.err.contains("Twiddle"));
    const Outcome run = runSonde({"run", file, "--watch", "y"});
    QCOMPARE(run.status, 4);
    QVERIFY2(run.err.contains("own::Frobnicate") && run.err.contains("'z'"), qPrintable(run.err));
    QVERIFY(run.out.contains("float32[2]"));  // y was computed and is shown
    QCOMPARE(runSonde({"run", file, "--end", "y"}).status, 0);
}

void TestCommandLine::aWindowWithoutADisplayIsRefused() {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove("DISPLAY");
    environment.remove("WAYLAND_DISPLAY");
    environment.insert("QT_QPA_PLATFORM", "xcb");
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"zoo:resnet18"});
    QVERIFY(process.waitForFinished(60'000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 2);
    const QString text = QString::fromUtf8(process.readAllStandardError());
    QVERIFY2(text.contains("sonde: error: ") && text.contains("window"), qPrintable(text));
}

void TestCommandLine::interruptionIsStatus5() {
    QProcess process;
    process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"run", "zoo:resnet18", "--repeat", "10000"});
    QVERIFY(process.waitForStarted());
    // The process listens to the signal as soon as it says so itself.
    const auto listens = [&process] {
        const QString status = contents(QString("/proc/%1/status").arg(process.processId()));
        const QString caught = status.section("SigCgt:", 1).section(u'\n', 0, 0).trimmed();
        return (caught.toULongLong(nullptr, 16) & (1ull << (SIGINT - 1))) != 0;
    };
    QTRY_VERIFY_WITH_TIMEOUT(listens(), 20'000);
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(20'000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 5);
    QVERIFY(process.readAllStandardError().contains("sonde: error: cancelled"));
}

QTEST_GUILESS_MAIN(TestCommandLine)

}  // namespace tst_command_line

#include "tst_command_line.moc"
