// Times from a graph to the picture of what a view shows of it, as one table:
//   bench_layout [--svg FOLDER] [MODEL…]     also writes the pictures; models instead of made-up graphs
// cold: nothing cached. warm: the same again. one: one more module opened, the rest known.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/document/document.h"
#include "core/layout/scene.h"
#include "tests/bench/layout_graphs.h"

namespace {

using namespace sonde::layout;
using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::string titleOf(const Outline& outline, const ItemDescription& what) {
    const auto& graph = outline.graph();
    switch (what.kind) {
        case ItemKind::Module: return graph.scope(what.scope).qualname;
        case ItemKind::Body: return graph.body(what.body).label;
        case ItemKind::Stub:
            return what.values.size() == 1 ? graph.node(what.values[0]).name
                                           : std::to_string(what.values.size()) + " values";
        case ItemKind::Output:
            if (!what.expr.valid()) return "output";
            [[fallthrough]];
        default:
            if (graph.expr(what.expr).outputs.empty()) return graph.expr(what.expr).op.name;
            return graph.node(graph.expr(what.expr).outputs.front()).name;
    }
}

/// Sizes of a text of seven points a letter.
ItemMetrics metricsFor(const Outline& outline) {
    return [&outline](const ItemDescription& what) {
        const double width = 7.0 * static_cast<double>(titleOf(outline, what).size()) + 16;
        return Size{width, what.open ? 24.0 : what.kind == ItemKind::Stub ? 18.0 : 36.0};
    };
}

void writeSvg(const std::filesystem::path& path, const Outline& outline, const SceneLayout& scene) {
    std::ofstream out(path);
    const double scale = std::min(1.0, 20'000 / std::max(scene.bounds.width, scene.bounds.height));
    out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << scene.bounds.width * scale + 20 << "' height='"
        << scene.bounds.height * scale + 20 << "' viewBox='-10 -10 " << scene.bounds.width + 20 << ' '
        << scene.bounds.height + 20 << "' font-family='monospace' font-size='11'>\n<rect x='-10' y='-10' width='100%' "
        << "height='100%' fill='white'/>\n";
    static const char* const kFill[] = {"#cfe8cf", "#e8cfcf", "#ffffff", "#dde6f5", "#f3ecd8", "#eeeeee"};
    for (const SceneItem& item : scene.items) {
        const Rect& r = item.rect;
        out << "<rect x='" << r.x << "' y='" << r.y << "' width='" << r.width << "' height='" << r.height << "' rx='"
            << (item.what.kind == ItemKind::Stub ? 8 : 3) << "' fill='"
            << (item.what.open ? "#f4f6fb" : kFill[int(item.what.kind)]) << "' stroke='#456'/><text x='" << r.x + 6
            << "' y='" << r.y + 14 << "'>" << titleOf(outline, item.what) << "</text>\n";
    }
    for (const SceneEdge& edge : scene.edges) {
        out << "<path fill='none' stroke='" << (edge.fromStub ? "#a80" : "#246") << "' d='M";
        for (std::size_t i = 0; i < edge.path.points.size(); ++i) {
            if (i == 1) out << " C";
            out << ' ' << edge.path.points[i].x << ',' << edge.path.points[i].y;
        }
        out << "'/><circle r='2.5' cx='" << edge.path.end().x << "' cy='" << edge.path.end().y << "'/>\n";
    }
    out << "</svg>\n";
}

struct Case {
    std::string name;
    std::shared_ptr<const sonde::graph::InternalGraph> graph;
    std::size_t depth;  ///< how far open; 99: all
};

void run(const Case& test, LayoutWorkers& workers, const std::filesystem::path& svg) {
    auto begin = Clock::now();
    const Outline outline(test.graph);
    const double outlineMs = msSince(begin);
    LayoutCache cache({{}, false});
    SceneOptions options;
    options.metrics = metricsFor(outline);
    ViewState view;
    openToDepth(outline, view, test.depth);
    auto timed = [&](double& ms) {
        const auto start = Clock::now();
        auto scene = composeScene(outline, view, options, workers, cache);
        ms = msSince(start);
        return std::move(scene).value();
    };
    double cold = 0, warm = 0, one = 0;
    const auto scene = timed(cold);
    timed(warm);
    for (const SceneItem& item : scene->items) {
        if (item.what.kind == ItemKind::Module && !item.what.open) {
            setOpen(outline, view, item.group, true);
            break;
        }
    }
    timed(one);
    std::size_t stubs = 0;
    for (const SceneItem& item : scene->items) stubs += item.what.kind == ItemKind::Stub;
    const std::string depth = test.depth == 99 ? "all" : std::to_string(test.depth);
    std::printf("%-24s %8zu %5s %7zu %7zu %6zu %6u %6u %8.1f %8.1f %8.1f %8.1f  %s\n", test.name.c_str(),
                test.graph->exprCount(), depth.c_str(), scene->items.size(), scene->edges.size(), stubs,
                scene->piecesLaidOut, scene->piecesFromCache, outlineMs, cold, warm, one,
                scene->notes.empty() ? "" : scene->notes[0].c_str());
    std::fflush(stdout);
    if (!svg.empty()) writeSvg(svg / (test.name + "-" + depth + ".svg"), outline, *scene);
}

std::vector<Case> madeUp() {
    using namespace layout_graphs;
    return {
        {"transformer 12", transformer(12), 1},
        {"transformer 12", transformer(12), 2},
        {"transformer 12", transformer(12), 99},
        {"transformer 300", transformer(300), 1},
        {"transformer 300", transformer(300), 2},
        {"transformer 300", transformer(300), 99},
        {"experts 4x64", mixtureOfExperts(4, 64), 1},
        {"experts 24x64", mixtureOfExperts(24, 64), 99},
        {"dense 4x24", dense(4, 24), 1},
        {"dense 4x24", dense(4, 24), 99},
        {"dense 40x40", dense(40, 40), 99},
        {"chain 10000", flatChain(10'000), 99},
        {"random 1000", randomModules(1'000, 1), 1},
        {"random 1000", randomModules(1'000, 1), 99},
        {"random 10000", randomModules(10'000, 2), 99},
        {"random 100000", randomModules(100'000, 3), 1},
        {"random 100000", randomModules(100'000, 3), 99},
    };
}

/// Each model closed, one level open, and open altogether.
std::vector<Case> models(const std::vector<std::string>& paths) {
    std::vector<Case> cases;
    for (const std::string& path : paths) {
        auto document = sonde::document::open(path);
        if (!document) {
            std::fprintf(stderr, "%s\n", document.error().commandLineText().c_str());
            continue;
        }
        for (const std::size_t depth : {0, 1, 99}) cases.push_back({(*document)->title, (*document)->graph, depth});
    }
    return cases;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    std::filesystem::path svg;
    if (arguments.size() >= 2 && arguments[0] == "--svg") {
        svg = arguments[1];
        arguments.erase(arguments.begin(), arguments.begin() + 2);
    }
    LayoutWorkers workers;
    std::printf("helper: %s\n", workers.program().empty() ? "none, layered engine only" : workers.program().c_str());
    {  // start the helpers
        LayoutCache cache({{}, false});
        const Outline outline(layout_graphs::randomModules(200, 5));
        ViewState view;
        openToDepth(outline, view, 99);
        SceneOptions options;
        options.metrics = metricsFor(outline);
        (void)composeScene(outline, view, options, workers, cache);
    }
    std::printf("%-24s %8s %5s %7s %7s %6s %6s %6s %8s %8s %8s %8s\n", "graph", "exprs", "open", "items", "edges",
                "stubs", "pieces", "known", "outline", "cold", "warm", "one");
    for (const Case& test : arguments.empty() ? madeUp() : models(arguments)) run(test, workers, svg);
    return 0;
}
