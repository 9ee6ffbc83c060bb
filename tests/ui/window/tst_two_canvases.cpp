// Two canvases on one model, and two models side by side: by keys and clicks.

#include <QAction>
#include <QLabel>
#include <QPointer>
#include <QRegularExpression>
#include <QSlider>
#include <QSplitter>
#include <QToolButton>

#include "tests/support/window_fixture.h"
#include "ui/canvas/overview_map.h"
#include "ui/window/focus_bar.h"

namespace tst_two_canvases {

using namespace sonde;
using canvas::GraphCanvas;
using context::InspectorContext;
using window::MainWindow;

class TestTwoCanvases : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() {
        // Menus and dialogs go with their windows.
        std::vector<QPointer<QWidget>> others;
        for (QWidget* widget : QApplication::topLevelWidgets())
            if (widget != m_window.get() && qobject_cast<MainWindow*>(widget)) others.emplace_back(widget);
        for (const QPointer<QWidget>& other : others) delete other;
        closeWindow();
    }
    void aKeySplitsAndCloses();
    void eachHasItsOwnView();
    void aFittedPictureIsFittedAgain();
    void selectionIsShared();
    void eachHasItsOwnPath();
    void conesAreOfOneCanvas();
    void noMapCoversNodes_data();
    void noMapCoversNodes();
    void theFirstCanBeClosed();
    void theSplitIsRemembered();
    void anotherModelStandsBeside();
    void pairsLetGoOfClosedModels();

  private:
    GraphCanvas* first() { return m_window->canvases().at(0); }
    GraphCanvas* second() { return m_window->canvases().at(1); }
    void split() {
        key(Qt::Key_Backslash, Qt::ControlModifier);
        QVERIFY(second());
        settle();
    }
};

void TestTwoCanvases::aKeySplitsAndCloses() {
    open(file("resnet18_slim.onnx"));
    QVERIFY(!m_window->canvases().isSplit());
    split();
    QVERIFY(first()->isVisible() && second()->isVisible());
    QVERIFY(std::abs(first()->width() - second()->width()) < 8);
    QVERIFY(second()->hasFocus());
    QVERIFY(m_window->canvases().active() == second());
    key(Qt::Key_F6);
    QVERIFY(first()->hasFocus());
    key(Qt::Key_F6);
    QVERIFY(second()->hasFocus());
    // From a panel back to the canvas in use
    m_window->docks().show(QStringLiteral("nodes"));
    QVERIFY(!second()->hasFocus());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
    QVERIFY(second()->hasFocus());
    // One above the other, by the other key
    key(Qt::Key_Backslash, Qt::ControlModifier | Qt::AltModifier);
    auto* splitter = m_window->findChild<QSplitter*>(QStringLiteral("canvases"));
    QCOMPARE(splitter->orientation(), Qt::Vertical);
    auto* close = second()->findChild<QToolButton*>(QStringLiteral("closeCanvas"));
    QVERIFY(close->isVisible() && !close->toolTip().isEmpty());
    QTest::mouseClick(close, Qt::LeftButton);
    QTRY_VERIFY(!m_window->canvases().isSplit());
    QVERIFY(!m_window->actions().action(QStringLiteral("view.split"))->isChecked());
    QVERIFY(!first()->findChild<QToolButton*>(QStringLiteral("closeCanvas"))->isVisible());
}

void TestTwoCanvases::eachHasItsOwnView() {
    open(file("resnet18_slim.onnx"));
    split();
    const std::size_t items = first()->view().scene()->items.size();
    QCOMPARE(second()->view().scene()->items.size(), items);
    const canvas::Camera camera = first()->view().camera();
    key(Qt::Key_3,
        Qt::ControlModifier | Qt::ShiftModifier);  // opens three levels: of the second, which has the keyboard
    QVERIFY(second()->view().scene()->items.size() > 2 * items);
    QCOMPARE(first()->view().scene()->items.size(), items);
    key(Qt::Key_K, Qt::ControlModifier);
    QVERIFY(second()->view().scene()->direction == layout::Direction::LeftRight);
    QVERIFY(first()->view().scene()->direction == layout::Direction::TopDown);
    key(Qt::Key_Space);
    QVERIFY(first()->view().camera() == camera);
    // A double click opens in the first alone.
    const graph::ScopeId layer1 = context().navigation().selectionOf(QStringLiteral("layer1")).scope;
    first()->navigation().ensureVisible(context().navigation().selectionOf(layer1));
    const QRectF box = first()->view().rectOf(layer1);
    QVERIFY(QRectF(first()->rect()).contains(box.center()));
    const std::size_t others = second()->view().scene()->items.size();
    QTest::mouseDClick(first(), Qt::LeftButton, {}, QPointF(box.left() + box.width() * 0.35, box.top() + 3).toPoint());
    settle();
    QVERIFY(m_window->canvases().active() == first());
    QVERIFY(first()->view().scene()->items.size() > items);
    QCOMPARE(second()->view().scene()->items.size(), others);
}

void TestTwoCanvases::aFittedPictureIsFittedAgain() {
    open(file("resnet18_slim.onnx"));
    key(Qt::Key_Space);
    split();
    const auto seesAll = [](GraphCanvas* shown) {
        return shown->view().camera().visible(shown->size()).contains(canvas::toQt(shown->view().scene()->bounds));
    };
    QTRY_VERIFY(seesAll(first()));
    QTRY_VERIFY(seesAll(second()));
    // What was moved keeps its middle.
    first()->view().zoomBy(2);
    const QPointF middle = first()->view().camera().centre;
    const int width = first()->width();
    m_window->resize(1100, 800);
    QTRY_VERIFY(first()->width() < width);
    settle();
    QCOMPARE(first()->view().camera().centre, middle);
    QTRY_VERIFY(seesAll(second()));
}

void TestTwoCanvases::selectionIsShared() {
    open(file("resnet18_slim.onnx"));
    split();
    key(Qt::Key_3, Qt::ControlModifier | Qt::ShiftModifier);
    key(Qt::Key_F6);
    const graph::NodeId pool = node("op:MaxPool");
    context().navigation().navigateTo(pool);
    settle();
    const QRectF there = rectOf(first(), pool);
    click(first(), there.center());
    QVERIFY(context().navigation().selection().node == pool);
    QVERIFY(second()->view().currentItem() &&
            second()->view().scene()->item(second()->view().currentItem()).what.expr ==
                context().navigation().selection().expr);
    // F9 sets a watch point that both show.
    key(Qt::Key_F9);
    QVERIFY(context().points().isWatched(pool));
    settle();
    // Linked, the other canvas follows with its camera.
    key(Qt::Key_S, Qt::ControlModifier | Qt::AltModifier);
    const graph::NodeId last = node("op:Gemm");
    context().navigation().navigateTo(last);
    settle();
    QVERIFY(QRectF(second()->rect()).intersects(rectOf(second(), last)));
}

void TestTwoCanvases::eachHasItsOwnPath() {
    open(file("resnet18_slim.onnx"));
    split();
    key(Qt::Key_3, Qt::ControlModifier | Qt::ShiftModifier);
    const auto scope = [&](const char* name) { return context().navigation().selectionOf(QLatin1String(name)).scope; };
    second()->view().zoomReset();
    settle();
    second()->navigation().ensureVisible(context().navigation().selectionOf(scope("layer4.1")));
    settle();
    const layout::ItemId box = second()->view().scene()->itemOf(scope("layer4.1"));
    const layout::Rect& rect = second()->view().scene()->item(box).rect;
    second()->view().centreOn({rect.x + rect.width / 2, rect.y + rect.height / 2});
    settle();
    QCOMPARE(second()->overlays().path().value(1), QStringLiteral("layer4"));
    // What is selected in the first changes the first's path; the second still says what it shows.
    key(Qt::Key_F6);
    context().navigation().navigateTo(node("qualname:layer1.0.conv1 op:Conv"));
    settle();
    QCOMPARE(first()->overlays().path().last(), QStringLiteral("layer1.0.conv1"));
    QCOMPARE(second()->overlays().path().value(1), QStringLiteral("layer4"));
}

void TestTwoCanvases::conesAreOfOneCanvas() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    split();
    const std::size_t all = first()->view().scene()->items.size();
    context().navigation().select(find("op:Conv")[3]);
    key(Qt::Key_Up, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(second()->view().scene()->items.size() < all);
    QCOMPARE(first()->view().scene()->items.size(), all);
    QVERIFY(m_window->canvases().focusBar()->isVisible());
    QVERIFY(m_window->canvases().focusBar()->parentWidget() == second()->parentWidget());
    QVERIFY(second()->mapTo(m_window.get(), QPoint()).y() > first()->mapTo(m_window.get(), QPoint()).y());
    key(Qt::Key_F6);
    QVERIFY(!m_window->canvases().focusBar()->isVisible());
    key(Qt::Key_F6);
    QVERIFY(m_window->canvases().focusBar()->isVisible());
    key(Qt::Key_H, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(second()->view().scene()->items.size(), all);
}

void TestTwoCanvases::noMapCoversNodes_data() {
    QTest::addColumn<QSize>("size");
    QTest::newRow("1280x720") << QSize(1280, 720);
    QTest::newRow("1600x1000") << QSize(1600, 1000);
}

/// Wherever one looks, the maps give way: to another corner if there is one that is free.
void TestTwoCanvases::noMapCoversNodes() {
    QFETCH(QSize, size);
    m_window->resize(size);
    open(QStringLiteral("zoo:resnet18"));
    split();
    int seen = 0, elsewhere = 0;
    for (GraphCanvas* shown : {first(), second()}) {
        context().canvases().at(shown == first() ? 0 : 1).expandToDepth(2);
        settle();
        shown->view().zoomReset();
        const auto* map = shown->findChild<canvas::OverviewMap*>();
        const auto scene = shown->view().scene();
        for (std::size_t i = 0; i < scene->items.size(); ++i) {
            if (scene->items[i].what.open) continue;
            shown->view().centreOn(canvas::toQt(scene->items[i].rect).topLeft() + QPointF(30 * (i % 7), 0));
            settle();
            if (!map->isVisible()) continue;
            ++seen;
            elsewhere += map->geometry().center().x() < shown->width() / 2 ? 1 : 0;
            QVERIFY(shown->rect().contains(map->geometry()));
            for (const layout::ItemId item : shown->view().visibleItems())
                if (!scene->item(item).what.open)
                    QVERIFY2(!shown->view().itemRect(item).intersects(map->geometry()),
                             qPrintable(shown->text().spoken(item)));
        }
    }
    QVERIFY2(seen > 10 && elsewhere > 0, qPrintable(QStringLiteral("%1, %2").arg(seen).arg(elsewhere)));
}

void TestTwoCanvases::theFirstCanBeClosed() {
    open(file("resnet18_slim.onnx"));
    split();
    key(Qt::Key_3, Qt::ControlModifier | Qt::ShiftModifier);
    const std::size_t items = second()->view().scene()->items.size();
    key(Qt::Key_F6);
    key(Qt::Key_X, Qt::ControlModifier | Qt::AltModifier);
    QVERIFY(!m_window->canvases().isSplit());
    QVERIFY(canvas() == first());
    QCOMPARE(first()->view().scene()->items.size(), items);  // what the second showed stays
    key(Qt::Key_0, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(first()->view().scene()->items.size() < items);
}

void TestTwoCanvases::theSplitIsRemembered() {
    open(file("resnet18_slim.onnx"));
    split();
    key(Qt::Key_3, Qt::ControlModifier | Qt::ShiftModifier);
    const std::size_t one = first()->view().scene()->items.size(), other = second()->view().scene()->items.size();
    QVERIFY(one != other);
    closeWindow();
    openWindow();
    QVERIFY(m_window->canvases().isSplit());
    open(file("resnet18_slim.onnx"));
    QCOMPARE(first()->view().scene()->items.size(), one);
    QCOMPARE(second()->view().scene()->items.size(), other);
}

void TestTwoCanvases::anotherModelStandsBeside() {
    open(file("unet_small.onnx"));
    MainWindow* other = m_window->openBeside(file("unet_small.trace.pt"));
    QTRY_VERIFY_WITH_TIMEOUT(other->context().model().isOpen() && other->isIdle(), 60000);
    QVERIFY(m_window->links().isLinked() && other->links().isLinked());
    // The exporters gave other names: the module and the operator's place in it tell.
    const std::vector<graph::NodeId> convs = find("op:Conv");
    QVERIFY(convs.size() > 3);
    int found = 0;
    for (const graph::NodeId conv : convs) {
        context().navigation().select(conv);
        const context::Selection& there = other->context().navigation().selection();
        if (there.isNone()) continue;
        ++found;
        // The one exporter folded batch normalisations into the convolutions before them.
        QString folded = context().navigation().selection().qualname;
        folded.replace(QRegularExpression(QStringLiteral("conv(\\d)$")), QStringLiteral("bn\\1"));
        QVERIFY2(there.qualname == context().navigation().selection().qualname || there.qualname == folded,
                 qPrintable(there.qualname));
    }
    QVERIFY2(found > static_cast<int>(convs.size()) / 2, qPrintable(QString::number(found)));
}

/// Pairs of nodes are kept for as long as both graphs are there, not longer.
void TestTwoCanvases::pairsLetGoOfClosedModels() {
    open(file("unet_small.onnx"));
    MainWindow* other = m_window->openBeside(file("unet_small.trace.pt"));
    QTRY_VERIFY_WITH_TIMEOUT(other->context().model().isOpen() && other->isIdle(), 60000);
    context().navigation().select(find("op:Conv").front());
    QVERIFY(!other->context().navigation().selection().isNone());
    const std::weak_ptr<const graph::InternalGraph> there = other->context().model().document()->graph,
                                                    here = context().model().document()->graph;
    other->context().loader().close();
    QTRY_VERIFY_WITH_TIMEOUT(there.expired(), 10000);
    context().loader().close();
    QTRY_VERIFY_WITH_TIMEOUT(here.expired(), 10000);
}

QTEST_MAIN(TestTwoCanvases)

}  // namespace tst_two_canvases

#include "tst_two_canvases.moc"
