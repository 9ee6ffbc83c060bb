#include <QTest>

#include "core/layout/engine/layered.h"
#include "core/layout/engine/pack.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_pack {

using namespace sonde::layout;
using namespace layout_test;

namespace {

BoxLayout packed(const BoxGraph& graph, int* asked = nullptr) {
    return layoutParts(graph,
                       [&](const BoxGraph& part) {
                           if (asked) ++*asked;
                           return layoutLayered(part);
                       })
        .value();
}

}  // namespace

class TestPack : public QObject {
    Q_OBJECT

  private slots:
    void connectedGraphsAreOnePart() {
        int asked = 0;
        const BoxLayout layout = packed(residual(4), &asked);
        QCOMPARE(asked, 1);
        QCOMPARE(brokenRule(residual(4), layout, true), std::string());
    }

    void loneBoxesFillAWindow() {
        int asked = 0;
        const BoxGraph graph = boxes(100);  // 80 by 30 each
        const BoxLayout layout = packed(graph, &asked);
        QCOMPARE(asked, 100);
        QCOMPARE(brokenRule(graph, layout, true), std::string());
        QVERIFY(layout.size.width / layout.size.height > 1 && layout.size.width / layout.size.height < 2.5);
        for (std::size_t i = 1; i < 100; ++i) {  // in their order, row by row
            const Rect &a = layout.boxes[i - 1], &b = layout.boxes[i];
            QVERIFY(b.y > a.y || (b.y == a.y && b.x > a.x));
        }
    }

    void smallPartsStandBesideATallOne() {
        BoxGraph graph = chain(20);
        for (int i = 0; i < 10; ++i) graph.boxes.push_back({80, 30});
        const BoxLayout layout = packed(graph);
        QCOMPARE(brokenRule(graph, layout, true), std::string());
        QCOMPARE(layout.size.height, packed(chain(20)).size.height);
        QCOMPARE(layout.boxes[0].x, 0.0);
    }

    void endsStayAtTheBorders_data() {
        QTest::addColumn<bool>("across");
        QTest::addRow("down") << false;
        QTest::addRow("right") << true;
    }
    void endsStayAtTheBorders() {
        QFETCH(bool, across);
        BoxGraph graph = chain(4);
        if (across) graph.direction = Direction::LeftRight;
        graph.boxes[0] = {0, 0, Pin::First};
        graph.boxes[3] = {0, 0, Pin::Last};
        for (int i = 0; i < 3; ++i) graph.boxes.push_back({80, 30});
        const BoxLayout layout = packed(graph);
        QCOMPARE(brokenRule(graph, layout, true), std::string());
        const Rect &first = layout.boxes[0], &last = layout.boxes[3];
        QCOMPARE(across ? first.x : first.y, 0.0);
        for (std::size_t i = 4; i < 7; ++i) {  // beside the way from the first to the last
            if (across) QVERIFY(layout.boxes[i].y > std::max(first.y, last.y));
            else QVERIFY(layout.boxes[i].x > std::max(first.x, last.x));
        }
    }

    void pinnedBoxesKeepTheirOrder() {
        BoxGraph graph = boxes(3);
        for (int i = 0; i < 3; ++i) graph.boxes.push_back({0, 0, Pin::First});
        for (std::uint32_t i = 0; i < 3; ++i) addEdge(graph, 3 + i, 2 - i);  // crossed
        addEdge(graph, 0, 1);
        addEdge(graph, 1, 2);
        const BoxLayout layout = packed(graph);
        QVERIFY(layout.boxes[3].x < layout.boxes[4].x && layout.boxes[4].x < layout.boxes[5].x);
    }
};

QTEST_GUILESS_MAIN(TestPack)

}  // namespace tst_pack

#include "tst_pack.moc"
