// The graph has the room: panels with nothing to show are not there, come with what they show and go with it, and what
// is looked at stays where it is meanwhile. Driven by clicks and keys in the real window.

#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QTabBar>

#include <cmath>

#include "tests/support/window_fixture.h"
#include "ui/canvas/legend.h"
#include "ui/canvas/overview_map.h"
#include "ui/window/panel_table.h"

namespace tst_room {

using namespace sonde;
using layout::ItemId;
using layout::ItemKind;

class TestRoom : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { QSettings().clear(); }
    void cleanup() { closeWindow(); }
    void theGraphHasMostOfTheWindow_data();
    void theGraphHasMostOfTheWindow();
    void panelsComeAndGoWithWhatTheyShow();
    void theFirstRunMovesNothing();
    void whatIsClickedStaysUnderTheMouse();
    void aDoubleClickHitsOneBox();
    void whatIsExpandedStaysInPlace();
    void whatIsLookedAtStaysInTheMiddle();
    void whatTheUserClosedStaysClosed();
    void whatTheUserOpenedStaysOpen();
    void panelsComeBackAsLarge();
    void aPanelThatComesTakesNeitherFocusNorFront();
    void theKeyOfAPanelLeadsThereAndBack();
    void openLevelsCanBeRead_data();
    void openLevelsCanBeRead();
    void hiddenNodesAreCountedBesideTheGraph();
    void nothingCoversAFittedGraph_data();
    void nothingCoversAFittedGraph();
    void noLegendOfOtherColoursCoversIt();

  private:
    QDockWidget* dock(const char* panel) { return m_window->docks().dock(QLatin1String(panel)); }
    bool isOpen(const char* panel) { return !dock(panel)->isHidden(); }
    bool isSeen(const char* panel) { return isOpen(panel) && !dock(panel)->visibleRegion().isEmpty(); }
    void press(const char* panel) {
        activate();
        const auto keys = m_window->actions().shortcuts(QStringLiteral("panel.") + QLatin1String(panel)).front();
        QWidget* focus = QApplication::focusWidget();
        QTest::keyClick(focus ? focus : canvas(), keys[0].key(), keys[0].keyboardModifiers());
        settle();
    }
    /// The button of a dock's title that closes it.
    void close(const char* panel) {
        QAbstractButton* button = dock(panel)->findChild<QAbstractButton*>(QStringLiteral("qt_dockwidget_closebutton"));
        QVERIFY(button && button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        settle();
    }
    QPointF onScreen(ItemId item) { return canvas()->mapTo(m_window.get(), canvas()->view().itemRect(item).topLeft()); }
    void clickItem(ItemId item) { click(canvas(), canvas()->view().itemRect(item).center()); }
    /// An operation that is neither an input nor an output.
    ItemId operation(std::size_t index) {
        for (std::size_t i = 0; i < canvas()->view().scene()->items.size(); ++i) {
            const layout::SceneItem& item = canvas()->view().scene()->items[i];
            if (item.what.kind == ItemKind::Expr && index-- == 0) return ItemId(i);
        }
        return {};
    }
    double textHeight() {
        static const canvas::TextMeasure measure;
        return measure.height(canvas::TextRole::Title) * canvas()->view().camera().scale;
    }
};

void TestRoom::theGraphHasMostOfTheWindow_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("percent");
    for (const char* model : {"zoo:resnet18", "gpt_mini.onnx", "mlp_functional.onnx", "gpt_mini.script.pt"}) {
        const QString name = QLatin1String(model).startsWith(QLatin1String("zoo:")) ? QString(model) : file(model);
        QTest::addRow("%s 1280", model) << name << QSize(1280, 720) << 65;
        QTest::addRow("%s 1600", model) << name << QSize(1600, 1000) << 70;
        QTest::addRow("%s 800", model) << name << QSize(800, 600) << 60;
    }
}

/// At the first start, with nothing remembered.
void TestRoom::theGraphHasMostOfTheWindow() {
    QFETCH(QString, model);
    QFETCH(QSize, size);
    QFETCH(int, percent);
    openWindow(size);
    open(model);
    QTest::qWait(50);  // nothing may come later
    settle();
    QCOMPARE(m_window->size(), size);
    const double share = 100.0 * canvas()->width() * canvas()->height() / (size.width() * size.height());
    qInfo("%s %dx%d: %.1f %%", qPrintable(model.section(u'/', -1)), size.width(), size.height(), share);
    QVERIFY2(share >= percent, qPrintable(QString::number(share)));
    // Only what shows something is there.
    for (const char* panel : {"details", "tensor_viewer", "watches", "comparison", "test_cases", "instances"})
        QVERIFY2(!isOpen(panel), panel);
    // A low window has one place for both: what the model is comes first.
    QVERIFY(isSeen(size.height() < 680 ? "summary" : "inputs"));
}

void TestRoom::panelsComeAndGoWithWhatTheyShow() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    QVERIFY(isSeen("modules"));
    clickItem(operation(2));
    QVERIFY(isSeen("details"));
    QVERIFY(!isOpen("tensor_viewer"));  // no run yet
    run();
    QVERIFY(isSeen("tensor_viewer"));
    key(Qt::Key_F9);
    QVERIFY(isSeen("watches"));
    key(Qt::Key_F9);
    QVERIFY(!isOpen("watches"));
    key(Qt::Key_Escape);
    QVERIFY(context().navigation().selection().isNone());
    QVERIFY(!isOpen("details") && !isOpen("tensor_viewer"));
    QVERIFY(isSeen("modules") && isSeen("inputs"));
    // A model without modules has no tree of them.
    open(file("mlp_functional.onnx"));
    QCOMPARE(isOpen("modules"), context().model().document()->modules->modules().size() > 1);
}

void TestRoom::theFirstRunMovesNothing() {
    openWindow({1280, 720});
    for (const char* model : {"zoo:resnet18", "gpt_mini.onnx"}) {
        open(QLatin1String(model).startsWith(QLatin1String("zoo:")) ? QString(model) : file(model));
        const auto scene = canvas()->view().scene();
        const canvas::Camera camera = canvas()->view().camera();
        const QRect place(canvas()->mapTo(m_window.get(), QPoint()), canvas()->size());
        run();
        QCOMPARE(canvas()->view().scene(), scene);
        QCOMPARE(canvas()->view().camera(), camera);
        QCOMPARE(QRect(canvas()->mapTo(m_window.get(), QPoint()), canvas()->size()), place);
    }
}

/// What fits beside the panels that come stays where it is; when they go all is as before.
void TestRoom::whatIsClickedStaysUnderTheMouse() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    const canvas::Camera before = canvas()->view().camera();
    const int width = canvas()->width();
    const ItemId item = operation(2);
    const QPointF place = onScreen(item);
    clickItem(item);
    QVERIFY(canvas()->width() < width);
    QVERIFY((onScreen(item) - place).manhattanLength() < 1.5);
    key(Qt::Key_Escape);
    QCOMPARE(canvas()->width(), width);
    QCOMPARE(canvas()->view().camera(), before);
    // Where the panels come over what is looked at, it gives way, no more than it must.
    canvas()->view().centreOn(canvas()->view().toScene(QPointF(canvas()->width() * 0.06, canvas()->height() * 0.5)));
    settle();
    clickItem(item);
    const QRectF seen = canvas()->view().itemRect(item);
    QVERIFY(QRectF(canvas()->rect()).contains(seen));
}

/// The window gets another size: panels get theirs one after the other meanwhile.
void TestRoom::whatIsLookedAtStaysInTheMiddle() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    context().canvases().active().expandToDepth(9);
    settle();
    const graph::NodeId seen = node("layer3_1_conv1");
    context().navigation().navigateTo(seen);
    settle();
    canvas()->navigation().fitSelection();  // in the middle
    settle();
    const auto offset = [&] { return rectOf(canvas(), seen).center() - QRectF(canvas()->rect()).center(); };
    const double scale = canvas()->view().camera().scale;
    QVERIFY(std::hypot(offset().x(), offset().y()) < 3);
    for (const QSize size : {QSize(1920, 1080), QSize(1000, 700), QSize(1600, 900), QSize(1280, 720)}) {
        m_window->resize(size);
        settle();
        const QPointF now = offset();
        QVERIFY2(std::hypot(now.x(), now.y()) < 3,
                 qPrintable(QStringLiteral("%1, %2 at %3").arg(now.x()).arg(now.y()).arg(size.width())));
        QCOMPARE(canvas()->view().camera().scale, scale);
    }
}

void TestRoom::aDoubleClickHitsOneBox() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet50"));
    context().canvases().active().expandToDepth(0);
    settle();
    const auto module = context().navigation().selectionOf(QStringLiteral("layer2"));
    const QPoint place = canvas()->view().rectOf(module.scope).center().toPoint();
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, place);
    // As fast as a person clicks, and the window does what it has to do meanwhile.
    QTest::qWait(QApplication::doubleClickInterval() / 3);
    QVERIFY(!isOpen("details"));
    QTest::mouseDClick(canvas(), Qt::LeftButton, {}, place);
    settle();
    QVERIFY(context().canvases().active().isExpanded(module.scope));
    QVERIFY(isSeen("details"));
}

void TestRoom::whatIsExpandedStaysInPlace() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet50"));
    context().canvases().active().expandToDepth(0);
    settle();
    const auto module = context().navigation().selectionOf(QStringLiteral("layer2"));
    const auto corner = [&] {
        return canvas()->mapTo(m_window.get(), canvas()->view().rectOf(module.scope).topLeft());
    };
    const QPointF before = corner();
    const QPoint place = canvas()->view().rectOf(module.scope).center().toPoint();
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, place);
    QTest::mouseDClick(canvas(), Qt::LeftButton, {}, place);
    settle();
    QVERIFY(context().canvases().active().isExpanded(module.scope));
    QVERIFY2((corner() - before).manhattanLength() < 1.5, qPrintable(QString::number((corner() - before).y())));
}

void TestRoom::whatTheUserClosedStaysClosed() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    clickItem(operation(1));
    close("details");
    QVERIFY(!isOpen("details"));
    key(Qt::Key_Escape);
    clickItem(operation(2));
    QVERIFY(!isOpen("details"));
    // In the next session, too.
    closeWindow();
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    clickItem(operation(1));
    QVERIFY(!isOpen("details"));
    press("details");
    QVERIFY(isSeen("details"));
    key(Qt::Key_Escape);
    QVERIFY(!isOpen("details"));  // again with what it shows
    // The default arrangement forgets it.
    clickItem(operation(1));
    close("details");
    m_window->actions().action(QStringLiteral("view.reset_layout"))->trigger();
    settle();
    QVERIFY(isSeen("details"));
}

/// One that was empty when it was opened stays; one that was not goes with what it shows.
void TestRoom::whatTheUserOpenedStaysOpen() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    press("watches");
    QVERIFY(isSeen("watches"));
    clickItem(operation(1));
    key(Qt::Key_F9);
    key(Qt::Key_F9);
    QVERIFY(isSeen("watches"));
    press("nodes");
    QVERIFY(isSeen("nodes"));
    closeWindow();
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    QVERIFY(isOpen("watches"));
    QVERIFY(isSeen("nodes"));
    close("watches");
    QVERIFY(!isOpen("watches"));
    clickItem(operation(1));
    key(Qt::Key_F9);
    QVERIFY(isOpen("watches"));  // it was empty when it was closed: that said nothing of the full one
}

/// As the user made them, in the same session and in the next.
void TestRoom::panelsComeBackAsLarge() {
    openWindow({1600, 1000});
    open(QStringLiteral("zoo:resnet18"));
    clickItem(operation(1));
    run();
    QVERIFY(isSeen("details") && isSeen("tensor_viewer"));
    QVERIFY(dock("tensor_viewer")->height() > dock("details")->height());  // as the table of panels has it
    m_window->resizeDocks({dock("details")}, {440}, Qt::Horizontal);
    m_window->resizeDocks({dock("details"), dock("tensor_viewer")}, {500, 300}, Qt::Vertical);
    QTRY_COMPARE(dock("details")->width(), 440);
    settle();
    const int height = dock("details")->height();
    QVERIFY(height > dock("tensor_viewer")->height());
    key(Qt::Key_Escape);
    QVERIFY(!isOpen("details"));
    clickItem(operation(2));
    QCOMPARE(dock("details")->width(), 440);
    QVERIFY(std::abs(dock("details")->height() - height) <= 2);
    key(Qt::Key_Escape);
    closeWindow();
    openWindow({1600, 1000});
    open(QStringLiteral("zoo:resnet18"));
    clickItem(operation(1));
    QVERIFY2(std::abs(dock("details")->width() - 440) <= 2, qPrintable(QString::number(dock("details")->width())));
}

void TestRoom::aPanelThatComesTakesNeitherFocusNorFront() {
    openWindow({1280, 720});
    open(file("resnet18_slim.onnx"));
    press("nodes");
    QVERIFY(isSeen("nodes"));
    canvas()->setFocus();
    clickItem(operation(1));
    key(Qt::Key_F9);
    QVERIFY(isOpen("watches"));
    QVERIFY(isSeen("nodes") && !isSeen("watches"));
    QCOMPARE(QApplication::focusWidget(), canvas());
    // The answer to what was asked for comes to the front, without the keyboard.
    context().comparison().withFile(file("resnet18_slim.npz"));
    QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 60000);
    settle();
    QVERIFY(isSeen("comparison"));
    QCOMPARE(QApplication::focusWidget(), canvas());
    // A panel that goes with the keyboard gives it back to the graph.
    press("watches");
    QVERIFY(dock("watches")->isAncestorOf(QApplication::focusWidget()));
    context().points().clearWatched();
    settle();
    QVERIFY(!isOpen("watches"));
    QCOMPARE(QApplication::focusWidget(), canvas());
}

void TestRoom::theKeyOfAPanelLeadsThereAndBack() {
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18"));
    clickItem(operation(1));
    QVERIFY(isSeen("details"));
    press("details");  // it is seen: the key leads to it
    QVERIFY(isSeen("details"));
    QVERIFY(dock("details")->isAncestorOf(QApplication::focusWidget()));
    press("details");  // and back
    QVERIFY(!isOpen("details"));
    QCOMPARE(QApplication::focusWidget(), canvas());
    press("details");
    QVERIFY(isSeen("details"));
    // In the menu its row switches what is seen.
    canvas()->setFocus();
    m_window->actions().action(QStringLiteral("panel.details"))->trigger();
    QVERIFY(!isOpen("details"));
}

void TestRoom::openLevelsCanBeRead_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("atLeast");
    for (const char* model :
         {"gpt_mini.onnx", "gpt_mini.script.pt", "unet_small.onnx", "lstm_classifier.onnx", "mobilenet_v3_small.onnx"})
        QTest::addRow("%s", model) << file(model) << 8;
    for (const char* model : {"zoo:resnet18", "zoo:resnet50", "zoo:unet", "zoo:densenet121"})
        QTest::addRow("%s", model) << QString(model) << 8;
    QTest::addRow("vit") << QStringLiteral("zoo:vit_b_16?layers=5&dim=48&mlp=96&heads=4") << 8;
}

/// As much as can be read: neither a few lonely boxes nor letters that are too small.
void TestRoom::openLevelsCanBeRead() {
    QFETCH(QString, model);
    QFETCH(int, atLeast);
    openWindow({1280, 720});
    open(model);
    int items = 0;
    for (const layout::SceneItem& item : canvas()->view().scene()->items) items += item.what.open ? 0 : 1;
    qInfo("%s: %d items, %d open, text %.1f px", qPrintable(model.section(u'/', -1)), items,
          static_cast<int>(canvas()->view().scene()->items.size()) - items, textHeight());
    QVERIFY2(items >= atLeast, qPrintable(QString::number(items)));
    QVERIFY2(textHeight() >= 7, qPrintable(QString::number(textHeight())));
}

/// One by one where there is room, else in one number.
void TestRoom::hiddenNodesAreCountedBesideTheGraph() {
    openWindow({1280, 720});
    open(file("gpt_mini.onnx"));
    const auto label = [this]() -> QLabel* {
        for (QLabel* found : canvas()->findChildren<QLabel*>())
            if (found->accessibleName() == QStringLiteral("Hidden nodes")) return found;
        return nullptr;
    };
    const auto isFree = [&] {
        for (const ItemId item : canvas()->view().visibleItems())
            if (!canvas()->view().scene()->item(item).what.open &&
                canvas()->view().itemRect(item).intersects(label()->geometry()))
                return false;
        return true;
    };
    QVERIFY(label() && label()->isVisible());
    QCOMPARE(label()->text(), QStringLiteral("Hidden: 181 in collapsed modules, 109 weights and constants"));
    QVERIFY(isFree());
    // A node comes where the end of the text is.
    const QRectF item = canvas()->view().itemRect(operation(0));
    const QPointF end(label()->geometry().right() - 5, label()->geometry().center().y());
    canvas()->view().centreOn(canvas()->view().camera().centre +
                              (item.topLeft() + QPointF(3, 3) - end) / canvas()->view().camera().scale);
    settle();
    QCOMPARE(label()->text(), QStringLiteral("290 hidden"));
    QVERIFY(isFree());
    QVERIFY(label()->toolTip().contains(QStringLiteral("collapsed modules")));
}

void TestRoom::nothingCoversAFittedGraph_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QSize>("size");
    for (const char* model : {"gpt_mini.onnx", "unet_small.onnx", "script_features.script.pt", "lstm_classifier.onnx"})
        for (const QSize size : {QSize(1280, 720), QSize(800, 600)})
            QTest::addRow("%s %d", model, size.width()) << file(model) << size;
}

/// Neither the map nor any other overlay, with the legend and a selection.
void TestRoom::nothingCoversAFittedGraph() {
    QFETCH(QString, model);
    QFETCH(QSize, size);
    openWindow(size);
    open(model);
    for (const int depth : {0, 1, 2}) {
        context().canvases().active().expandToDepth(depth);
        settle();
        for (const bool legend : {false, true}) {
            canvas()->overlays().setLegendVisible(legend);
            key(Qt::Key_Space);
            const QRectF bounds(
                canvas()->view().camera().toPixel(
                    {canvas()->view().scene()->bounds.x, canvas()->view().scene()->bounds.y}, canvas()->size()),
                QSizeF(canvas()->view().scene()->bounds.width, canvas()->view().scene()->bounds.height) *
                    canvas()->view().camera().scale);
            QVERIFY(QRectF(canvas()->rect()).contains(bounds));
            QVERIFY(!canvas()->findChild<canvas::OverviewMap*>()->isVisible());
            for (const QObject* child : canvas()->children()) {
                const auto* overlay = qobject_cast<const QWidget*>(child);
                if (!overlay || !overlay->isVisible() || overlay->isWindow()) continue;
                for (const ItemId item : canvas()->view().visibleItems()) {
                    if (canvas()->view().scene()->item(item).what.open) continue;
                    QVERIFY2(!canvas()->view().itemRect(item).intersects(overlay->geometry()),
                             qPrintable(overlay->accessibleName() + u' ' + canvas()->text().spoken(item)));
                }
            }
        }
    }
    // The map comes where not all is in view: in the corner beyond the last node.
    const layout::Rect all = canvas()->view().scene()->bounds;
    canvas()->view().zoomBy(3);
    canvas()->view().centreOn({all.x + all.width, all.y + all.height});
    settle();
    if (size.width() > 1000) QVERIFY(canvas()->findChild<canvas::OverviewMap*>()->isVisible());
}

/// Other colours have a larger legend: a graph that nobody has moved gives way to it.
void TestRoom::noLegendOfOtherColoursCoversIt() {
    openWindow({1280, 720});
    open(file("unet_small.onnx"));
    canvas()->overlays().setLegendVisible(true);
    key(Qt::Key_Space);
    for (const char* colours : {"flops", "category", "parameters", "time", "category"}) {
        context().settings().setColorBy(QLatin1String(colours));
        settle();
        const QWidget* const legend = canvas()->findChild<canvas::Legend*>();
        QVERIFY(legend && legend->isVisible());
        for (const ItemId item : canvas()->view().visibleItems())
            if (!canvas()->view().scene()->item(item).what.open)
                QVERIFY2(!canvas()->view().itemRect(item).intersects(legend->geometry()), colours);
    }
}

QTEST_MAIN(TestRoom)

}  // namespace tst_room

#include "tst_room.moc"
