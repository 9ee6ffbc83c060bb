#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <set>

#include "core/layout/engine/layered.h"
#include "core/layout/engine/wrap.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_wrap {

using namespace sonde::layout;
using namespace layout_test;

namespace {

/// A straight line along an axis, longer than a corner.
struct Straight {
    bool isUpright = false;
    double at = 0, from = 0, to = 0;
};

std::vector<Straight> straights(const Path& path) {
    std::vector<Straight> found;
    for (std::size_t s = 0; s < path.segments(); ++s) {
        const Point a = path.points[3 * s], b = path.points[3 * s + 3];
        const Point c = path.points[3 * s + 1], d = path.points[3 * s + 2];
        if (a.x == b.x && c.x == a.x && d.x == a.x && std::abs(a.y - b.y) > 1)
            found.push_back({true, a.x, std::min(a.y, b.y), std::max(a.y, b.y)});
        if (a.y == b.y && c.y == a.y && d.y == a.y && std::abs(a.x - b.x) > 1)
            found.push_back({false, a.y, std::min(a.x, b.x), std::max(a.x, b.x)});
    }
    return found;
}

bool coincide(const Path& one, const Path& other) {
    const auto others = straights(other);
    for (const Straight& a : straights(one)) {
        for (const Straight& b : others) {
            if (a.isUpright == b.isUpright && std::abs(a.at - b.at) < 1 &&
                std::min(a.to, b.to) - std::max(a.from, b.from) > 1)
                return true;
        }
    }
    return false;
}

/// Along the flow: from the first box's begin to the last one's end, by column.
std::vector<std::pair<double, double>> spans(const BoxGraph& graph, const WrappedLayout& found) {
    std::vector<std::pair<double, double>> columns;
    for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
        const Rect& box = found.layout.boxes[i];
        const bool across = graph.direction == Direction::LeftRight;
        const double begin = across ? box.x : box.y, end = across ? box.right() : box.bottom();
        if (found.column[i] >= columns.size()) columns.resize(found.column[i] + 1, {1e12, -1e12});
        auto& column = columns[found.column[i]];
        column = {std::min(column.first, begin), std::max(column.second, end)};
    }
    return columns;
}

BoxLayout laidOut(const BoxGraph& graph) {
    auto layout = layoutLayered(graph);
    if (!layout) qFatal("%s", layout.error().text().c_str());
    return *layout;
}

double extent(const BoxGraph& graph, const BoxLayout& layout) {
    return graph.direction == Direction::LeftRight ? layout.size.width : layout.size.height;
}

}  // namespace

class TestWrap : public QObject {
    Q_OBJECT

  private slots:
    void chainFillsColumns() {
        const BoxGraph graph = chain(30);  // boxes of 80 × 30, 40 apart: 2060 high
        const WrappedLayout found = wrapped(graph, laidOut(graph), 700);
        QCOMPARE(brokenRule(graph, found.layout, true), std::string());
        // Ten boxes are 660 high, and one line passes each cut.
        for (std::uint32_t i = 0; i < 30; ++i) QCOMPARE(found.column[i], i / 10);
        QCOMPARE(found.jumps.size(), std::size_t(2));
        QCOMPARE(found.jumps[0].edge, 9U);
        QCOMPARE(found.jumps[1].edge, 19U);
        QVERIFY(found.layout.size.height > 660 && found.layout.size.height < 800);
        QVERIFY(found.layout.boxes[10].x > found.layout.boxes[9].right());
        QCOMPARE(found.layout.boxes[10].y, found.layout.boxes[20].y);
        // The names' places: below the column that the line leaves, above the one where it goes on.
        for (const WrapJump& jump : found.jumps) {
            QVERIFY(jump.leaves.y > found.layout.boxes[jump.edge].bottom());
            QVERIFY(jump.arrives.y < found.layout.boxes[jump.edge + 1].y);
            QVERIFY(passesThrough(found.layout.edges[jump.edge], {jump.leaves.x - 6, jump.leaves.y - 6, 12, 12}));
            QVERIFY(passesThrough(found.layout.edges[jump.edge], {jump.arrives.x - 6, jump.arrives.y - 6, 12, 12}));
        }
    }

    void whatIsShortStays() {
        const BoxGraph graph = chain(10);
        const BoxLayout layout = laidOut(graph);
        const WrappedLayout found = wrapped(graph, layout, 660);
        QCOMPARE(found.layout, layout);
        QVERIFY(found.jumps.empty());
    }

    void fewLinesAreCut() {
        // Blocks of three boxes with a line past each: 280 from block to block. Between blocks one line passes.
        const BoxGraph graph = residual(8);
        const WrappedLayout found = wrapped(graph, laidOut(graph), 900);
        QCOMPARE(brokenRule(graph, found.layout, true), std::string());
        std::set<std::uint32_t> columns(found.column.begin(), found.column.end());
        QVERIFY(columns.size() >= 2);
        // A line that comes in at a block's end and the one past it are cut with one that leaves the same port.
        std::set<std::pair<double, double>> places;
        for (const WrapJump& jump : found.jumps) places.insert({jump.leaves.x, jump.leaves.y});
        QVERIFY(places.size() <= 2 * (columns.size() - 1));
    }

    void equalValuesShareLanes() {
        BoxGraph graph = chain(20);
        graph.edges[4].fromPort = graph.edges[3].toPort = 0;
        for (const std::uint32_t to : {15U, 19U}) graph.edges.push_back({4, to, 0.0, 20.0});
        graph.edges.push_back({5, 18, 20.0, -20.0});
        const WrappedLayout found = wrapped(graph, laidOut(graph), 700);
        QCOMPARE(brokenRule(graph, found.layout, true), std::string());
        const Path &one = found.layout.edges[19], &same = found.layout.edges[20], &other = found.layout.edges[21];
        QVERIFY(coincide(one, same));
        QVERIFY(!coincide(one, other));
        QVERIFY(!coincide(same, other));
    }

    void pinnedBoxesKeepTheirEnds_data() {
        QTest::addColumn<bool>("across");
        QTest::newRow("down") << false;
        QTest::newRow("right") << true;
    }
    void pinnedBoxesKeepTheirEnds() {
        QFETCH(bool, across);
        BoxGraph graph = chain(30);
        if (across) graph.direction = Direction::LeftRight;
        graph.boxes.push_back({0, 0, Pin::First});
        graph.boxes.push_back({0, 0, Pin::Last});
        graph.edges.push_back({30, 0});
        graph.edges.push_back({29, 31});
        const WrappedLayout found = wrapped(graph, laidOut(graph), across ? 1000 : 700);
        QCOMPARE(brokenRule(graph, found.layout, true), std::string());
        const std::uint32_t last = found.column[31];
        QVERIFY(last > 0);
        QCOMPARE(found.column[30], 0U);
        QCOMPARE(found.column[0], 0U);
        QCOMPARE(found.column[29], last);
        const Rect &in = found.layout.boxes[30], &out = found.layout.boxes[31], &end = found.layout.boxes[29];
        QCOMPARE(across ? in.x : in.y, 0.0);
        QVERIFY(across ? out.x > end.right() : out.y > end.bottom());
    }

    void everyPictureKeepsTheRules_data() {
        QTest::addColumn<unsigned>("seed");
        QTest::addColumn<bool>("across");
        for (unsigned seed = 0; seed < 40; ++seed) QTest::addRow("%u", seed) << seed << (seed % 2 == 1);
    }
    void everyPictureKeepsTheRules() {
        QFETCH(unsigned, seed);
        QFETCH(bool, across);
        BoxGraph graph = random(10 + 3 * seed, 9 + 3 * seed, seed);
        if (across) graph.direction = Direction::LeftRight;
        const BoxLayout layout = laidOut(graph);
        std::size_t cuts = 0;
        for (const double part : {1.5, 3.0, 7.5}) {
            const double height = extent(graph, layout) / part;
            const WrappedLayout found = wrapped(graph, layout, height);
            QCOMPARE(brokenRule(graph, found.layout, true), std::string());
            // Columns follow the flow, and within each nothing has moved.
            const auto middle = [&](const Rect& box) { return across ? box.center().x : box.center().y; };
            for (std::size_t a = 0; a < graph.boxes.size(); ++a) {
                for (std::size_t b = 0; b < a; ++b) {
                    if (found.column[a] < found.column[b]) {
                        QVERIFY(middle(layout.boxes[a]) < middle(layout.boxes[b]));
                    } else if (found.column[a] == found.column[b]) {
                        const Point was = layout.boxes[a].center(), other = layout.boxes[b].center();
                        const Point is = found.layout.boxes[a].center(), beside = found.layout.boxes[b].center();
                        QVERIFY(std::abs(is.x - beside.x - was.x + other.x) < 1e-6);
                        QVERIFY(std::abs(is.y - beside.y - was.y + other.y) < 1e-6);
                    }
                }
            }
            cuts += found.jumps.size();
            noTwoLanesCoincide(graph, layout, found);
        }
        QVERIFY(cuts > 0);
    }

    void columnsAreWithinTheHeight() {
        for (const double height : {300.0, 500.0, 1200.0, 5000.0}) {
            const BoxGraph graph = residual(60);
            const WrappedLayout found = wrapped(graph, laidOut(graph), height);
            const auto columns = spans(graph, found);
            QVERIFY(columns.size() > 1);
            double shortest = 1e12;
            for (const auto& [begin, end] : columns) {
                QVERIFY2(end - begin <= height + 1e-6, qPrintable(QString::number(end - begin)));
                shortest = std::min(shortest, end - begin);
            }
            QVERIFY2(shortest > height / 3, qPrintable(QString::number(shortest)));
        }
    }

    void boxesLongerThanAColumnAreAlone() {
        BoxGraph graph = chain(9);
        graph.boxes[4].height = 900;
        const WrappedLayout found = wrapped(graph, laidOut(graph), 300);
        QCOMPARE(brokenRule(graph, found.layout, true), std::string());
        for (std::size_t i = 0; i < 9; ++i) QCOMPARE(found.column[i] == found.column[4], i == 4);
    }

    void manyColumnsAreQuick() {
        const BoxGraph graph = chain(100'000);
        const BoxLayout layout = laidOut(graph);
        // In the square of the boxes this would take minutes.
        QElapsedTimer timer;
        timer.start();
        const WrappedLayout found = wrapped(graph, layout, 1000);
        QVERIFY(found.jumps.size() > 6000);
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    }

  private:
    static void noTwoLanesCoincide(const BoxGraph& graph, const BoxLayout& before, const WrappedLayout& found) {
        std::vector<std::uint32_t> jumping;
        for (const WrapJump& jump : found.jumps) jumping.push_back(jump.edge);
        for (const std::uint32_t a : jumping) {
            for (const std::uint32_t b : jumping) {
                if (b >= a || coincide(before.edges[a], before.edges[b])) continue;
                const bool isSame =
                    graph.edges[a].from == graph.edges[b].from && before.edges[a].start() == before.edges[b].start();
                if (isSame) continue;
                QVERIFY2(!coincide(found.layout.edges[a], found.layout.edges[b]),
                         qPrintable(QStringLiteral("edges %1 and %2").arg(b).arg(a)));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestWrap)

}  // namespace tst_wrap

#include "tst_wrap.moc"
