// A view by itself: a scene of three items, placed by hand, on a widget that nobody sees.

#include <QSignalSpy>
#include <QTest>
#include <QWidget>

#include "ui/canvas/canvas_view.h"
#include "ui/theme/theme.h"

namespace tst_canvas_view {

using namespace sonde;
using canvas::Camera;
using canvas::CanvasView;
using layout::ItemId;

namespace {

constexpr std::size_t kItems = 3;

/// Operations below each other, 30 x 40 with gaps of 20; the first begins at 10, 20. Their keys begin with `firstExpr`.
std::shared_ptr<canvas::ScenePainter> columnOfItems(std::size_t firstExpr) {
    auto scene = std::make_shared<layout::SceneLayout>();
    scene->exprItems.resize(firstExpr + kItems);
    for (std::size_t i = 0; i < kItems; ++i) {
        layout::SceneItem item;
        item.what.expr = item.key.expr = graph::ExprId(firstExpr + i);
        item.rect = {10, 20 + 60.0 * static_cast<double>(i), 30, 40};
        scene->items.push_back(item);
        scene->top.emplace_back(i);
        scene->exprItems[firstExpr + i] = ItemId(i);
    }
    scene->bounds = {10, 20, 30, 160};
    return std::make_shared<canvas::ScenePainter>(std::make_shared<const canvas::SceneIndex>(scene),
                                                  std::make_shared<graph::InternalGraph>(),
                                                  std::make_shared<canvas::TextMeasure>(), canvas::CanvasStyle{});
}

}  // namespace

class TestCanvasView : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() {
        m_widget.resize(400, 300);
        m_view = std::make_unique<CanvasView>(m_widget);
    }

    void withoutASceneThereIsNothing() {
        QSignalSpy moved(m_view.get(), &CanvasView::cameraChanged);
        QVERIFY(!m_view->scene());
        QVERIFY(m_view->itemRect(ItemId(std::size_t{0})).isEmpty());
        QVERIFY(m_view->rectOf(graph::ExprId(std::size_t{0})).isEmpty());
        QVERIFY(!m_view->itemAt({200, 150}));
        QVERIFY(!m_view->currentItem());
        QVERIFY(m_view->visibleItems().empty());
        m_view->zoomBy(2);
        m_view->zoomReset();
        QCOMPARE(moved.size(), 0);
    }

    void pixelsFollowFromTheCamera() {
        m_view->setPainter(columnOfItems(0));
        m_view->placeCamera({{50, 50}, 2.0});
        // (10 - 50) * 2 + 200 and (20 - 50) * 2 + 150, twice as large.
        QCOMPARE(m_view->itemRect(ItemId(std::size_t{0})), QRectF(120, 90, 60, 80));
        QCOMPARE(m_view->rectOf(graph::ExprId(std::size_t{0})), QRectF(120, 90, 60, 80));
        QCOMPARE(m_view->visible(), QRectF(-50, -25, 200, 150));
        QCOMPARE(m_view->itemAt({125, 95}), ItemId(std::size_t{0}));
        QVERIFY(!m_view->itemAt({115, 95}));
        // The view ends at 125: the third item begins at 140.
        QCOMPARE(m_view->visibleItems(), (std::vector<ItemId>{ItemId(std::size_t{0}), ItemId(std::size_t{1})}));
    }

    void nothingIsPointedAtWhileTheSceneChanges() {
        m_view->setPainter(columnOfItems(0));
        m_view->placeCamera({{50, 50}, 2.0});
        m_view->setChanging(true);
        QVERIFY(!m_view->itemAt({125, 95}));
        m_view->setChanging(false);
        QVERIFY(m_view->itemAt({125, 95}));
    }

    void theCameraTellsOfItsMoves() {
        m_view->setPainter(columnOfItems(0));
        QSignalSpy moved(m_view.get(), &CanvasView::cameraChanged);
        m_view->placeCamera({{10, 20}, 1.0});
        QCOMPARE(moved.size(), 0);
        m_view->setCamera({{10, 20}, 1.0});
        QCOMPARE(moved.size(), 0);
        m_view->centreOn({30, 40});
        QCOMPARE(moved.size(), 1);
        m_view->zoomBy(4);
        QCOMPARE(moved.size(), 2);
        QCOMPARE(m_view->camera().scale, 4.0);
        QCOMPARE(m_view->camera().centre, QPointF(30, 40));  // the middle stays
    }

    void aHiddenWidgetHasNoFlights() {
        m_view->setPainter(columnOfItems(0));
        m_view->flyTo({{5, 5}, 3.0});
        QVERIFY(!m_view->isFlying());
        QCOMPARE(m_view->camera().scale, 3.0);
        QCOMPARE(m_view->camera().centre, QPointF(5, 5));
    }

    void theCurrentItemIsFoundAgain() {
        m_view->setPainter(columnOfItems(0));
        QSignalSpy changed(m_view.get(), &CanvasView::currentChanged);
        m_view->setCurrent(ItemId(std::size_t{2}));  // expr 2
        QCOMPARE(changed.size(), 1);
        m_view->setPainter(columnOfItems(1));
        QCOMPARE(m_view->currentItem(), ItemId(std::size_t{1}));
        m_view->setPainter(columnOfItems(5));
        QVERIFY(!m_view->currentItem());
        m_view->setPainter(columnOfItems(2));
        QCOMPARE(m_view->currentItem(), ItemId(std::size_t{0}));
    }

    void anotherViewIsTakenOver() {
        m_view->setPainter(columnOfItems(0));
        m_view->placeCamera({{7, 8}, 0.5});
        m_view->setCurrent(ItemId(std::size_t{1}));
        CanvasView other(m_widget);
        other.takeOver(*m_view);
        QCOMPARE(other.scene(), m_view->scene());
        QVERIFY(other.camera() == m_view->camera());
        QCOMPARE(other.currentItem(), ItemId(std::size_t{1}));
    }

  private:
    QWidget m_widget;
    std::unique_ptr<CanvasView> m_view;
};

QTEST_MAIN(TestCanvasView)

}  // namespace tst_canvas_view

#include "tst_canvas_view.moc"
