// The front door: what is opened is recognised by content, and nodes are found by what people call them.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

#include "core/document/document.h"
#include "tests/support/onnx_file.h"

namespace tst_document {

using namespace sonde;

namespace {

std::string data(const char* name) { return std::string(SONDE_TEST_DATA "/models/") + name; }

std::string nodeName(const document::Document& document, const char* text) {
    const auto node = document.findNode(text);
    return node ? document.graph->node(*node).name : "error: " + node.error().text() + " | " + node.error().hint;
}

}  // namespace

class TestDocument : public QObject {
    Q_OBJECT

  private slots:
    void contentDecidesAndNotTheName();
    void builtInModelsAreAFormat();
    void filesThatAreNoModelsAreToldWhatTheyAre_data();
    void filesThatAreNoModelsAreToldWhatTheyAre();
    void inputsAndOutputsHaveTheFilesNames();
    void typesAreInferredBeforeARun();
    void unknownOperatorsAreAllListed();
    void nodesAreFoundByNameNumberAndModule();
    void cancelledWorkIsNotAModel();

  private:
    QTemporaryDir m_folder;
};

void TestDocument::contentDecidesAndNotTheName() {
    const QString path = m_folder.filePath("holiday.png");
    QVERIFY(QFile::copy(QString::fromStdString(data("shared_twice.onnx")), path));
    const auto document = document::open(path.toStdString());
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    QCOMPARE((*document)->format, std::string("ONNX"));
    QCOMPARE((*document)->title, std::string("holiday.png"));
    QVERIFY((*document)->fingerprint != 0);
}

void TestDocument::builtInModelsAreAFormat() {
    const auto& formats = document::formats();
    const auto zoo = std::ranges::find(formats, "zoo", &document::Format::scheme);
    QVERIFY(zoo != formats.end());
    QVERIFY(!zoo->recognises && zoo->suffixes.empty());  // no bytes of a file are taken for a built-in model
    const auto made = zoo->open("seed", {}, {});
    const auto opened = document::open("zoo:seed");
    QVERIFY(made.has_value() && opened.has_value());
    QCOMPARE((*made)->format, std::string("built-in model"));
    QCOMPARE((*made)->location, std::string("zoo:seed"));
    QCOMPARE((*opened)->fingerprint, (*made)->fingerprint);
    QCOMPARE((*opened)->graph->exprCount(), (*made)->graph->exprCount());
    // Another word before a colon is part of a file's name, the scheme as well if nothing stands before the colon.
    for (const char* file : {"zoos:seed", "Zoo:seed", ":seed", "seed"}) {
        const auto missing = document::open(file);
        QVERIFY2(!missing && missing.error().kind == base::ErrorKind::Unreadable, file);
    }
}

void TestDocument::filesThatAreNoModelsAreToldWhatTheyAre_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    QTest::newRow("empty") << QByteArray() << "empty";
    QTest::newRow("png") << QByteArray("\x89PNG\r\n\x1a\n") << "PNG";
    QTest::newRow("lfs") << QByteArray("version https://git-lfs.github.com/spec/v1\noid sha256:0\n") << "git lfs pull";
    QTest::newRow("hdf5") << QByteArray("\x89HDF\r\n\x1a\n....") << "Keras";
    QTest::newRow("numpy") << QByteArray("\x93NUMPY\1\0v\0") << "--input-data";
    QTest::newRow("web page") << QByteArray("<!DOCTYPE html><html>") << "download";
    QTest::newRow("text") << QByteArray("hello\n") << "text";
    QTest::newRow("noise") << QByteArray("\xfe\xdc\xba\x98\x76\x54\x32\x10") << "not a model";
}

void TestDocument::filesThatAreNoModelsAreToldWhatTheyAre() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    const QString path = m_folder.filePath("file");
    QVERIFY(test::onnxfile::write(path, bytes.toStdString()));
    const auto document = document::open(path.toStdString());
    QVERIFY(!document);
    QCOMPARE(document.error().exitStatus(), 3);
    const QString text = QString::fromStdString(document.error().text() + " " + document.error().hint);
    QVERIFY2(text.contains(says), qPrintable(text));
}

void TestDocument::inputsAndOutputsHaveTheFilesNames() {
    const auto document = document::open(data("nested_containers.onnx"));
    QVERIFY(document.has_value());
    QCOMPARE((*document)->inputs.size(), std::size_t{1});
    QCOMPARE((*document)->inputs[0].name, std::string("image"));
    QCOMPARE((*document)->outputs.size(), std::size_t{2});
    QCOMPARE((*document)->outputs[0].name, std::string("mean"));
    QCOMPARE((*document)->outputs[1].name, std::string("peak"));
}

void TestDocument::typesAreInferredBeforeARun() {
    // The file has no value_info: shapes between nodes are inferred or computed.
    const auto document = document::open(data("unet_small.onnx"));
    QVERIFY(document.has_value());
    const graph::InternalGraph& graph = *(*document)->graph;
    std::size_t operations = 0;
    std::size_t known = 0;
    for (graph::ExprId id : graph.main().order) {
        if (graph.expr(id).kind != graph::ExprKind::Apply) continue;
        ++operations;
        known += graph.node(graph.expr(id).outputs[0]).type.staticShape().has_value() ? 1 : 0;
    }
    QCOMPARE(known, operations);
    QCOMPARE(graph.node(graph.outputs()[0]).type.text(), std::string("float32[1,3,64,64]"));
}

void TestDocument::unknownOperatorsAreAllListed() {
    using namespace test::onnxfile;
    const QString path = m_folder.filePath("unknown.onnx");
    QVERIFY(write(
        path,
        model({{{"One", {"x"}, {"a"}, "", "own"}, {"Two", {"a"}, {"b"}, "", "own"}, {"One", {"b"}, {"c"}, "", "own"}},
               {valueInfo("x", 1, {2})},
               {valueInfo("c", 1, {2})}},
              {}, {opset("", 16), opset("own", 1)})));
    const auto document = document::open(path.toStdString());
    QVERIFY(document.has_value());
    QStringList found;
    for (const base::Diagnostic& finding : (*document)->diagnostics) found << QString::fromStdString(finding.what);
    QCOMPARE(found.size(), 2);
    QVERIFY(found[0].contains("own::One") && found[0].contains("2 nodes"));
    QVERIFY(found[1].contains("own::Two"));
}

void TestDocument::nodesAreFoundByNameNumberAndModule() {
    const auto opened = document::open(data("shared_twice.onnx"));
    QVERIFY(opened.has_value());
    const document::Document& document = **opened;
    QCOMPARE(nodeName(document, "/block_1/Add_output_0"), std::string("/block_1/Add_output_0"));
    QCOMPARE(nodeName(document, "#0"), std::string("x"));
    QCOMPARE(nodeName(document, "norm:"), std::string("y"));
    QCOMPARE(nodeName(document, ":"), std::string("y"));
    // Of a module called several times, the first call.
    QCOMPARE(nodeName(document, "block:"), std::string("/block/Add_output_0"));
    QCOMPARE(nodeName(document, "block.lin:"), std::string("/block/lin/Gemm_output_0"));
    QVERIFY(QString::fromStdString(nodeName(document, "#100000")).startsWith("error"));
    QVERIFY(QString::fromStdString(nodeName(document, "#x")).startsWith("error"));
    QVERIFY(QString::fromStdString(nodeName(document, "/block_1/Ad_output_0")).contains("did you mean /block"));
    QVERIFY(QString::fromStdString(nodeName(document, "block")).contains("'block:'"));
    QVERIFY(QString::fromStdString(nodeName(document, "blocks:")).contains("did you mean block"));

    const auto zoo = document::open("zoo:resnet18");
    QVERIFY(zoo.has_value());
    QCOMPARE(nodeName(**zoo, "layer1:"), std::string("layer1_1_relu_1"));
    QCOMPARE(nodeName(**zoo, "layer1.0.conv1:"), std::string("layer1_0_conv1"));
}

void TestDocument::cancelledWorkIsNotAModel() {
    std::stop_source source;
    source.request_stop();
    base::WorkContext work;
    work.stop = source.get_token();
    const auto document = document::open(data("resnet18_slim.onnx"), {}, work);
    QVERIFY(!document);
    QCOMPARE(document.error().exitStatus(), 5);
}

QTEST_APPLESS_MAIN(TestDocument)

}  // namespace tst_document

#include "tst_document.moc"
