// What lies over the canvas and what is written on it: overlays, map and search list leave nodes free, and texts fit.

#include <QLabel>

#include "tests/support/window_fixture.h"
#include "ui/canvas/item_text.h"
#include "ui/canvas/overview_map.h"
#include "ui/window/search_bar.h"

namespace tst_overlays {

using namespace sonde;
using layout::ItemKind;

class TestOverlays : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }
    void aFittedPictureLiesBesideThePlates_data();
    void aFittedPictureLiesBesideThePlates();
    void whatIsFoundIsNotUnderTheList();
    void thePathNamesModulesInside();
    void thePathIsThatOfWhatFillsTheView();
    void linesIntoAnOpenModuleAreTold();
    void portsHaveRoomForTheirTypes();
    void longDimSizesGiveWay_data();
    void longDimSizesGiveWay();
    void typesOnEdgesAreNotUnderThePlate();
    void emptyPanelsLeaveRoomInSmallWindows();

  private:
    QLabel* label(const char* name) {
        for (QLabel* found : canvas()->findChildren<QLabel*>())
            if (found->accessibleName() == QLatin1String(name)) return found;
        return nullptr;
    }
    QString path() {
        QString text = label("Path of modules")->text();
        return label("Path of modules")->isVisible() ? text.remove(QRegularExpression(QStringLiteral("<[^>]*>")))
                                                     : QString();
    }
    /// Pixels of exactly this colour on the canvas.
    int pixels(theme::ColorRole role) {
        const QImage picture = canvas()->grab().toImage().convertToFormat(QImage::Format_RGB32);
        const QRgb wanted = theme::color(role).rgb();
        int count = 0;
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x) count += picture.pixel(x, y) == wanted;
        return count;
    }
};

void TestOverlays::aFittedPictureLiesBesideThePlates_data() {
    QTest::addColumn<QString>("model");
    for (const char* model :
         {"gpt_mini.onnx", "gpt_mini.script.pt", "lstm_classifier.script.pt", "script_features.script.pt"})
        QTest::addRow("%s", model) << file(model);
}

void TestOverlays::aFittedPictureLiesBesideThePlates() {
    QFETCH(QString, model);
    open(model);
    key(Qt::Key_Space);
    for (const QWidget* overlay :
         std::initializer_list<const QWidget*>{label("Hidden nodes"), canvas()->findChild<canvas::OverviewMap*>()}) {
        QVERIFY(overlay);
        if (!overlay->isVisible()) continue;
        for (const layout::ItemId item : canvas()->view().visibleItems())
            QVERIFY2(!canvas()->view().itemRect(item).intersects(overlay->geometry()),
                     qPrintable(canvas()->text().spoken(item)));
    }
    QVERIFY(QRectF(canvas()->rect()).contains(canvas()->view().itemRect(canvas()->view().visibleItems().front())));
}

void TestOverlays::typesOnEdgesAreNotUnderThePlate() {
    open(file("resnet18_slim.onnx"));
    canvas()->view().zoomReset();
    const QLabel* const plate = label("Hidden nodes");
    int shown = 0;
    for (const layout::SceneEdge& edge : canvas()->view().scene()->edges) {
        // Where the plate is with its whole text, far from all nodes; then the type comes there.
        canvas()->view().centreOn(canvas::toQt(edge.labelAt) + QPointF(4000, 0));
        QVERIFY(plate->isVisible());
        const QPointF aside = QRectF(plate->geometry()).center() - QRectF(canvas()->rect()).center();
        canvas()->view().centreOn(canvas::toQt(edge.labelAt) - aside);
        const QPointF at = canvas()->view().camera().toPixel(canvas::toQt(edge.labelAt), canvas()->view().size());
        const QRectF middle(canvas::toQt(edge.labelAt) - QPointF(1, 1), QSizeF(2, 2));
        if (!canvas()->view().painter()->hasTextIn(middle, 1)) continue;  // there is no room for it
        ++shown;
        QVERIFY(!plate->isVisible() || !plate->geometry().contains(at.toPoint()));
    }
    QVERIFY(shown >= 3);
}

void TestOverlays::whatIsFoundIsNotUnderTheList() {
    open(QStringLiteral("zoo:resnet18"));
    key(Qt::Key_F, Qt::ControlModifier);
    window::SearchBar* bar = m_window->searchBar();
    QVERIFY(bar->search(QStringLiteral("op:Conv2d")) > 10);
    settle();
    const QRect list(canvas()->mapFromGlobal(bar->mapToGlobal(QPoint())), bar->size());
    for (int hit = 0; hit < 8; ++hit) {
        const QRectF found = canvas()->view().itemRect(canvas()->view().currentItem());
        QVERIFY(QRectF(canvas()->rect()).contains(found));
        QVERIFY(!found.intersects(list));
        bar->next();
        settle();
    }
}

void TestOverlays::thePathNamesModulesInside() {
    open(file("gpt_mini.script.pt"));  // calls blocks.0, and never blocks itself
    context().navigation().navigateTo(context().navigation().selectionOf(QStringLiteral("blocks.0.attn")));
    settle();
    QCOMPARE(path(), QStringLiteral("GPT › blocks.0 › attn"));
}

void TestOverlays::thePathIsThatOfWhatFillsTheView() {
    open(QStringLiteral("zoo:resnet18"));
    context().canvases().active().expandToDepth(1);
    settle();
    const auto layer = context().navigation().selectionOf(QStringLiteral("layer3"));
    key(Qt::Key_Space);
    QCOMPARE(path(), QString());  // all is in view, none of the boxes by itself
    canvas()->navigation().ensureVisible(layer);
    canvas()->view().zoomReset();
    canvas()->view().zoomBy(2);
    const auto rect = canvas()->view().scene()->item(canvas()->view().scene()->itemOf(layer.scope)).rect;
    canvas()->view().centreOn({rect.x + rect.width / 2, rect.y + rect.height / 2});
    settle();
    QCOMPARE(path(), QStringLiteral("ResNet › layer3"));
}

void TestOverlays::linesIntoAnOpenModuleAreTold() {
    open(QStringLiteral("zoo:resnet18"));
    const auto module = context().navigation().selectionOf(QStringLiteral("layer2"));
    context().canvases().active().setExpanded(module.scope, true);
    context().navigation().navigateTo(module);
    canvas()->view().zoomReset();
    settle();
    const QRectF box = canvas()->view().rectOf(module.scope);
    canvas()->view().centreOn(canvas()->view().camera().toScene({box.center().x(), box.top()}, canvas()->size()));
    settle();
    QVERIFY(pixels(theme::ColorRole::EdgeOfInput) > 20);
    QVERIFY(pixels(theme::ColorRole::EdgeOfOutput) > 20);
    canvas()->navigation().clearSelection();
    settle();
    QCOMPARE(pixels(theme::ColorRole::EdgeOfInput) + pixels(theme::ColorRole::EdgeOfOutput), 0);
}

void TestOverlays::portsHaveRoomForTheirTypes() {
    open(file("script_features.script.pt"));  // one of its inputs has no type in the file
    double height = 0;
    int inputs = 0;
    for (const layout::SceneItem& item : canvas()->view().scene()->items) {
        if (item.what.kind != ItemKind::Input) continue;
        if (inputs++ > 0) QCOMPARE(item.rect.height, height);
        height = item.rect.height;
    }
    QCOMPARE(inputs, 3);
}

void TestOverlays::longDimSizesGiveWay_data() {
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("shown");
    QTest::addRow("short") << "float32[batch,3,224,224]"
                           << "float32[batch,3,224,224]";
    QTest::addRow("formula") << "float32[idx.0,max(idx.1,max(min(idx.1,32),0)),96]"
                             << "float32[idx.0,…,96]";
    QTest::addRow("names") << "float32[p2o.DynamicDimension.0,8,(p2o.DynamicDimension.1+1)//2,4]"
                           << "float32[…,8,…,4]";
    QTest::addRow("list") << "list(float32[batch,time,extremely_long_name],int64[n])"
                          << "list(float32[batch,time,…],int64[n])";
    QTest::addRow("cut off") << "float32[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                             << "float32[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
}

void TestOverlays::longDimSizesGiveWay() {
    QFETCH(QString, type);
    QFETCH(QString, shown);
    QCOMPARE(canvas::shortType(type), shown);
}

void TestOverlays::emptyPanelsLeaveRoomInSmallWindows() {
    open(file("gpt_mini.onnx"));
    m_window->resize(800, 600);
    settle();
    QTRY_VERIFY2(canvas()->height() > 320, qPrintable(QString::number(canvas()->height())));
}

QTEST_MAIN(TestOverlays)

}  // namespace tst_overlays

#include "tst_overlays.moc"
