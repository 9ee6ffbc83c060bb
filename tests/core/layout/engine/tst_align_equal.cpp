#include <QTest>

#include "core/layout/engine/align_equal.h"
#include "core/layout/engine/layered.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_align_equal {

using namespace sonde::layout;
using namespace layout_test;

namespace {

/// Open boxes 200 wide with a small one after each; lines come in 30 left of their middles and go out 50 right of them,
/// so that a straight line is 80 further right with every box.
BoxGraph drifting(std::size_t count) {
    BoxGraph graph = chain(2 * count);
    for (std::size_t i = 0; i < graph.boxes.size(); ++i)
        graph.boxes[i] = i % 2 == 0 ? Box{200, 120} : Box{80, 30, Pin::Free, true};
    for (BoxEdge& edge : graph.edges) {
        edge.weight = 8;
        (edge.from % 2 == 0 ? edge.fromPort : edge.toPort) = edge.from % 2 == 0 ? 50 : -30;
    }
    return graph;
}

Path straight(double x, double from, double to) {
    Path path;
    path.moveTo({x, from});
    path.lineTo({x, to});
    return path;
}

}  // namespace

class TestAlignEqual : public QObject {
    Q_OBJECT

  private slots:
    void equalBoxesStandInOneColumn() {
        BoxGraph graph = drifting(2);
        BoxLayout layout;
        layout.boxes = {{0, 0, 200, 120}, {110, 160, 80, 30}, {80, 230, 200, 120}, {190, 390, 80, 30}};
        layout.edges = {straight(150, 120, 160), straight(150, 190, 230), straight(230, 350, 390)};
        alignEqual(graph, layout);
        QCOMPARE(layout.boxes[2].x, 0.0);
        QCOMPARE(layout.boxes[1].x, 110.0);
        QCOMPARE(layout.boxes[3].x, 110.0);  // what is below comes along
        QCOMPARE(layout.edges[0], straight(150, 120, 160));
        // Bent between the small box and the second open one: down at both ends.
        const Path& bent = layout.edges[1];
        QCOMPARE(bent.start(), (Point{150, 190}));
        QCOMPARE(bent.end(), (Point{70, 230}));
        QCOMPARE(bent.points[1].x, 150.0);
        QCOMPARE(bent.points[2].x, 70.0);
        QCOMPARE(layout.edges[2], straight(150, 350, 390));
    }

    void whatCannotBeCutStays() {
        BoxGraph graph = drifting(2);
        addEdge(graph, 0, 3);
        BoxLayout layout;
        layout.boxes = {{0, 0, 200, 120}, {110, 160, 80, 30}, {80, 230, 200, 120}, {190, 390, 80, 30}};
        layout.edges = {straight(150, 120, 160), straight(150, 190, 230), straight(230, 350, 390),
                        straight(40, 120, 390)};
        const BoxLayout before = layout;
        alignEqual(graph, layout);  // one line in a piece past the second box
        QCOMPARE(layout, before);
        // With a joint at each row it can be bent like the others.
        Path jointed = straight(40, 120, 190);
        for (const double y : {230.0, 350.0, 390.0}) jointed.lineTo({40, y});
        layout.edges[3] = jointed;
        alignEqual(graph, layout);
        QCOMPARE(layout.boxes[2].x, 0.0);
        QCOMPARE(layout.edges[3].end(), (Point{-40, 390}));
    }

    void boxesOfOtherSizesStayInLine() {
        BoxGraph graph = drifting(2);
        graph.boxes[2].height = 140;
        BoxLayout layout;
        layout.boxes = {{0, 0, 200, 120}, {110, 160, 80, 30}, {80, 230, 200, 140}, {190, 410, 80, 30}};
        layout.edges = {straight(150, 120, 160), straight(150, 190, 230), straight(230, 370, 410)};
        const BoxLayout before = layout;
        alignEqual(graph, layout);
        QCOMPARE(layout, before);
    }

    void aDeepModelIsNoSlope_data() {
        QTest::addColumn<bool>("across");
        QTest::addRow("down") << false;
        QTest::addRow("right") << true;
    }
    void aDeepModelIsNoSlope() {
        QFETCH(bool, across);
        BoxGraph graph = drifting(300);
        if (across) graph = transposed(graph);
        graph.direction = across ? Direction::LeftRight : Direction::TopDown;
        const auto layout = layoutLayered(graph, {});
        QVERIFY(layout);
        QCOMPARE(layout_test::brokenRule(graph, *layout, true), std::string());
        const double aside = across ? layout->size.height : layout->size.width;
        QVERIFY2(aside < 400, std::to_string(aside).c_str());
    }
};

QTEST_GUILESS_MAIN(TestAlignEqual)

}  // namespace tst_align_equal

#include "tst_align_equal.moc"
