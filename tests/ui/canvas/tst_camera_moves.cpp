// Where the camera goes to show something, worked out by hand.

#include <QTest>

#include "ui/canvas/camera_moves.h"

namespace tst_camera_moves {

using namespace sonde;
using canvas::Camera;

namespace {

constexpr QSizeF kView(400, 300);

}  // namespace

class TestCameraMoves : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void whatIsSeenNeedsNoMove() {
        const Camera camera{{200, 150}, 1};  // shows 0 … 400, 0 … 300
        QVERIFY(canvas::showing(camera, {40, 40, 100, 50}, kView) == camera);
    }

    void itMovesAsLittleAsNeeded() {
        const Camera camera{{200, 150}, 1};
        // Its right side is at 390; 370 is allowed, with 30 pixels of margin.
        const Camera moved = canvas::showing(camera, {340, 100, 50, 50}, kView);
        QCOMPARE(moved.scale, 1.0);
        QCOMPARE(moved.centre, QPointF(220, 150));
    }

    void whatIsFarOffComesToTheMiddle() {
        const Camera moved = canvas::showing({{200, 150}, 1}, {1000, 2000, 50, 50}, kView);
        QCOMPARE(moved.centre, QPointF(1025, 2025));
    }

    void whatIsTooLargeShowsWhereItBegins() {
        // 700 wide in a view of 400: its corner comes to the margin of 30.
        const Camera moved = canvas::showing({{1000, 150}, 1}, {500, 100, 700, 50}, kView);
        QCOMPARE(moved.toPixel({500, 100}, kView), QPointF(30, 30));
    }

    void smallTextIsEnlarged() {
        const Camera moved = canvas::showing({{200, 150}, 0.2}, {100, 100, 50, 50}, kView);
        QCOMPARE(moved.scale, 0.9);
        QCOMPARE(moved.centre, QPointF(125, 125));
    }

    void itIsMovedOffWhatCoversIt() {
        const Camera camera{{200, 150}, 1};
        // A list at the top right: the shortest way is down, to 8 pixels below it.
        const std::vector<QRectF> covers{{250, 0, 150, 60}};
        const Camera moved = canvas::uncovering(camera, {300, 40, 60, 30}, kView, covers);
        QCOMPARE(moved.toPixel({300, 40}, kView), QPointF(300, 68));
    }

    void itStaysWhereNothingIsFree() {
        const Camera camera{{200, 150}, 1};
        QVERIFY(canvas::uncovering(camera, {300, 40, 60, 30}, kView, {{0, 0, 400, 300}}) == camera);
        QVERIFY(canvas::uncovering(camera, {300, 40, 60, 30}, kView, {}) == camera);
        // Not in view: nothing that is covered could be meant.
        QVERIFY(canvas::uncovering(camera, {900, 40, 60, 30}, kView, {{250, 0, 150, 60}}) == camera);
    }
};

QTEST_MAIN(TestCameraMoves)

}  // namespace tst_camera_moves

#include "tst_camera_moves.moc"
