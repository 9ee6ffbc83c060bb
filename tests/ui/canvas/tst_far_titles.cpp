// Names of boxes far out: words with the count of blocks, over nothing else, the same whatever part is painted.

#include <QStandardPaths>
#include <QTest>

#include <algorithm>

#include "core/document/document.h"
#include "ui/canvas/far_titles.h"
#include "ui/canvas/free_places.h"
#include "ui/canvas/layout_service.h"
#include "ui/canvas/run_title.h"

namespace tst_far_titles {

using namespace sonde;
using namespace sonde::canvas;

class TestFarTitles : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void namesSayHowManyBlocks();
    void layersOfUnknownClassAreModules();
    void blocksAreCountedOnce();
    void namesAreBesideNarrowBoxes_data();
    void namesAreBesideNarrowBoxes();
    void namesOfNodesAreNotCovered();
    void partsShowWhatTheWholeShows();
    void namesBetweenColumnsStayReadable_data();
    void namesBetweenColumnsStayReadable();
    void theEdgeCutsNoName_data();
    void theEdgeCutsNoName();
    void runsAreShortenedOnce();
    void roomIsFoundBetweenWhatIsThere();
};

namespace {

struct Scene {
    std::shared_ptr<const document::Document> document;
    std::shared_ptr<const SceneIndex> index;
    std::unique_ptr<ItemPainter> items;

    Scene(const char* model, std::size_t depth, double columnHeight = 0) {
        auto opened = document::open(model, {});
        if (!opened) qFatal("%s", opened.error().text().c_str());
        document = *opened;
        const layout::Outline outline(document->graph);
        layout::ViewState view;
        layout::openToDepth(outline, view, depth);
        view.columnHeight = columnHeight;
        const auto measure = std::make_shared<const TextMeasure>(1.0);
        layout::SceneOptions options;
        options.metrics = itemMetrics(document->graph, {}, measure, {}, {});
        auto scene = layOut(outline, view, options);
        if (!scene) qFatal("%s", scene.error().text().c_str());
        index = std::make_shared<const SceneIndex>(std::move(scene).value());
        items = std::make_unique<ItemPainter>(document->graph, measure, CanvasStyle());
    }
    QRectF whole() const { return toQt(index->scene().bounds).adjusted(-9999, -9999, 9999, 9999); }
    QStringList textsAt(double scale) const {
        QStringList texts;
        for (const FarTitle& title : FarTitles(*index, *items).within(whole(), scale)) texts << title.text;
        return texts;
    }
};

}  // namespace

/// ResNet-34 has 3, 4, 6 and 3 blocks (He et al. 2016, table 1), DenseNet-121 6, 12, 24 and 16 layers (Huang et al.
/// 2017, table 1).
void TestFarTitles::namesSayHowManyBlocks() {
    const QStringList resnet = Scene("zoo:resnet34", 0).textsAt(0.19);
    for (const char* title : {"layer1 · 3 blocks", "layer2 · 4 blocks", "layer3 · 6 blocks", "layer4 · 3 blocks"})
        QVERIFY2(resnet.contains(QString::fromUtf8(title)), qPrintable(resnet.join(u'\n')));
    const QStringList densenet = Scene("zoo:densenet121", 1).textsAt(0.15);
    for (const char* title : {"denseblock1 · 6 blocks", "denseblock3 · 24 blocks"})
        QVERIFY2(densenet.join(u'\n').contains(QString::fromUtf8(title)), qPrintable(densenet.join(u'\n')));
}

/// An ONNX file does not say which of 13 layers are the 11 bottlenecks (Howard et al. 2019, table 2).
void TestFarTitles::layersOfUnknownClassAreModules() {
    QVERIFY(Scene("zoo:mobilenet_v3_small", 0).textsAt(0.15).contains(QString::fromUtf8("features · 11 blocks")));
    const QString file = QStringLiteral(SONDE_TEST_DATA "/models/mobilenet_v3_small.onnx");
    QVERIFY(Scene(qPrintable(file), 0).textsAt(0.15).contains(QString::fromUtf8("features · 13 modules")));
}

/// The class of a group that was found is "40 blocks".
void TestFarTitles::blocksAreCountedOnce() {
    ItemText group{QStringLiteral("blocks"), QStringLiteral("40 blocks"), {}, QStringLiteral("40 blocks"), {}};
    QCOMPARE(group.classAndFacts(), QStringLiteral("40 blocks"));
    group.qualname = QStringLiteral("Sequential");
    QCOMPARE(group.classAndFacts(), QString::fromUtf8("Sequential · 40 blocks"));
}

void TestFarTitles::namesAreBesideNarrowBoxes_data() {
    QTest::addColumn<int>("depth");
    QTest::addColumn<double>("scale");
    QTest::newRow("ribbon") << 9 << 0.06;
    QTest::newRow("open stages") << 1 << 0.1;
    QTest::newRow("closed stages") << 0 << 0.1;
    QTest::newRow("headings") << 1 << 0.3;
}

void TestFarTitles::namesAreBesideNarrowBoxes() {
    QFETCH(int, depth);
    QFETCH(double, scale);
    const Scene scene("zoo:resnet18", static_cast<std::size_t>(depth));
    const std::vector<FarTitle> titles = FarTitles(*scene.index, *scene.items).within(scene.whole(), scale);
    QStringList texts;
    for (const FarTitle& title : titles) texts << title.text;
    // Where the boxes are closer to each other than letters are high, later names are left out.
    for (const char* name : {"layer1", "layer3"})
        QVERIFY2(texts.join(u'\n').contains(QLatin1String(name)), qPrintable(texts.join(u'\n')));
    for (std::size_t i = 0; i < titles.size(); ++i) {
        QVERIFY(titles[i].rect.height() * scale >= 10);  // pixels: can be read
        for (std::size_t k = 0; k < i; ++k)
            QVERIFY2(!titles[i].rect.intersects(titles[k].rect), qPrintable(titles[i].text + u' ' + titles[k].text));
        const std::vector<layout::SceneItem>& items = scene.index->scene().items;
        const auto isAround = [&](const layout::SceneItem& item) { return toQt(item.rect).contains(titles[i].rect); };
        if (std::ranges::any_of(items, isAround)) continue;  // within its box
        for (const layout::SceneItem& item : items)
            if (!item.what.open) QVERIFY2(!toQt(item.rect).intersects(titles[i].rect), qPrintable(titles[i].text));
    }
}

/// Thirteen layers in columns, the names of whose lines leave no room for the count above them.
void TestFarTitles::namesOfNodesAreNotCovered() {
    const Scene scene("zoo:mobilenet_v3_small", 1, 400);
    std::vector<JumpName> names;
    const auto namesAt = [&](double scale) -> const std::vector<JumpName>& {
        names = jumpNames(*scene.index, *scene.document->graph, scene.items->measure(), jumpNameFactor(scale));
        return names;
    };
    FarTitles titles(*scene.index, *scene.items, namesAt);
    bool isNamed = false;
    for (double scale = 0.3; scale < 0.6; scale += 0.02)
        for (const FarTitle& title : titles.within(scene.whole(), scale)) {
            isNamed = isNamed || title.text.startsWith(QStringLiteral("features"));
            for (const layout::SceneItem& item : scene.index->scene().items)
                if (!item.what.open && !toQt(item.rect).contains(title.rect))
                    QVERIFY2(!toQt(item.rect).intersects(title.rect),
                             qPrintable(QStringLiteral("%1 at %2").arg(title.text).arg(scale)));
        }
    QVERIFY(isNamed);
}

void TestFarTitles::partsShowWhatTheWholeShows() {
    const Scene scene("zoo:resnet18", 9);
    FarTitles titles(*scene.index, *scene.items);
    for (const double scale : {0.06, 0.19, 0.06}) {
        for (const FarTitle& title : titles.within(scene.whole(), scale)) {
            const std::vector<FarTitle> part = titles.within({title.rect.center(), QSizeF(1, 1)}, scale);
            QVERIFY(std::ranges::any_of(part, [&](const FarTitle& other) { return other.rect == title.rect; }));
        }
    }
}

void TestFarTitles::namesBetweenColumnsStayReadable_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("depth");
    QTest::newRow("resnet18") << "zoo:resnet18" << 9;
    QTest::newRow("densenet121") << "zoo:densenet121" << 2;
    QTest::newRow("vit_b_16") << "zoo:vit_b_16" << 3;
}

void TestFarTitles::namesBetweenColumnsStayReadable() {
    QFETCH(QString, model);
    QFETCH(int, depth);
    const Scene scene(qPrintable(model), static_cast<std::size_t>(depth), 1500);
    std::vector<JumpName> names;
    const auto namesAt = [&](double scale) -> const std::vector<JumpName>& {
        names = jumpNames(*scene.index, *scene.document->graph, scene.items->measure(), jumpNameFactor(scale));
        return names;
    };
    FarTitles titles(*scene.index, *scene.items, namesAt);
    std::size_t seen = 0, named = 0;
    for (const double scale : {0.08, 0.12, 0.2, 0.3, 0.45}) {
        const std::vector<FarTitle> placed = titles.within(scene.whole(), scale);
        named += namesAt(scale).size();
        for (const FarTitle& title : placed)
            for (const JumpName& name : names)
                QVERIFY2(!title.rect.intersects(name.rect), qPrintable(title.text + u' ' + name.text));
        seen += placed.size();
    }
    QVERIFY(seen > 0 && named > 0);
}

void TestFarTitles::theEdgeCutsNoName_data() { namesBetweenColumnsStayReadable_data(); }

/// Fitted into a view of 620 by 500 pixels, as a window of 800 by 600 has it.
void TestFarTitles::theEdgeCutsNoName() {
    QFETCH(QString, model);
    QFETCH(int, depth);
    for (const double columns : {0.0, 1500.0}) {
        const Scene scene(qPrintable(model), static_cast<std::size_t>(depth), columns);
        const QSizeF size(620, 500);
        const Camera camera = Camera::fitting(toQt(scene.index->scene().bounds), size, kFitMargin, 1);
        const QRectF seen = camera.visible(size);
        FarTitles titles(*scene.index, *scene.items);
        titles.setWholeView(seen, camera.scale);
        const std::vector<FarTitle> placed = titles.within(scene.whole(), camera.scale);
        for (const FarTitle& title : placed) QVERIFY2(seen.contains(title.rect), qPrintable(title.text));
        QVERIFY(!placed.empty());
    }
}

void TestFarTitles::runsAreShortenedOnce() {
    const QString title = QString::fromUtf8("features.denselayer2 … 5  × 4");
    QVERIFY(isRunTitle(title) && !isRunTitle(QStringLiteral("layer1.0")));
    const auto upTo = [](qsizetype size) { return [size](const QString& text) { return text.size() <= size; }; };
    QCOMPARE(shortRunTitle(title, upTo(40)), title);
    QCOMPARE(shortRunTitle(title, upTo(25)), QString::fromUtf8("denselayer2 … 5  × 4"));
    QCOMPARE(shortRunTitle(title, upTo(15)), QString::fromUtf8("2 … 5  × 4"));
    QCOMPARE(shortRunTitle(title, upTo(5)), QString::fromUtf8("× 4"));
    QCOMPARE(shortRunTitle(title, upTo(2)), QString());
    QCOMPARE(shortRunTitle(QString::fromUtf8("layers.0 … 11  × 6, block 1 of 2 in the pattern"), upTo(20)),
             QString::fromUtf8("layers.0 … 11  × 6"));
}

/// Two columns of nodes with a gap of 20 between them, and a gap of 10 below the first rows.
void TestFarTitles::roomIsFoundBetweenWhatIsThere() {
    const QRectF box(100, 200, 120, 100);
    FreePlaces places(box, 2);
    for (const double y : {200.0, 240.0, 270.0})
        for (const double x : {100.0, 170.0}) places.take(QRectF(x, y, 50, y == 200 ? 30 : 28));
    places.take(QRectF(150, 230, 20, 30), true);  // a name between the columns
    const auto wide = places.find({90, 10});
    QVERIFY(wide && wide->covered > 0);  // the gap is there, but so is the name
    const auto left = places.find({50, 10});
    QVERIFY(left.has_value());
    QCOMPARE(left->at, QPointF(100, 230));
    QCOMPARE(left->covered, 0.0);
    const auto between = places.find({20, 28});
    QVERIFY(between.has_value());
    QCOMPARE(between->at, QPointF(150, 200));
    QCOMPARE(between->covered, 0.0);
    // What is kept is not covered, even if nothing else is left.
    FreePlaces full(box, 2);
    full.take(box.adjusted(0, 40, 0, 0));
    full.take(box.adjusted(0, 0, 0, -60), true);
    const auto over = full.find({60, 20});
    QVERIFY(over.has_value());
    QCOMPARE(over->covered, 1.0);
    QVERIFY(over->at.y() >= 240);
    QVERIFY(!full.find({60, 61}).has_value());
    QVERIFY(!full.find({121, 10}).has_value());
}

QTEST_MAIN(TestFarTitles)

}  // namespace tst_far_titles

#include "tst_far_titles.moc"
