#include <QTest>

#include "core/layout/compose/time_budget.h"
#include "core/layout/workers.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_time_budget {

using namespace sonde::layout;
using namespace layout_test;
using compose::TimeBudget;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kBudget{600};

std::vector<bool> grants(TimeBudget& budget, const std::vector<BoxGraph>& graphs, bool last) {
    std::vector<const BoxGraph*> all;
    for (const BoxGraph& graph : graphs) all.push_back(&graph);
    return budget.grant(all, last);
}

}  // namespace

class TestTimeBudget : public QObject {
    Q_OBJECT

  private slots:
    void chainsCostNothing() {
        QCOMPARE(LayoutWorkers::expectedMs(chain(5000), kBudget), 0.0);
        QCOMPARE(LayoutWorkers::expectedMs(boxes(1), kBudget), 0.0);
        QVERIFY(LayoutWorkers::expectedMs(residual(3), kBudget) > 0);
        TimeBudget none(milliseconds(0), kBudget);
        QCOMPARE(grants(none, {chain(100), residual(3)}, true), (std::vector<bool>{true, false}));
    }

    void largerGraphsAreExpectedToTakeLonger() {
        QVERIFY(LayoutWorkers::expectedMs(residual(60), kBudget) > LayoutWorkers::expectedMs(residual(6), kBudget));
        // Not asked of Graphviz at all: nothing to share out.
        QCOMPARE(LayoutWorkers::expectedMs(residual(20'000), kBudget), 0.0);
    }

    void everyPartIsARequest() {
        const double one = LayoutWorkers::expectedMs(residual(2), kBudget);
        BoxGraph many;
        for (std::uint32_t i = 0; i < 3000; ++i) {
            const BoxGraph part = residual(2);
            const auto first = static_cast<std::uint32_t>(many.boxes.size());
            many.boxes.insert(many.boxes.end(), part.boxes.begin(), part.boxes.end());
            for (BoxEdge edge : part.edges) {
                edge.from += first;
                edge.to += first;
                many.edges.push_back(edge);
            }
        }
        QVERIFY(std::abs(LayoutWorkers::expectedMs(many, kBudget) - 3000 * one) < 1e-6 * 3000 * one);
        TimeBudget budget(milliseconds(250), kBudget);
        QCOMPARE(grants(budget, {many}, true), (std::vector<bool>{false}));
    }

    void smallGraphsGoFirst() {
        const std::vector<BoxGraph> graphs{residual(60), residual(2), residual(8)};
        const double two =
            LayoutWorkers::expectedMs(graphs[1], kBudget) + LayoutWorkers::expectedMs(graphs[2], kBudget);
        TimeBudget enough(milliseconds(static_cast<int>(TimeBudget::kSafetyFactor * two) + 1), kBudget);
        QCOMPARE(grants(enough, graphs, true), (std::vector<bool>{false, true, true}));
        TimeBudget plenty(milliseconds(1000), kBudget);
        QCOMPARE(grants(plenty, graphs, true), (std::vector<bool>{true, true, true}));
    }

    void halfIsKeptForTheLevelsAround() {
        const std::vector<BoxGraph> graphs(40, residual(8));
        const double one = LayoutWorkers::expectedMs(graphs[0], kBudget);
        TimeBudget budget(milliseconds(static_cast<int>(40 * TimeBudget::kSafetyFactor * one) + 1), kBudget);
        auto count = [&](bool last) {
            const auto granted = grants(budget, graphs, last);
            return std::count(granted.begin(), granted.end(), true);
        };
        const auto inner = count(false), outer = count(true);
        QVERIFY(inner >= 20 && inner <= 22);
        QVERIFY(inner + outer >= 40 && inner + outer <= 44);
        QCOMPARE(count(true), decltype(inner){0});
    }
};

QTEST_GUILESS_MAIN(TestTimeBudget)

}  // namespace tst_time_budget

#include "tst_time_budget.moc"
