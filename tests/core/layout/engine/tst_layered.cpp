#include <QTest>

#include "core/layout/engine/layered.h"
#include "core/layout/engine/layered/proper_graph.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_layered {

using namespace sonde::layout;
using namespace layout_test;

namespace {

BoxLayout laidOut(const BoxGraph& graph) {
    auto layout = layoutLayered(graph);
    if (!layout) qFatal("%s", layout.error().text().c_str());
    return std::move(layout).value();
}

}  // namespace

class TestLayered : public QObject {
    Q_OBJECT

  private slots:
    void emptyGraphIsAnEmptyPicture() {
        const BoxLayout layout = laidOut({});
        QVERIFY(layout.boxes.empty() && layout.edges.empty());
        QCOMPARE(layout.size.width, 0.0);
    }

    void chainStandsInOneColumn() {
        BoxGraph graph = chain(4);
        graph.rankSep = 40;
        const BoxLayout layout = laidOut(graph);
        for (std::size_t i = 0; i < 4; ++i) QCOMPARE(layout.boxes[i], (Rect{0, i * 70.0, 80, 30}));
        QCOMPARE(layout.size, (Size{80, 240}));
        QCOMPARE(layout.edges[0].start(), (Point{40, 30}));
        QCOMPARE(layout.edges[0].end(), (Point{40, 70}));
    }

    void leftToRightIsTopDownTransposed() {
        BoxGraph graph = residual(3);
        const BoxLayout down = laidOut(graph);
        for (Box& box : graph.boxes) std::swap(box.width, box.height);
        graph.direction = Direction::LeftRight;
        BoxLayout right = laidOut(graph);
        transpose(right);
        QCOMPARE(right, down);
    }

    void readersStandBelowWhatTheyRead() {
        const BoxGraph graph = residual(20);
        const BoxLayout layout = laidOut(graph);
        QCOMPARE(brokenRule(graph, layout, true), std::string());
        for (const BoxEdge& edge : graph.edges) {
            QVERIFY(layout.boxes[edge.from].bottom() + graph.rankSep <= layout.boxes[edge.to].y + 1e-6);
        }
    }

    void constantsSinkToTheirReader() {
        BoxGraph graph = chain(6);  // 0..5
        graph.boxes.resize(8, Box{80, 30});
        addEdge(graph, 6, 7);  // a constant, something computed from it, read by the last box
        addEdge(graph, 7, 5);
        const BoxLayout layout = laidOut(graph);
        QCOMPARE(layout.boxes[7].y, layout.boxes[4].y);
        QCOMPARE(layout.boxes[6].y, layout.boxes[3].y);
    }

    void pinsHoldTheFirstAndTheLastRank() {
        BoxGraph graph = chain(5);
        graph.boxes[4].pin = Pin::First;  // against its only edge
        graph.boxes[0].pin = Pin::Last;
        graph.boxes.push_back({10, 10, Pin::First});
        graph.edges.push_back({5, 4});  // within the first rank
        const BoxLayout layout = laidOut(graph);
        QCOMPARE(brokenRule(graph, layout, true), std::string());
        for (std::size_t i = 1; i <= 3; ++i) {
            QVERIFY(layout.boxes[4].bottom() < layout.boxes[i].y);
            QVERIFY(layout.boxes[5].bottom() < layout.boxes[i].y);
            QVERIFY(layout.boxes[0].y > layout.boxes[i].bottom());
        }
    }

    void edgesEndAtTheirPorts() {
        BoxGraph graph = boxes(3, 200, 40);
        graph.edges.push_back({0, 1, -80.0, 60.0});
        graph.edges.push_back({0, 2, 500.0, std::nullopt});  // beyond the corner: taken to it
        graph.edges.push_back({2, 0, 10.0, -20.0});          // closes a cycle
        const BoxLayout layout = laidOut(graph);
        QCOMPARE(layout.edges[0].start(), (Point{layout.boxes[0].center().x - 80, layout.boxes[0].bottom()}));
        QCOMPARE(layout.edges[0].end(), (Point{layout.boxes[1].center().x + 60, layout.boxes[1].y}));
        QCOMPARE(layout.edges[1].start(), (Point{layout.boxes[0].right(), layout.boxes[0].bottom()}));
        QCOMPARE(layout.edges[2].start(), (Point{layout.boxes[2].center().x + 10, layout.boxes[2].bottom()}));
        QCOMPARE(layout.edges[2].end(), (Point{layout.boxes[0].center().x - 20, layout.boxes[0].y}));
        QCOMPARE(brokenRule(graph, layout, true), std::string());
    }

    void crossedPairsAreUncrossed() {
        BoxGraph graph = boxes(8);
        for (std::uint32_t i = 0; i < 4; ++i) addEdge(graph, i, 7 - i);
        layered::ProperGraph proper = layered::makeProper(graph);
        QCOMPARE(layered::countCrossings(proper), std::uint64_t{6});
        layered::reduceCrossings(proper, 8);
        QCOMPARE(layered::countCrossings(proper), std::uint64_t{0});
    }

    void portsLeftOfTheMiddleOrderTheirReaders() {
        constexpr std::uint32_t kReaders = 3200;  // more than neighbours are exchanged for
        BoxGraph graph = boxes(kReaders + 1);
        graph.boxes[0].width = 2 * kReaders;
        for (std::uint32_t i = 0; i < kReaders; ++i) {
            const std::uint32_t place = i * 1237 % kReaders;
            graph.edges.push_back({0, 1 + i, 2.0 * place - kReaders + 1, {}});
        }
        layered::ProperGraph proper = layered::makeProper(graph);
        layered::reduceCrossings(proper, 3);
        QCOMPARE(layered::countCrossings(proper), std::uint64_t{0});
    }

    void randomGraphsKeepTheRules_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("edges");
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 40; ++seed) {
            const int count = 1 + seed * seed / 6;
            QTest::addRow("%d", seed) << count << count * (seed % 5) << seed;
        }
    }
    void randomGraphsKeepTheRules() {
        QFETCH(int, count);
        QFETCH(int, edges);
        QFETCH(int, seed);
        BoxGraph graph = random(count, edges, seed);
        const BoxLayout layout = laidOut(graph);
        QCOMPARE(brokenRule(graph, layout, true), std::string());
        QCOMPARE(laidOut(graph), layout);
        graph.direction = Direction::LeftRight;
        QCOMPARE(brokenRule(graph, laidOut(graph), true), std::string());
    }

    void boxWithTenThousandInputs() {
        BoxGraph graph = boxes(10'001);
        for (std::uint32_t i = 0; i < 10'000; ++i) addEdge(graph, i, 10'000);
        const BoxLayout layout = laidOut(graph);
        QVERIFY(answers(layout, graph));
    }

    void edgesTooLongForPlacesRunBesideThePicture() {
        BoxGraph graph = chain(4000);
        for (std::uint32_t i = 0; i < 100; ++i) addEdge(graph, i, 3999 - i);
        const BoxLayout layout = laidOut(graph);
        double right = 0;
        for (const Rect& box : layout.boxes) right = std::max(right, box.right());
        QVERIFY(layout.edges.back().bounds().right() > right || layout.edges[3999].bounds().right() > right);
        QVERIFY(answers(layout, graph));
    }

    void tenThousandBoxesAreLaidOut() {
        for (const BoxGraph& graph : {chain(10'000), residual(3'333), random(10'000, 15'000, 7)}) {
            QElapsedTimer timer;
            timer.start();
            const BoxLayout layout = laidOut(graph);
            QVERIFY(answers(layout, graph));
            qInfo("%zu boxes, %zu edges: %lld ms", graph.boxes.size(), graph.edges.size(), timer.elapsed());
        }
    }

    void stopRequestCancels() {
        std::stop_source source;
        source.request_stop();
        sonde::base::WorkContext work;
        work.stop = source.get_token();
        const auto layout = layoutLayered(chain(5), work);
        QVERIFY(!layout);
        QCOMPARE(layout.error().kind, sonde::base::ErrorKind::Cancelled);
    }

    void invalidGraphsAreRefused() {
        BoxGraph graph = chain(2);
        graph.edges.push_back({0, 2});
        QVERIFY(!layoutLayered(graph));
        graph = chain(2);
        graph.boxes[1].width = std::nan("");
        QVERIFY(!layoutLayered(graph));
        graph = chain(2);
        graph.edges[0].toPort = INFINITY;
        QVERIFY(!layoutLayered(graph));
    }
};

QTEST_GUILESS_MAIN(TestLayered)

}  // namespace tst_layered

#include "tst_layered.moc"
