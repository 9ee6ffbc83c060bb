// The picture taken away: formats that other programs read, and the same bytes each time.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include "core/document/document.h"
#include "ui/canvas/export.h"
#include "ui/canvas/layout_service.h"

namespace tst_scene_export {

using namespace sonde;
using namespace sonde::canvas;

class TestSceneExport : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void svgHoldsNamesAsTextInTitledGroups();
    void svgIsDrawnByOthers();
    void pdfTextCanBeRead();
    void pngHasTheSizeAndTheBackground();
    void dotIsReadByGraphviz();
    void jsonHoldsTheGeometry();
    void sameSceneSameBytes();
    void anUnknownEndingIsAUsageErrorAMissingFolderNot();
    void theVerbWritesTheSameBytes();
    void namesAreNeverMarkup();

  private:
    QByteArray bytes(const char* format, double scale = 1.0) const {
        auto result = sceneBytes(*m_painter, {}, QLatin1String(format), scale);
        return result ? *result : QByteArray();
    }
    std::shared_ptr<const document::Document> m_document;
    std::unique_ptr<ScenePainter> m_painter;
    QTemporaryDir m_folder;
};

namespace {

std::unique_ptr<ScenePainter> paint(std::shared_ptr<const graph::InternalGraph> graph, std::size_t depth) {
    const layout::Outline outline(graph);
    layout::ViewState view;
    layout::openToDepth(outline, view, depth);
    const CanvasStyle style;
    const auto measure = std::make_shared<const TextMeasure>(1.0);
    layout::SceneOptions options;
    options.metrics = itemMetrics(graph, style, measure, {}, {});
    auto picture = layOutPicture(outline, view, options);
    if (!picture) return nullptr;
    return std::make_unique<ScenePainter>(std::make_shared<const SceneIndex>(std::move(picture).value().scene), graph,
                                          measure, style);
}

}  // namespace

void TestSceneExport::initTestCase() {
    auto opened = document::open("zoo:resnet18");
    QVERIFY(opened);
    m_document = *opened;
    m_painter = paint(m_document->graph, 1);
    QVERIFY(m_painter);
}

void TestSceneExport::svgHoldsNamesAsTextInTitledGroups() {
    QXmlStreamReader xml(bytes("svg"));
    QStringList texts, titles;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) continue;
        if (xml.name() == QLatin1String("text")) texts << xml.readElementText();
        else if (xml.name() == QLatin1String("title")) titles << xml.readElementText();
    }
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    for (const char* name : {"layer1", "layer4.1", "flatten", "x", "3→64 k7 s2 p3", "512→1000"})
        QVERIFY2(texts.contains(QString::fromUtf8(name)), name);
    QVERIFY(titles.contains("module layer1, Sequential, 2 blocks, expanded"));
    // A line into layer1 passes its title, which is written again over the lines.
    const qsizetype lines = titles.indexOf("edges"), names = titles.indexOf("names over edges");
    QVERIFY(lines >= 0 && names > lines);
}

void TestSceneExport::svgIsDrawnByOthers() {
    const QImage ours =
        sceneImage(*m_painter, {}, toQt(m_painter->index().scene().bounds).adjusted(-24, -24, 24, 24), 1.0);
    const QImage theirs = QImage::fromData(bytes("svg"), "SVG");  // Qt's SVG reader, which knows nothing of the painter
    QCOMPARE(theirs.width(), ours.width());
    QVERIFY(std::abs(theirs.height() - ours.height()) <= 1);
    // Boxes are in the same places: far most pixels agree (text is set by another engine).
    qint64 differing = 0, all = 0;
    for (int y = 0; y < std::min(ours.height(), theirs.height()); y += 3)
        for (int x = 0; x < ours.width(); x += 3, ++all)
            differing += std::abs(qGray(ours.pixel(x, y)) - qGray(theirs.pixel(x, y))) > 48;
    QVERIFY2(differing * 20 < all, qPrintable(QStringLiteral("%1 of %2").arg(differing).arg(all)));
}

void TestSceneExport::pdfTextCanBeRead() {
    const QString tool = QStandardPaths::findExecutable("pdftotext");
    const QByteArray pdf = bytes("pdf");
    QVERIFY(pdf.startsWith("%PDF-"));
    // Of Debian's poppler-utils, which only .ci/run installs: nothing else here reads the text of a PDF.
    if (tool.isEmpty()) QSKIP("pdftotext is not installed");
    QFile file(m_folder.filePath("r.pdf"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(pdf);
    file.close();
    QProcess process;
    process.start(tool, {file.fileName(), "-"});
    QVERIFY(process.waitForFinished(20000));
    const QByteArray text = process.readAllStandardOutput();
    QVERIFY(text.contains("layer1.0"));
    QVERIFY(text.contains("BasicBlock"));
}

void TestSceneExport::pngHasTheSizeAndTheBackground() {
    const QImage image = QImage::fromData(bytes("png", 2.0), "PNG");
    const layout::Rect bounds = m_painter->index().scene().bounds;
    QVERIFY(std::abs(image.width() - 2 * (bounds.width + 48)) <= 2);
    QCOMPARE(image.pixelColor(1, 1), theme::color(theme::ColorRole::Canvas, theme::Scheme::Light));
}

void TestSceneExport::dotIsReadByGraphviz() {
    const QString tool = QStandardPaths::findExecutable("dot");
    QVERIFY(!tool.isEmpty());  // Graphviz is needed to build
    QProcess process;
    process.start(tool, {"-Tplain"});
    process.write(bytes("dot"));
    process.closeWriteChannel();
    QVERIFY(process.waitForFinished(20000));
    QCOMPARE(process.exitCode(), 0);
    const QByteArray plain = process.readAllStandardOutput();
    QCOMPARE(plain.count("\nedge "), static_cast<qsizetype>(m_painter->index().scene().edges.size()));
    QVERIFY(plain.contains("layer1.0"));
}

void TestSceneExport::jsonHoldsTheGeometry() {
    const QJsonObject root = QJsonDocument::fromJson(bytes("json")).object();
    const layout::SceneLayout& scene = m_painter->index().scene();
    QCOMPARE(root["format"].toString(), "sonde-scene");
    QCOMPARE(root["items"].toArray().size(), static_cast<qsizetype>(scene.items.size()));
    QCOMPARE(root["edges"].toArray().size(), static_cast<qsizetype>(scene.edges.size()));
    QCOMPARE(root["hidden"].toObject()["operations"].toInt(), static_cast<int>(scene.hiddenExprs));
}

void TestSceneExport::sameSceneSameBytes() {
    const auto again = paint(m_document->graph, 1);
    const char* const formats[] = {"svg", "pdf", "png", "dot", "json"};
    QList<QByteArray> first;
    for (const char* format : formats) first << bytes(format);
    // A date in a file would show: the second ones are made in another second.
    const qint64 then = QDateTime::currentSecsSinceEpoch();
    QTRY_VERIFY(QDateTime::currentSecsSinceEpoch() > then);
    for (std::size_t i = 0; i < std::size(formats); ++i) {
        const auto second = sceneBytes(*again, {}, QLatin1String(formats[i]), 1.0);
        QVERIFY(second);
        QVERIFY2(first[static_cast<qsizetype>(i)] == *second, formats[i]);
    }
}

void TestSceneExport::anUnknownEndingIsAUsageErrorAMissingFolderNot() {
    const auto result = exportScene(*m_painter, {}, m_folder.filePath("picture.bmp"), 1.0);
    QVERIFY(!result);
    QCOMPARE(result.error().kind, base::ErrorKind::Usage);
    const auto missing = exportScene(*m_painter, {}, "/nonexistent/folder/picture.svg", 1.0);
    QVERIFY(!missing);
    QCOMPARE(missing.error().kind, base::ErrorKind::Run);
}

void TestSceneExport::theVerbWritesTheSameBytes() {
    for (const char* ending : {"svg", "pdf", "dot", "json"}) {
        const QString path = m_folder.filePath(QStringLiteral("verb.") + QLatin1String(ending));
        QProcess process;
        process.start(SONDE_BINARY_DIR "/sonde", {"render", "zoo:resnet18", "--depth", "1", "-o", path});
        QVERIFY(process.waitForFinished(30000));
        QCOMPARE(process.exitCode(), 0);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY2(file.readAll() == bytes(ending), ending);
    }
}

void TestSceneExport::namesAreNeverMarkup() {
    auto graph = std::make_shared<graph::InternalGraph>();
    graph->name = "<script>&\"";
    const auto in = graph->addInput(graph->mainId(), "a<b>&\"\n\x01", tensor::TypeInfo{});
    graph::Expr expr;
    expr.kind = graph::ExprKind::Apply;
    expr.op = {"", "Relu", 13};
    expr.target = "Relu";
    expr.arguments = {graph::Argument::of(in)};
    expr.body = graph->mainId();
    expr.scope = graph->rootScope();
    const std::string names[] = {std::string(10000, 'x') + "\xF0\x9F\x98\x80"};
    const auto id = graph->addExpr(expr, names);
    graph->setResult(graph->mainId(), graph::Argument::of(graph->expr(id).outputs.front()));
    const auto painter = paint(graph, 1);
    QVERIFY(painter);
    QXmlStreamReader xml(*sceneBytes(*painter, {}, "svg", 1.0));
    while (!xml.atEnd()) {
        if (xml.readNext() == QXmlStreamReader::StartElement) QVERIFY(xml.name() != QLatin1String("script"));
    }
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    QVERIFY(painter->index().scene().bounds.width < 2000);
}

QTEST_MAIN(TestSceneExport)

}  // namespace tst_scene_export

#include "tst_scene_export.moc"
