#include <QTest>

#include <set>

#include "core/layout/engine/box_graph.h"
#include "core/layout/engine/layered.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_box_graph {

using namespace sonde::layout;
using namespace layout_test;

class TestBoxGraph : public QObject {
    Q_OBJECT

  private slots:
    void graphsAndLayoutsSurviveTheirBytes() {
        for (unsigned seed = 0; seed < 20; ++seed) {
            BoxGraph graph = random(1 + seed, 3 * seed, seed);
            graph.boxes[0].pin = Pin::Last;
            graph.direction = seed % 2 ? Direction::LeftRight : Direction::TopDown;
            const auto read = decodeGraph(encode(graph));
            QVERIFY(read);
            QCOMPARE(*read, graph);
            BoxLayout layout = *layoutLayered(graph);
            layout.note = "too late";
            const auto again = decodeLayout(encode(layout));
            QVERIFY(again);
            QCOMPARE(*again, layout);
        }
    }

    void damagedBytesAreRefusedOrStillValid() {
        const BoxGraph graph = random(12, 30, 3);
        const std::vector<std::byte> graphBytes = encode(graph);
        const std::vector<std::byte> layoutBytes = encode(*layoutLayered(graph));
        for (std::size_t cut = 0; cut < graphBytes.size(); ++cut) {
            QVERIFY(!decodeGraph(std::span(graphBytes).first(cut)));
        }
        for (std::size_t cut = 0; cut < layoutBytes.size(); ++cut) {
            QVERIFY(!decodeLayout(std::span(layoutBytes).first(cut)));
        }
        for (std::size_t i = 0; i < graphBytes.size(); ++i) {
            auto bytes = graphBytes;
            bytes[i] ^= std::byte{0xff};
            if (const auto read = decodeGraph(bytes)) QVERIFY(validate(*read));
        }
        for (std::size_t i = 0; i < layoutBytes.size(); ++i) {
            auto bytes = layoutBytes;
            bytes[i] ^= std::byte{0x7f};
            if (const auto read = decodeLayout(bytes)) {
                for (const Path& path : read->edges) QVERIFY(!path.empty() && std::isfinite(path.bounds().width));
            }
        }
    }

    void keysTellGraphsApart() {
        QCOMPARE(structuralKey(random(9, 20, 5)), structuralKey(random(9, 20, 5)));
        std::set<LayoutKey> keys;
        const BoxGraph graph = residual(3);
        keys.insert(structuralKey(graph));
        for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
            BoxGraph other = graph;
            other.boxes[i].width += 1;
            keys.insert(structuralKey(other));
            other = graph;
            other.boxes[i].pin = Pin::Last;
            keys.insert(structuralKey(other));
        }
        for (std::size_t i = 0; i < graph.edges.size(); ++i) {
            BoxGraph other = graph;
            other.edges[i].toPort = 0;
            keys.insert(structuralKey(other));
        }
        QCOMPARE(keys.size(), 1 + 2 * graph.boxes.size() + graph.edges.size());
        QCOMPARE(structuralKey(graph).hex().size(), std::size_t{32});
    }

    void pathsJoinAndHaveAMiddle() {
        Path path;
        path.moveTo({0, 0});
        path.lineTo({0, 10});
        Path next;
        next.moveTo({0, 20});
        next.lineTo({30, 20});
        path.append(next);  // the gap from (0,10) to (0,20) is closed by a line
        QCOMPARE(path.segments(), std::size_t{3});
        QCOMPARE(path.middle(), (Point{5, 20}));  // 50 long: 25 along
        QCOMPARE(path.bounds(), (Rect{0, 0, 30, 20}));
        path.transpose();
        QCOMPARE(path.end(), (Point{20, 30}));
    }
};

QTEST_GUILESS_MAIN(TestBoxGraph)

}  // namespace tst_box_graph

#include "tst_box_graph.moc"
