#include <QTest>

#include "core/layout/engine/straighten.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_straighten {

using namespace sonde::layout;
using namespace layout_test;

namespace {

/// A chain of boxes 80 wide, 70 apart, with these left sides.
struct Column {
    BoxGraph graph;
    BoxLayout layout;
    explicit Column(const std::vector<double>& lefts) : graph(chain(lefts.size())) {
        for (std::size_t i = 0; i < lefts.size(); ++i)
            layout.boxes.push_back({lefts[i], 70.0 * static_cast<double>(i), 80, 30});
        layout.edges.resize(graph.edges.size());
    }
    std::vector<double> straightened() {
        straighten(graph, layout);
        std::vector<double> lefts;
        for (const Rect& box : layout.boxes) lefts.push_back(box.x);
        return lefts;
    }
};

}  // namespace

class TestStraighten : public QObject {
    Q_OBJECT

  private slots:
    void smallDriftsVanish() {
        QCOMPARE(Column({100, 102, 104, 106, 108}).straightened(), (std::vector<double>{100, 100, 100, 100, 100}));
    }

    void boxesMeantToStandAsideStay() {
        QCOMPARE(Column({100, 140, 141}).straightened(), (std::vector<double>{100, 140, 140}));
    }

    void driftsDoNotAddUpToALongWay() {
        // 9 each time; the last one would be moved by 99.
        std::vector<double> lefts, expected(11, 100);
        for (int i = 0; i < 12; ++i) lefts.push_back(100 + 9 * i);
        expected.push_back(199);
        QCOMPARE(Column(lefts).straightened(), expected);
    }

    void neighboursKeepTheirDistance() {
        Column column({100, 104});
        column.graph.boxes.push_back({80, 30});
        column.layout.boxes.push_back({0, 70, 80, 30});  // 24 to the left of the second one: as near as may be
        QCOMPARE(column.straightened(), (std::vector<double>{100, 104, 0}));
        column.layout.boxes[2].x = -4;
        QCOMPARE(column.straightened(), (std::vector<double>{100, 100, -4}));
    }

    void theHeavierLineIsTheStraightOne() {
        BoxGraph graph = boxes(3);
        graph.edges = {{0, 2, {}, {}, 8}, {1, 2, {}, {}, 3}};
        BoxLayout layout;
        layout.boxes = {{0, 0, 80, 30}, {120, 0, 80, 30}, {6, 70, 80, 30}};
        layout.edges.resize(2);
        straighten(graph, layout);
        QCOMPARE(layout.boxes[2].x, 0.0);
        // Of equal ones none is.
        graph.edges[1].weight = 8;
        layout.boxes[2].x = 6;
        straighten(graph, layout);
        QCOMPARE(layout.boxes[2].x, 6.0);
    }

    void openBoxesAreLinedUpByTheirPorts() {
        Column column({100, 74});
        column.graph.edges[0].toPort = 30;  // right of the middle: straight if it stands 30 to the left
        QCOMPARE(column.straightened(), (std::vector<double>{100, 70}));
        column.graph.boxes[1].loosePorts = true;
        QCOMPARE(column.straightened(), (std::vector<double>{100, 70}));  // by the middles: 30 aside is meant
    }
};

QTEST_GUILESS_MAIN(TestStraighten)

}  // namespace tst_straighten

#include "tst_straighten.moc"
