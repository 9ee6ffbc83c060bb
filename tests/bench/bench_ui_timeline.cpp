// What the timeline of a debugged run costs: bench_ui_timeline [MODEL [INPUT-DATA]]
// "paint": milliseconds for a frame of 1600×200 over two million steps, from the whole run to a few steps; before that
// how long they take to be built, which a worker does, and then to be taken over, with a few steps more. "scrub":
// milliseconds from a step that is gone to until the value there is at hand, at 500 places of a run of a model
// (default: ResNet-18 on one image) whose values have a tenth of the memory that they need.

#include <QApplication>
#include <QImage>
#include <QPainter>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

#include "core/session/session.h"
#include "ui/panels/timeline/timeline_view.h"

using namespace sonde;
using session::debug::Item;
using session::debug::ItemId;

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double quantile(std::vector<double> times, double q) {
    std::ranges::sort(times);
    return times.empty() ? 0 : times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
}

std::shared_ptr<graph::InternalGraph> oneOperation() {
    auto graph = std::make_shared<graph::InternalGraph>();
    const graph::NodeId x = graph->addInput(graph->mainId(), "x", {});
    graph::Expr expr;
    expr.op = {"aten", "relu", 0};
    expr.target = "relu";
    expr.body = graph->mainId();
    expr.scope = graph->rootScope();
    expr.arguments.push_back(graph::Argument::of(x));
    const std::vector<std::string> names{"y"};
    graph->addExpr(std::move(expr), names);
    return graph;
}

/// Modules of ten operations, two million items in all, NaN in each tenth of them.
std::vector<Item> manySteps(const graph::InternalGraph& graph) {
    const graph::ExprId expr = graph.main().order.back();
    std::vector<Item> items;
    while (items.size() + 11 <= 2'000'000) {
        const auto at = static_cast<ItemId>(items.size());
        for (ItemId i = 0; i <= 10; ++i) {
            Item item;
            item.kind = i == 0 ? Item::Kind::Module : Item::Kind::Operation;
            item.expr = i == 0 ? graph::ExprId() : expr;
            item.scope = graph.rootScope();
            item.depth = i == 0 ? 0 : 1;
            item.parent = i == 0 ? panels::kNoItem : at;
            item.end = i == 0 ? at + 11 : at + i + 1;
            item.elapsedNs = i == 0 ? 0 : 1'000 + 37 * (at % 100);
            item.events = i == 5 ? 1 : 0;
            items.push_back(item);
        }
    }
    return items;
}

void measurePaint() {
    const auto graph = oneOperation();
    session::debug::Timeline timeline;
    std::vector<Item> items = manySteps(*graph);
    const std::vector<Item> more(items.end() - 11, items.end());
    items.resize(items.size() - 11);
    session::debug::Timeline built = timeline;
    Clock::time_point begin = Clock::now();
    built.add({{}, items});
    std::printf("%-8s %9zu steps built in %.1f ms by a worker, ", "paint", built.size(), msSince(begin));
    begin = Clock::now();
    std::swap(timeline, built);
    built = {};
    timeline.add({{}, more});
    std::printf("taken over in %.3f ms\n", msSince(begin));
    panels::TimelineView view;
    view.resize(1600, 200);
    view.change([&](panels::TimelineScene& scene) {
        scene.timeline = &timeline;
        scene.graph = graph;
        scene.place = 1'000'000;
        scene.isComplete = true;
    });
    std::vector<double> times;
    std::size_t bars = 0, marks = 0;
    for (int frame = 0; frame < 60; ++frame) {
        begin = Clock::now();
        (void)view.grab();
        times.push_back(msSince(begin));
        bars = std::max(bars, view.painted().bars);
        marks = std::max(marks, view.painted().marks);
        view.zoom(1.25);
    }
    std::printf("%-8s %9.2f ms a frame, %.2f ms at most, %zu bars and %zu marks at most\n", "", quantile(times, 0.5),
                quantile(times, 1), bars, marks);
}

void measureScrub(const std::string& model, const std::string& data) {
    session::Session session;
    if (!session.open(model)) return;
    const auto cases = session.readCases({data, "bgr", 0});
    if (!cases || cases->empty()) return;
    session.runs().giveValues(cases->front().values);
    session::Debugger& debugger = session.debugger();
    debugger.setLimits({~std::size_t{0}, 0, {}});
    debugger.restart();
    if (!debugger.run()) return;
    const std::size_t memory = debugger.run()->kept().memoryBytes() / 10;
    for (const bool onDisk : {true, false}) {
        debugger.setLimits({memory, onDisk ? ~std::size_t{0} : 0, {}});
        debugger.restart();
        std::mt19937 engine(1);
        std::vector<double> times;
        for (int i = 0; i < 500; ++i) {
            const auto item = static_cast<ItemId>(engine() % debugger.timeline().size());
            const Clock::time_point begin = Clock::now();
            if (!debugger.goTo(item) || !debugger.current().valid() || !debugger.value(debugger.current())) continue;
            times.push_back(msSince(begin));
        }
        std::printf("%-8s %9.2f ms to a value, %.2f ms for 95 of 100, %.2f ms at most; %.0f MiB of memory, %s\n",
                    "scrub", quantile(times, 0.5), quantile(times, 0.95), quantile(times, 1),
                    static_cast<double>(memory) / 1048576, onDisk ? "rest on disk" : "rest computed again");
    }
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    measurePaint();
    measureScrub(argc > 1 ? argv[1] : "zoo:resnet18", argc > 2 ? argv[2] : "#rand(0,1)");
    return 0;
}
