// Of a long edge only what can be seen is drawn, and that is on the same curve.

#include <QtTest>

#include <cmath>

#include "ui/canvas/edge_path.h"

namespace tst_edge_path {

using namespace sonde;

class TestEdgePath : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void withoutAnAreaItIsWhole() {
        const QPainterPath path = canvas::painterPath(straight());
        QCOMPARE(path.elementCount(), 4);
        QCOMPARE(path.boundingRect(), QRectF(0, 0, 1e6, 1e5));
    }

    void aPieceOfALongLine() {
        const QRectF area(499'900, 49'900, 200, 200);
        const QPainterPath path = canvas::painterPath(straight(), area);
        QVERIFY(!path.isEmpty());
        QVERIFY(path.boundingRect().contains(QRectF(499'900, 49'990, 200, 20)));
        QVERIFY(path.boundingRect().width() < 4 * area.width());
        for (int i = 0; i < path.elementCount(); ++i)
            QVERIFY(std::abs(path.elementAt(i).y - path.elementAt(i).x / 10) < 1e-6);
    }

    void whatPassesByIsNotDrawn() {
        QVERIFY(canvas::painterPath(straight(), QRectF(500'000, 0, 200, 200)).isEmpty());
        QVERIFY(canvas::painterPath({}, QRectF(0, 0, 1, 1)).isEmpty());
    }

    /// y = x^2 / 1000 from -1000 to 1000 as a cubic; the area sees both its arms, not its foot.
    void twoPiecesOfOneCurve() {
        layout::Path curve;
        curve.moveTo({-1000, 1000});
        curve.curveTo({-1000.0 / 3, -1000.0 / 3}, {1000.0 / 3, -1000.0 / 3}, {1000, 1000});
        const QPainterPath path = canvas::painterPath(curve, QRectF(-990, 900, 1980, 20));
        int starts = 0;
        for (int i = 0; i < path.elementCount(); ++i) {
            const QPainterPath::Element at = path.elementAt(i);
            starts += at.isMoveTo();
            const bool isOnCurve =
                at.isMoveTo() ||
                (at.type == QPainterPath::CurveToDataElement &&
                 (i + 1 == path.elementCount() || path.elementAt(i + 1).type != QPainterPath::CurveToDataElement));
            if (isOnCurve) QVERIFY(std::abs(at.y - at.x * at.x / 1000) < 1e-6);
        }
        QCOMPARE(starts, 2);
        QVERIFY(path.intersects(QRectF(940, 890, 20, 20)));
        QVERIFY(path.intersects(QRectF(-960, 890, 20, 20)));
    }

  private:
    static layout::Path straight() {
        layout::Path path;
        path.moveTo({0, 0});
        path.lineTo({1e6, 1e5});
        return path;
    }
};

QTEST_GUILESS_MAIN(TestEdgePath)

}  // namespace tst_edge_path

#include "tst_edge_path.moc"
