// Frames over big scenes, as one table: a scripted path of pans and zooms, painted as the canvas paints it (tiles
// within a budget for each frame, then the copy to the screen's image).
//   bench_ui_canvas [MODEL…]     models instead of made-up graphs

#include <QGuiApplication>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "core/document/document.h"
#include "tests/bench/layout_graphs.h"
#include "ui/canvas/layout_service.h"
#include "ui/canvas/scene_painter.h"
#include "ui/canvas/tile_cache.h"

namespace {

using namespace sonde;
using Clock = std::chrono::steady_clock;

constexpr QSize kView{1400, 900};
constexpr std::chrono::microseconds kBudget{7000};

double msSince(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double quantile(std::vector<double> times, double q) {
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
}

/// A flat chain of cards: what one level of a very long model looks like, without waiting for its layout.
std::shared_ptr<const layout::SceneLayout> gridScene(const graph::InternalGraph& graph, std::size_t count) {
    auto scene = std::make_shared<layout::SceneLayout>();
    const auto columns = static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
    scene->exprItems.resize(graph.exprCount());
    for (const graph::ExprId id : graph.main().order) {
        if (scene->items.size() == count) break;
        if (layout::Outline::isConstant(graph.expr(id))) continue;
        layout::SceneItem item;
        item.what.kind = layout::ItemKind::Expr;
        item.what.expr = id;
        item.key.expr = id;
        const std::size_t n = scene->items.size();
        item.rect = {static_cast<double>(n % columns) * 190, static_cast<double>(n / columns) * 110, 150, 60};
        scene->exprItems[id.index()] = layout::ItemId(n);
        scene->top.push_back(layout::ItemId(n));
        if (n > 0) {
            layout::SceneEdge edge;
            const layout::Rect before = scene->items.back().rect;
            edge.path.moveTo({before.right(), before.center().y});
            edge.path.curveTo({before.right() + 20, before.center().y}, {item.rect.x - 20, item.rect.center().y},
                              {item.rect.x, item.rect.center().y});
            edge.from = layout::ItemId(n - 1);
            edge.to = layout::ItemId(n);
            edge.values = graph.expr(id).inputs;
            edge.labelAt = edge.path.middle();
            scene->edges.push_back(std::move(edge));
        }
        scene->items.push_back(std::move(item));
        scene->bounds = layout::united(scene->bounds, scene->items.back().rect);
    }
    return scene;
}

/// Pans right and back, zooms in and out again about the middle, pans down: 300 frames from a start scale.
std::vector<canvas::Camera> path(const QRectF& bounds, double scale) {
    std::vector<canvas::Camera> cameras;
    canvas::Camera camera{bounds.center(), scale};
    const auto pan = [&](int frames, QPointF pixels) {
        for (int i = 0; i < frames; ++i) {
            camera.centre += pixels / camera.scale;
            cameras.push_back(camera);
        }
    };
    const auto zoom = [&](int frames, double factor) {
        for (int i = 0; i < frames; ++i) {
            camera.zoomAbout(QPointF(kView.width(), kView.height()) / 2.0, kView, factor);
            cameras.push_back(camera);
        }
    };
    pan(60, {12, 0});
    pan(60, {-12, 4});
    zoom(60, 1.03);
    zoom(60, 1 / 1.03);
    pan(60, {0, 15});
    return cameras;
}

void measure(const char* name, const std::shared_ptr<const graph::InternalGraph>& graph,
             std::shared_ptr<const layout::SceneLayout> scene, double layoutMs) {
    const auto text = std::make_shared<const canvas::TextMeasure>();
    const canvas::CanvasStyle style;
    const Clock::time_point begin = Clock::now();
    const auto index = std::make_shared<const canvas::SceneIndex>(scene);
    const double indexMs = msSince(begin);
    const canvas::ScenePainter painter(index, graph, text, style);
    const auto render = [&](QPainter& p, const QRectF& area, double scale) { painter.paint(p, {}, area, scale); };
    const QColor background = style.color(theme::ColorRole::Canvas);
    const QRectF bounds = canvas::toQt(scene->bounds);
    // A whole picture, and the scale at which about a thousand cards are seen at once.
    const double whole = canvas::Camera::fitting(bounds, kView, 24, 1.0).scale;
    const double perItem =
        bounds.width() * bounds.height() / std::max<double>(1, static_cast<double>(scene->items.size()));
    const double thousand = std::clamp(std::sqrt(kView.width() * kView.height() / (1000 * perItem)), whole, 1.0);
    QImage screen(kView, QImage::Format_RGB32);
    for (const auto& [title, scale] :
         {std::pair{"whole", whole}, std::pair{"1000 seen", thousand}, std::pair{"close", 1.0}}) {
        canvas::TileCache tiles;
        std::vector<double> times;
        const std::vector<canvas::Camera> cameras = path(bounds, scale);
        std::size_t seen = 0;
        for (const canvas::Camera& camera : cameras) {
            const Clock::time_point frame = Clock::now();
            QPainter p(&screen);
            tiles.paint(p, QRect(QPoint(), kView), camera, kView, 1.0, background, render, kBudget);
            p.end();
            times.push_back(msSince(frame));
            seen = std::max(seen, index->within(camera.visible(kView)).items.size());
        }
        std::printf("%-22s %8zu %8.0f %8.1f  %-10s %7zu %7.1f %7.1f %7.1f\n", name, scene->items.size(), layoutMs,
                    indexMs, title, seen, quantile(times, 0.5), quantile(times, 0.95), quantile(times, 1));
        std::fflush(stdout);
    }
}

void measureGraph(const char* name, const std::shared_ptr<const graph::InternalGraph>& graph, std::size_t depth) {
    const layout::Outline outline(graph);
    layout::ViewState view;
    layout::openToDepth(outline, view, depth);
    layout::SceneOptions options;
    options.metrics = canvas::itemMetrics(graph, {}, std::make_shared<const canvas::TextMeasure>(), {}, {});
    const Clock::time_point begin = Clock::now();
    auto scene = canvas::layOut(outline, view, options);
    if (scene) measure(name, graph, std::move(scene).value(), msSince(begin));
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QGuiApplication application(argc, argv);
    std::printf("%-22s %8s %8s %8s  %-10s %7s %7s %7s %7s\n", "scene", "items", "layout", "index", "view", "seen",
                "median", "p95", "max");
    for (int i = 1; i < argc; ++i) {
        const auto document = document::open(argv[i]);
        if (!document) {
            std::fprintf(stderr, "%s\n", document.error().text().c_str());
            return document.error().exitStatus();
        }
        measureGraph(argv[i], (*document)->graph, 1000);
    }
    if (argc > 1) return 0;
    for (const std::size_t count : {1000U, 20000U, 100000U}) {
        const auto graph = layout_graphs::flatChain(count + 1);
        measure(("grid of " + std::to_string(count)).c_str(), graph, gridScene(*graph, count), 0);
    }
    measureGraph("chain of 1000", layout_graphs::flatChain(1000), 1000);
    measureGraph("transformer, 12 layers", layout_graphs::transformer(12), 1000);
    return 0;
}
