#include <QTest>

#include "core/layout/engine/refine.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_refine {

using namespace sonde::layout;
using namespace layout_test;

namespace {

Path line(Point a, Point b) {
    Path path;
    path.moveTo(a);
    path.lineTo(b);
    return path;
}

/// Three ranks: box 0 above; a box of 400 height, a small one that reads and is read, and one that is only read, all
/// with their middles at y = 270; box 4 below. Small boxes are 40 by 20, gaps are 40 high.
struct Picture {
    Picture() {
        graph.boxes = {{40, 20}, {40, 400}, {40, 20}, {40, 20}, {40, 20}};
        graph.edges = {{0, 1}, {0, 2}, {1, 4}, {2, 4}, {3, 4}};
        layout.boxes = {{100, 0, 40, 20}, {0, 60, 40, 400}, {100, 250, 40, 20}, {200, 250, 40, 20}, {100, 500, 40, 20}};
        layout.edges = {line({120, 20}, {20, 60}), line({120, 20}, {120, 250}), line({20, 460}, {120, 500}),
                        line({120, 270}, {120, 500}), line({220, 270}, {120, 500})};
    }
    BoxGraph graph;
    BoxLayout layout;
};

}  // namespace

class TestRefine : public QObject {
    Q_OBJECT

  private slots:
    void smallBoxesAreCloseToTheirInputsOrConsumers() {
        Picture p;
        refine(p.graph, p.layout);
        QCOMPARE(p.layout.boxes[1], (Rect{0, 60, 40, 400}));
        QCOMPARE(p.layout.boxes[2], (Rect{100, 60, 40, 20}));   // at the rank's top
        QCOMPARE(p.layout.boxes[3], (Rect{200, 440, 40, 20}));  // at its bottom
        QCOMPARE(p.layout.edges[1].end(), (Point{120, 60}));
        QCOMPARE(p.layout.edges[3].start(), (Point{120, 80}));
        QCOMPARE(p.layout.edges[3].end(), (Point{120, 500}));
        QCOMPARE(p.layout.edges[4].start(), (Point{220, 460}));
        QCOMPARE(p.layout.edges[4].end(), (Point{120, 500}));
        for (std::size_t i = 0; i < p.layout.edges.size(); ++i) {
            for (std::size_t b = 0; b < 5; ++b) {
                if (b == p.graph.edges[i].from || b == p.graph.edges[i].to) continue;
                QVERIFY(!crosses(p.layout.edges[i], p.layout.boxes[b], 1));
            }
        }
    }

    void boxesWithEdgesToTheSideStay() {
        Picture p;
        p.layout.edges[1] = line({120, 20}, {100, 260});  // ends on the left border
        refine(p.graph, p.layout);
        QCOMPARE(p.layout.boxes[2], (Rect{100, 250, 40, 20}));
    }

    void pinnedBoxesStay() {
        Picture p;
        p.graph.boxes[3].pin = Pin::First;
        refine(p.graph, p.layout);
        QCOMPARE(p.layout.boxes[3], (Rect{200, 250, 40, 20}));
    }

    void overshootAtAPortIsDrawnAnew() {
        Picture p;
        p.graph.edges[2].toPort = 15;
        Path wild;  // dips below the lower box and comes back
        wild.moveTo({20, 460});
        wild.curveTo({20, 700}, {135, 200}, {135, 500});
        p.layout.edges[2] = wild;
        refine(p.graph, p.layout);
        const Path& path = p.layout.edges[2];
        QCOMPARE(path.start(), (Point{20, 460}));
        QCOMPARE(path.end(), (Point{135, 500}));
        QVERIFY(path.bounds().y >= 460 && path.bounds().bottom() <= 500);
    }

    void edgesAreLedRoundBoxes() {
        Picture p;
        p.graph.edges.push_back({0, 4});
        p.layout.edges.push_back(line({120, 20}, {120, 500}));  // through box 2
        p.graph.edges.push_back({4, 0});
        p.layout.edges.push_back(line({110, 500}, {110, 20}));  // a way back, through it as well
        refine(p.graph, p.layout);
        for (std::size_t i = 5; i < 7; ++i) {
            const Path& path = p.layout.edges[i];
            QVERIFY(onBorder(p.layout.boxes[p.graph.edges[i].from], path.start()));
            QVERIFY(onBorder(p.layout.boxes[p.graph.edges[i].to], path.end()));
            for (const std::size_t box : {1, 2, 3}) QVERIFY(!crosses(path, p.layout.boxes[box], 0.1));
        }
        // It stays near: between box 1, which ends at 40, and box 3, which begins at 200.
        for (const Point& point : p.layout.edges[5].points) QVERIFY(point.x > 40 && point.x < 200);
    }

    void curvesAreTestedAgainstRectangles() {
        Path arc;  // a hump from (0, 0) to (100, 0): highest at y = 75
        arc.moveTo({0, 0});
        arc.curveTo({0, 100}, {100, 100}, {100, 0});
        QVERIFY(passesThrough(arc, {40, 70, 20, 10}));
        QVERIFY(!passesThrough(arc, {40, 76, 20, 10}));
        QVERIFY(!passesThrough(arc, {30, 0, 40, 50}));
        QVERIFY(passesThrough(arc, {-5, -5, 200, 200}));
    }

    void longEdgeArrivesUprightAtItsPort() {
        Picture p;
        p.graph.edges.push_back({0, 4, std::nullopt, -18.0});
        Path path = line({120, 20}, {60, 60});
        path.append(line({60, 60}, {102, 500}));
        p.layout.edges.push_back(path);
        refine(p.graph, p.layout);
        const Path& led = p.layout.edges.back();
        QCOMPARE(led.end(), (Point{102, 500}));
        QCOMPARE(led.points[led.points.size() - 2].x, 102.0);
        QCOMPARE(led.points[led.points.size() - 4].y, 480.0);  // half way through the gap it leaves the old way
    }
};

QTEST_GUILESS_MAIN(TestRefine)

}  // namespace tst_refine

#include "tst_refine.moc"
