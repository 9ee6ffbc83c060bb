#include <QDir>
#include <QTest>
#include <set>
#include <tuple>

#include "core/document/document.h"
#include "tests/core/layout/composer.h"
#include "tests/core/layout/scene_rules.h"

using namespace layout_test;

// Where things stand.

class TestSceneGeometry : public QObject {
    Q_OBJECT

  private slots:
    void scenesKeepTheRules_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 16; ++seed) QTest::addRow("%d", seed) << seed;
    }
    void scenesKeepTheRules() {
        QFETCH(int, seed);
        Composer compose(lg::randomModules(20 + 8 * static_cast<std::size_t>(seed), static_cast<unsigned>(seed)));
        compose.view.direction = seed % 2 ? Direction::LeftRight : Direction::TopDown;
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        // The same by the layered engine alone.
        LayoutWorkers none({"/nowhere", 1});
        LayoutCache cache({{}, false});
        const auto layered = composeScene(compose.outline, compose.view, compose.options, none, cache);
        QVERIFY(layered);
        QCOMPARE(brokenRule(**layered), std::string());
    }

    void geometryIsTheSameEachTime() {
        auto rects = [] {
            Composer compose(lg::randomModules(300, 9));
            openToDepth(compose.outline, compose.view, 99);
            const auto scene = compose();
            std::vector<Rect> all;
            for (const SceneItem& item : scene->items) all.push_back(item.rect);
            for (const SceneEdge& edge : scene->edges) all.push_back(edge.path.bounds());
            return all;
        };
        QCOMPARE(rects(), rects());
    }

    void realModelsKeepTheRules_data() {
        QTest::addColumn<QString>("path");
        const QString shared = qEnvironmentVariable("SONDE_SHARED", SONDE_SOURCE_DIR "/../shared");
        const QDir folder(shared + "/models");
        for (const QString& file : folder.entryList({"*.onnx"})) QTest::addRow("%s", qPrintable(file)) << folder.filePath(file);
        QTest::addRow("resnet18") << "zoo:resnet18";
    }
    void realModelsKeepTheRules() {
        QFETCH(QString, path);
        const auto document = sonde::document::open(path.toStdString());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        Composer compose((*document)->graph);
        compose.options.metrics = [&](const ItemDescription& what) {
            const auto& graph = compose.outline.graph();
            const std::string name = what.expr.valid() && !graph.expr(what.expr).outputs.empty()
                                         ? graph.node(graph.expr(what.expr).outputs[0]).name
                                         : "some module";
            return Size{7.0 * static_cast<double>(name.size()) + 20, sizeOf(what).height};
        };
        for (std::size_t depth = 0; depth <= greatestDepth(compose.outline); ++depth) {
            openToDepth(compose.outline, compose.view, depth);
            compose.view.direction = depth % 2 ? Direction::LeftRight : Direction::TopDown;
            QCOMPARE(brokenRule(*compose()), std::string());
        }
    }

    void partsStandSideBySide() {
        lg::GraphMaker m;
        std::vector<NodeId> results;
        for (int i = 0; i < 40; ++i) results.push_back(m.op("Relu", {m.input("in" + std::to_string(i))}));
        NodeId x = m.input("x");
        for (int i = 0; i < 10; ++i) x = m.op("Tanh", {x});
        Composer compose(m.done({x}));
        for (LayoutWorkers* engine : {&compose.workers}) {
            const auto scene = composeScene(compose.outline, compose.view, compose.options, *engine, compose.cache);
            QVERIFY(scene);
            QCOMPARE(brokenRule(**scene), std::string());
            const double shape = (*scene)->bounds.width / (*scene)->bounds.height;
            QVERIFY2(shape > 0.4 && shape < 3, std::to_string(shape).c_str());  // 41 in a row would be 5 times as wide as high
        }
    }

    void orderIsStableUnderSmallChanges() {
        // From left to right, first the convolutions and then what reads them.
        const auto order = [](const Composer& compose, const SceneLayout& scene) {
            std::vector<std::tuple<std::string, double, std::string>> places;
            for (const SceneItem& item : scene.items) {
                if (item.what.kind != ItemKind::Expr) continue;
                const auto& expr = compose.outline.graph().expr(item.what.expr);
                places.emplace_back(expr.op.name, item.rect.x, compose.outline.graph().node(expr.outputs[0]).name);
            }
            std::sort(places.begin(), places.end());
            std::vector<std::string> names;
            for (const auto& place : places) names.push_back(std::get<2>(place));
            return names;
        };
        const auto branches = [](bool one) {
            lg::GraphMaker m;
            const NodeId x = m.input("x");
            std::vector<NodeId> ends;
            for (int b = 0; b < 5; ++b) {
                NodeId y = m.op("Conv", {x}, "conv" + std::to_string(b));
                y = m.op("Relu", {y}, "relu" + std::to_string(b));
                if (one && b == 2) y = m.op("Tanh", {y}, "added");
                ends.push_back(y);
            }
            return m.done({m.op("Concat", ends, "concat")});
        };
        Composer before(branches(false)), after(branches(true));
        std::vector<std::string> a = order(before, *before()), b = order(after, *after());
        std::erase(b, "added");
        QCOMPARE(a, b);

        // One module opened: those around it keep their order.
        Composer compose(lg::mixtureOfExperts(1, 5));
        openToDepth(compose.outline, compose.view, 1);
        const auto siblings = [&](const SceneLayout& scene) {
            std::vector<std::pair<double, std::string>> places;
            for (const SceneItem& item : scene.items)
                if (item.what.kind == ItemKind::Module) places.emplace_back(item.rect.center().x, compose.outline.graph().scope(item.what.scope).qualname);
            std::sort(places.begin(), places.end());
            std::vector<std::string> names;
            for (const auto& place : places)
                if (place.second.find("expert") != std::string::npos && place.second.find('.', 5) == place.second.rfind('.')) names.push_back(place.second);
            return names;
        };
        const std::vector<std::string> closed = siblings(*compose());
        for (std::size_t i = 0; i < compose.outline.groupCount(); ++i) {
            const auto& group = compose.outline.group(GroupId(i));
            if (group.kind == Outline::Kind::Module && compose.outline.graph().scope(group.scope).qualname == "moe0.expert2")
                setOpen(compose.outline, compose.view, GroupId(i), true);
        }
        std::vector<std::string> opened = siblings(*compose());
        std::erase_if(opened, [](const std::string& name) { return name.find("up") != std::string::npos || name.find("down") != std::string::npos; });
        QCOMPARE(opened, closed);
    }

    void strangeSizesAreSurvived() {
        Composer compose(lg::randomModules(60, 4));
        openToDepth(compose.outline, compose.view, 99);
        int turn = 0;
        compose.options.metrics = [&turn](const ItemDescription& what) -> Size {
            switch (turn++ % 5) {
                case 0: return {0, 0};
                case 1: return {std::nan(""), -5};
                case 2: return {1e300, 20};
                default: return sizeOf(what);
            }
        };
        // Graphviz may lead a line over a box when one of 20,000 points stands beside ones of nothing.
        QCOMPARE(brokenRule(*compose(), false), std::string());
    }
};

QTEST_GUILESS_MAIN(TestSceneGeometry)
#include "tst_scene_geometry.moc"
