// A timeline of steps that were written by hand: where bars are, what is at a place, which of two million are drawn.

#include <QtTest>

#include <random>

#include "core/session/debug/accesses.h"
#include "core/session/debug/timeline.h"

namespace tst_timeline {

using namespace sonde;
using namespace session::debug;
using graph::Argument;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using Scale = TimelineScale;

namespace {

constexpr ItemId kOpen = kNoItem;

Item item(ItemId parent, std::uint16_t depth, ItemId end, std::int64_t ns = 0, std::uint8_t events = 0) {
    Item made;
    made.kind = ns > 0 || end == kOpen ? Item::Kind::Operation : Item::Kind::Module;
    made.parent = parent;
    made.depth = depth;
    made.end = end;
    made.elapsedNs = ns;
    made.events = events;
    return made;
}

/// op 10 | module [ op 20 | inner [ op 30 | op 0 ] ] | op 5
std::vector<Item> small() {
    return {item(kNoItem, 0, 1, 10),  item(kNoItem, 0, 6), item(1, 1, 3, 20, 1),  item(1, 1, 6),
            item(3, 2, 5, 30, 1 | 8), item(3, 2, 6, 0),    item(kNoItem, 0, 7, 5)};
}

Timeline of(std::vector<Item> items) {
    Timeline timeline;
    timeline.add({{}, std::move(items)});
    return timeline;
}

/// Two levels: modules of ten operations each, every operation 7 ns.
Timeline large(std::size_t modules) {
    std::vector<Item> items;
    items.reserve(modules * 11);
    for (std::size_t m = 0; m < modules; ++m) {
        const auto at = static_cast<ItemId>(items.size());
        items.push_back(item(kNoItem, 0, at + 11));
        for (ItemId i = 1; i <= 10; ++i) items.push_back(item(at, 1, at + i + 1, 7));
    }
    return of(std::move(items));
}

std::vector<ItemId> firsts(const std::vector<TimelineBar>& bars) {
    std::vector<ItemId> items;
    for (const TimelineBar& bar : bars) items.push_back(bar.first);
    return items;
}

/// A program of PyTorch's operators, one after the other.
struct Program {
    InternalGraph graph;

    NodeId input(const char* name) { return graph.addInput(graph.mainId(), name, {}); }
    NodeId add(const char* op, const std::string& name, std::vector<NodeId> inputs) {
        graph::Expr expr;
        expr.op = {"aten", op, 0};
        expr.target = op;
        expr.body = graph.mainId();
        expr.scope = graph.rootScope();
        for (const NodeId node : inputs) expr.arguments.push_back(Argument::of(node));
        const std::vector<std::string> names{name};
        return graph.expr(graph.addExpr(std::move(expr), names)).outputs.front();
    }
    std::vector<std::string> names(const std::vector<bool>& exprs) const {
        std::vector<std::string> found;
        for (std::size_t i = 0; i < exprs.size(); ++i)
            if (exprs[i]) found.push_back(graph.node(graph.expr(ExprId(i)).outputs.front()).name);
        return found;
    }
};

using Names = std::vector<std::string>;

}  // namespace

class TestTimeline : public QObject {
    Q_OBJECT

  private slots:
    void barsBeginAndEndWithWhatIsInside() {
        const Timeline timeline = of(small());
        QCOMPARE(timeline.rowCount(), std::size_t{3});
        QCOMPARE(timeline.length(Scale::Uniform), 5.0);
        QCOMPARE(timeline.length(Scale::Time), 65.0);
        const std::vector<std::pair<double, double>> uniform{{0, 1}, {1, 4}, {1, 2}, {2, 4}, {2, 3}, {3, 4}, {4, 5}};
        const std::vector<std::pair<double, double>> time{{0, 10},  {10, 60}, {10, 30}, {30, 60},
                                                          {30, 60}, {60, 60}, {60, 65}};
        for (ItemId i = 0; i < 7; ++i) {
            QCOMPARE(std::pair(timeline.begin(i, Scale::Uniform), timeline.end(i, Scale::Uniform)), uniform[i]);
            QCOMPARE(std::pair(timeline.begin(i, Scale::Time), timeline.end(i, Scale::Time)), time[i]);
        }
    }

    void whatIsAtAPlace() {
        const Timeline timeline = of(small());
        QCOMPARE(timeline.itemAt(0.5, Scale::Uniform), ItemId{0});
        QCOMPARE(timeline.itemAt(2.5, Scale::Uniform), ItemId{4});
        QCOMPARE(timeline.itemAt(3, Scale::Uniform), ItemId{5});
        QCOMPARE(timeline.itemAt(5, Scale::Uniform), kNoItem);
        QCOMPARE(timeline.itemAt(-1, Scale::Uniform), kNoItem);
        QCOMPARE(timeline.itemAt(59, Scale::Time), ItemId{4});
        QCOMPARE(timeline.itemAt(60, Scale::Time), ItemId{6});
        QCOMPARE(timeline.itemAt(2.5, 0, Scale::Uniform), ItemId{1});
        QCOMPARE(timeline.itemAt(2.5, 1, Scale::Uniform), ItemId{3});
        QCOMPARE(timeline.itemAt(0.5, 1, Scale::Uniform), kNoItem);
        QCOMPARE(timeline.itemAt(0.5, 7, Scale::Uniform), kNoItem);
        QCOMPARE(timeline.nextInRow(0), ItemId{1});
        QCOMPARE(timeline.nextInRow(6), kNoItem);
        QCOMPARE(timeline.previousInRow(6), ItemId{1});
        QCOMPARE(timeline.previousInRow(2), kNoItem);
    }

    void narrowBarsAreDrawnAsOne() {
        const Timeline timeline = of(small());
        QCOMPARE(firsts(timeline.bars(0, Scale::Uniform, 0, 5, 0.5)), (std::vector<ItemId>{0, 1, 6}));
        QCOMPARE(firsts(timeline.bars(0, Scale::Uniform, 1.5, 3, 0.5)), (std::vector<ItemId>{1}));
        const auto together = timeline.bars(2, Scale::Uniform, 0, 5, 2);
        QCOMPARE(together.size(), std::size_t{1});
        QCOMPARE(together.front().first, ItemId{4});
        QCOMPARE(together.front().last, ItemId{5});
        // A wide one beside a narrow one keeps its own bar.
        QCOMPARE(firsts(timeline.bars(0, Scale::Uniform, 0, 5, 2)), (std::vector<ItemId>{0, 1, 6}));
        QVERIFY(timeline.bars(0, Scale::Uniform, 3, 3, 1).empty());
        QVERIFY(timeline.bars(9, Scale::Uniform, 0, 5, 1).empty());
    }

    /// What comes bit by bit is in the end as what came at once.
    void stepsComeBitByBit() {
        std::mt19937 engine(5);
        for (int round = 0; round < 200; ++round) {
            Timeline bitByBit;
            std::vector<Item> items;  // as a trace has them now
            std::vector<ItemId> around;
            for (int step = 0; step < 40; ++step) {
                const auto id = static_cast<ItemId>(items.size());
                if (engine() % 4 == 0 && !around.empty()) {
                    items[around.back()].end = id;
                    items[around.back()].events = static_cast<std::uint8_t>(engine() % 3);
                    around.pop_back();
                } else {
                    const bool isAround = engine() % 3 == 0;
                    items.push_back(item(around.empty() ? kNoItem : around.back(),
                                         static_cast<std::uint16_t>(around.size()), isAround ? kOpen : id + 1,
                                         isAround ? 0 : 1 + engine() % 9));
                    if (isAround) around.push_back(id);
                }
                if (engine() % 3 != 0) continue;
                Timeline::Changes changes;
                for (const ItemId open : bitByBit.open()) changes.changed.emplace_back(open, items[open]);
                changes.added.assign(items.begin() + static_cast<std::ptrdiff_t>(bitByBit.size()), items.end());
                bitByBit.add(changes);
                const Timeline atOnce = of(items);
                QCOMPARE(bitByBit.size(), atOnce.size());
                QCOMPARE(bitByBit.open(), atOnce.open());
                for (ItemId i = 0; i < items.size(); ++i) {
                    QCOMPARE(bitByBit.begin(i, Scale::Time), atOnce.begin(i, Scale::Time));
                    QCOMPARE(bitByBit.end(i, Scale::Uniform), atOnce.end(i, Scale::Uniform));
                }
                QCOMPARE(bitByBit.withEvent(0), atOnce.withEvent(0));
            }
        }
    }

    /// Adding to one leaves the other as it is; what is cleared is as it was, too.
    void copiesAreApart() {
        Timeline timeline = of(small());
        const Timeline before = timeline;
        const ItemId at = static_cast<ItemId>(timeline.size());
        timeline.add({{{6, item(kNoItem, 0, 7, 90)}}, {item(kNoItem, 0, at + 1, 4)}});
        QCOMPARE(timeline.size(), std::size_t{8});
        QCOMPARE(timeline.length(Scale::Time), 10.0 + 20 + 30 + 90 + 4);
        QCOMPARE(before.size(), std::size_t{7});
        QCOMPARE(before.length(Scale::Time), 10.0 + 20 + 30 + 5);
        const std::size_t number = timeline.number();
        const Timeline cleared = timeline.clear();
        QCOMPARE(timeline.size(), std::size_t{0});
        QCOMPARE(timeline.number(), number + 1);
        QCOMPARE(cleared.size(), std::size_t{8});
        QCOMPARE(cleared.number(), number);
    }

    void eventsAreListed() {
        const Timeline timeline = of(small());
        QCOMPARE(timeline.withEvent(0), (std::vector<ItemId>{2, 4}));
        QCOMPARE(timeline.withEvent(3), (std::vector<ItemId>{4}));
        QCOMPARE(eventName(0), std::string_view("nan"));
        QCOMPARE(eventName(3), std::string_view("zero"));
    }

    /// Whatever part of two million steps is looked at: no more bars than there are pixels, and none of it left out.
    void twoMillionStepsAreAsManyBarsAsPixels() {
        const Timeline timeline = large(181'818);
        QVERIFY(timeline.size() > 1'999'000);
        constexpr double kWidth = 1'600;
        std::mt19937 engine(2);
        for (const Scale scale : {Scale::Uniform, Scale::Time}) {
            const double length = timeline.length(scale);
            for (int view = 0; view < 50; ++view) {
                const double part = length / std::pow(2.0, view % 22);
                const double from = std::uniform_real_distribution<double>(0, length - part)(engine);
                const double least = 2 * part / kWidth;
                for (std::size_t row = 0; row < 2; ++row) {
                    const auto bars = timeline.bars(row, scale, from, from + part, least);
                    QVERIFY2(bars.size() <= static_cast<std::size_t>(kWidth) + 2,
                             qPrintable(QString::number(bars.size())));
                    QVERIFY(!bars.empty());
                    QVERIFY(bars.front().begin <= from + least && bars.back().end >= from + part - least);
                    for (std::size_t i = 1; i < bars.size(); ++i) QVERIFY(bars[i].begin == bars[i - 1].end);
                }
            }
        }
    }

    void marksAreThinnedOut() {
        const Timeline timeline = large(181'818);
        std::vector<ItemId> all;
        for (ItemId i = 0; i < timeline.size(); ++i) all.push_back(i);
        const double length = timeline.length(Scale::Uniform);
        QVERIFY(timeline.thinned(all, Scale::Uniform, 0, length, length / 1'600).size() <= 1'601);
        // Three that are far from each other are all there.
        const std::vector<ItemId> three{5, 1'000'000, 1'999'990};
        QCOMPARE(timeline.thinned(three, Scale::Uniform, 0, length, length / 1'600), three);
        QCOMPARE(timeline.thinned(three, Scale::Uniform, length / 4, length / 2 + 10, 1),
                 (std::vector<ItemId>{1'000'000}));
    }

    /// a = relu(x); v = view(a); w = add_(v, x); b = mul(a, w); c = neg(x)
    void readsAndWritesGoThroughViews() {
        Program program;
        const NodeId x = program.input("x");
        const NodeId a = program.add("relu", "a", {x}), v = program.add("view", "v", {a});
        const NodeId w = program.add("add_", "w", {v, x}), b = program.add("mul", "b", {a, w});
        program.add("neg", "c", {x});
        const Accesses ofA = Accesses::of(program.graph, a);
        QCOMPARE(program.names(ofA.reads), (Names{"v", "w", "b"}));
        QCOMPARE(program.names(ofA.writes), (Names{"a", "w"}));
        const Accesses ofX = Accesses::of(program.graph, x);
        QCOMPARE(program.names(ofX.reads), (Names{"a", "w", "c"}));
        QCOMPARE(program.names(ofX.writes), Names{});
        const Accesses ofB = Accesses::of(program.graph, b);
        QCOMPARE(program.names(ofB.reads), Names{});
        QCOMPARE(program.names(ofB.writes), (Names{"b"}));
    }

    void accessesAreItemsInOrder() {
        Program program;
        const NodeId x = program.input("x");
        const NodeId a = program.add("relu", "a", {x});
        const NodeId b = program.add("neg", "b", {a});
        std::vector<Item> items;
        for (ItemId i = 0; i < 6; ++i) {
            items.push_back(item(kNoItem, 0, i + 1, 1));
            items.back().expr = program.graph.node(i % 2 == 0 ? a : b).producer;
        }
        AccessItems found;
        found.add(of(items), Accesses::of(program.graph, a));
        QCOMPARE(found.writes, (std::vector<ItemId>{0, 2, 4}));
        QCOMPARE(found.reads, (std::vector<ItemId>{1, 3, 5}));
    }
};

QTEST_GUILESS_MAIN(TestTimeline)

}  // namespace tst_timeline

#include "tst_timeline.moc"
