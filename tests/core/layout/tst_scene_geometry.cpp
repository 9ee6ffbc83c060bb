#include <QDir>
#include <QTest>

#include <map>
#include <set>
#include <tuple>

#include "core/document/document.h"
#include "tests/core/layout/composer.h"
#include "tests/core/layout/scene_rules.h"
#include "tests/support/reference_sets.h"

namespace tst_scene_geometry {

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

    void allModelsKeepTheRules_data() {
        QTest::addColumn<QString>("path");
        const QString light = sonde::test::referenceSets() + "/onnx-light";
        for (const QDir& folder : {QDir(sonde::test::referenceModels()), QDir(light)}) {
            for (const QString& file : folder.entryList({"*.onnx", "*.script.pt", "*.trace.pt"}))
                QTest::addRow("%s", qPrintable(file)) << folder.filePath(file);
        }
        for (const char* name :
             {"resnet18", "densenet121", "unet", "gpt2?layers=3&dim=48&heads=4&vocab=100&positions=70", "control_flow"})
            QTest::addRow("%s", name) << QStringLiteral("zoo:") + name;
        for (const char* name : {"transformer", "experts", "dense"})
            QTest::addRow("%s", name) << QStringLiteral("made:") + name;
        if (!QFileInfo::exists(light)) QTest::addRow("onnx-light") << light;
    }
    void allModelsKeepTheRules() {
        QFETCH(QString, path);
        std::shared_ptr<const lg::InternalGraph> graph;
        if (path.startsWith(QStringLiteral("made:"))) {
            graph = path.endsWith(QStringLiteral("transformer")) ? lg::transformer(3)
                    : path.endsWith(QStringLiteral("dense"))     ? lg::dense(2, 8)
                                                                 : lg::mixtureOfExperts(2, 8);
        } else {
            if (!path.startsWith(QStringLiteral("zoo:"))) SONDE_NEEDS_SET("onnx-light", path);
            const auto document = sonde::document::open(path.toStdString());
            QVERIFY2(document, document ? "" : document.error().text().c_str());
            graph = (*document)->graph;
        }
        Composer compose(graph);
        compose.options.metrics = [&](const ItemDescription& what) {
            const std::string name = what.expr.valid() && !graph->expr(what.expr).outputs.empty()
                                         ? graph->node(graph->expr(what.expr).outputs[0]).name
                                         : "some module";
            return Size{7.0 * static_cast<double>(name.size()) + 20, sizeOf(what).height};
        };
        LayoutWorkers none({"/nowhere", 1});
        LayoutCache cache({{}, false});
        for (std::size_t depth = 0; depth <= greatestDepth(compose.outline); ++depth) {
            openToDepth(compose.outline, compose.view, depth);
            for (const Direction direction : {Direction::TopDown, Direction::LeftRight}) {
                compose.view.direction = direction;
                const auto scene = compose();
                QCOMPARE(brokenRule(*scene), std::string());
                QCOMPARE(layout_test::disorderedPorts(*graph, *scene), std::size_t{0});
                const auto layered = composeScene(compose.outline, compose.view, compose.options, none, cache);
                QVERIFY(layered);
                QCOMPARE(brokenRule(**layered), std::string());
                QCOMPARE(layout_test::disorderedPorts(*graph, **layered), std::size_t{0});
            }
        }
    }

    void theMainLineIsStraight_data() {
        QTest::addColumn<bool>("across");
        QTest::addRow("down") << false;
        QTest::addRow("right") << true;
    }
    void theMainLineIsStraight() {
        QFETCH(bool, across);
        // Two blocks with a line past them, weights beside, and operations of different widths.
        lg::GraphMaker m;
        NodeId x = m.input("x");
        std::vector<std::string> line{"x"};
        for (const std::string block : {"a", "b"}) {
            const NodeId before = x;
            x = m.op("Conv", {x}, block + "_conv");
            x = m.op("Relu", {x}, block + "_rather_long_name");
            x = m.op("Mul", {x, m.op("Exp", {m.constant(block)}, block + "_scale")}, block + "_mul");
            x = m.op("Add", {x, before}, block + "_add");
            for (const char* name : {"_conv", "_rather_long_name", "_mul", "_add"}) line.push_back(block + name);
        }
        Composer compose(m.done({x}));
        compose.view.direction = across ? Direction::LeftRight : Direction::TopDown;
        compose.options.metrics = [&](const ItemDescription& what) {
            const auto& graph = compose.outline.graph();
            return Size{what.expr.valid()
                            ? 10.0 * static_cast<double>(graph.node(graph.expr(what.expr).outputs[0]).name.size())
                            : 60,
                        36};
        };
        LayoutWorkers none({"/nowhere", 1});
        LayoutCache cache({{}, false});
        const auto layered = composeScene(compose.outline, compose.view, compose.options, none, cache);
        QVERIFY(layered);
        for (const auto& scene : {compose(), *layered}) {
            const Point first = scene->item(compose.item(*scene, "x")).rect.center();
            for (const std::string& name : line) {
                const Point middle = scene->item(compose.item(*scene, name.c_str())).rect.center();
                const double aside = across ? middle.y - first.y : middle.x - first.x;
                QVERIFY2(std::abs(aside) < 0.5, (name + " stands " + std::to_string(aside) + " aside").c_str());
            }
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
            QVERIFY2(shape > 0.4 && shape < 3,
                     std::to_string(shape).c_str());  // 41 in a row would be 5 times as wide as high
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
                if (item.what.kind == ItemKind::Module)
                    places.emplace_back(item.rect.center().x, compose.outline.graph().scope(item.what.scope).qualname);
            std::sort(places.begin(), places.end());
            std::vector<std::string> names;
            for (const auto& place : places)
                if (place.second.find("expert") != std::string::npos &&
                    place.second.find('.', 5) == place.second.rfind('.'))
                    names.push_back(place.second);
            return names;
        };
        const std::vector<std::string> closed = siblings(*compose());
        for (std::size_t i = 0; i < compose.outline.groupCount(); ++i) {
            const auto& group = compose.outline.group(GroupId(i));
            if (group.kind == Outline::Kind::Module &&
                compose.outline.graph().scope(group.scope).qualname == "moe0.expert2")
                setOpen(compose.outline, compose.view, GroupId(i), true);
        }
        std::vector<std::string> opened = siblings(*compose());
        std::erase_if(opened, [](const std::string& name) {
            return name.find("up") != std::string::npos || name.find("down") != std::string::npos;
        });
        QCOMPARE(opened, closed);
    }

    void portsOfBoxesFollowTheArgumentsInside_data() {
        QTest::addColumn<bool>("skipFirst");
        QTest::addRow("skip first") << true;
        QTest::addRow("skip last") << false;
    }
    void portsOfBoxesFollowTheArgumentsInside() {
        QFETCH(bool, skipFirst);
        lg::GraphMaker m;
        const NodeId skip = m.op("Relu", {m.input("x")}, "skip"), deep = m.op("MaxPool", {skip}, "deep");
        m.enter("up", "Up");
        const NodeId larger = m.op("ConvTranspose", {deep}, "larger");
        const NodeId both = m.op("Concat", skipFirst ? std::vector{skip, larger} : std::vector{larger, skip}, "both");
        m.leave();
        Composer compose(m.done({both}));
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        double skipAt = 0, deepAt = 0;
        const double border = scene->item(scene->item(compose.item(*scene, "both")).parent).rect.y;
        for (const SceneEdge& edge : scene->edges) {
            for (std::size_t k = 3; k < edge.path.points.size(); k += 3) {
                if (std::abs(edge.path.points[k].y - border) > 1e-6) continue;
                (edge.from == compose.item(*scene, "skip") ? skipAt : deepAt) = edge.path.points[k].x;
            }
        }
        QVERIFY(skipAt > 0 && deepAt > 0);
        QCOMPARE(skipAt < deepAt, skipFirst);
    }

    void valuesLeaveModulesInTheOrderOfTheirReaders_data() {
        QTest::addColumn<bool>("open");
        QTest::addRow("closed") << false;
        QTest::addRow("open") << true;
    }
    void valuesLeaveModulesInTheOrderOfTheirReaders() {
        QFETCH(bool, open);
        lg::GraphMaker m;
        const NodeId x = m.input("x");
        m.enter("two", "Two");
        const NodeId a = m.op("Relu", {x}, "a"), b = m.op("Tanh", {x}, "b");
        m.leave();
        const NodeId first = m.op("Exp", {b}, "first"), second = m.op("Neg", {a}, "second");
        Composer compose(m.done({first, second}));
        if (open) openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        const auto at = [&](const char* reader) {
            for (const SceneEdge& edge : scene->edges)
                if (edge.to == compose.item(*scene, reader)) return edge.path.end().x;
            return 0.0;
        };
        QVERIFY(at("first") > 0 && at("first") < at("second"));
    }

    void valuesLeaveModulesInTheOrderOfArguments_data() { valuesLeaveModulesInTheOrderOfTheirReaders_data(); }
    void valuesLeaveModulesInTheOrderOfArguments() {
        QFETCH(bool, open);
        lg::GraphMaker m;
        const NodeId x = m.input("x");
        m.enter("two", "Two");
        const NodeId a = m.op("Relu", {x}, "a"), b = m.op("Tanh", {x}, "b");
        m.leave();
        // The one that is read first is the second argument of what reads both.
        const NodeId mean = m.op("Exp", {a}, "mean"), last = m.op("Neg", {b}, "last");
        Composer compose(m.done({m.op("Concat", {last, mean}, "both")}));
        if (open) openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        const auto middle = [&](const char* name) { return scene->item(compose.item(*scene, name)).rect.center().x; };
        QVERIFY(middle("last") < middle("mean"));
        if (open) QVERIFY(middle("b") < middle("a"));
    }

    void openingOneModuleLeavesTheOrderOfTheOthers_data() {
        QTest::addColumn<QString>("model");
        for (const char* model :
             {"zoo:resnet18", "zoo:unet", "zoo:vit_b_16?layers=3&dim=48&mlp=96&heads=4",
              "zoo:gpt2?layers=3&dim=48&heads=4&vocab=100&positions=70", "zoo:densenet121", "/gpt_mini.onnx",
              "/silero_vad_v5.onnx", "/shufflenet_v2_x0_5.onnx", "/robust_nested.script.pt"})
            QTest::addRow("%s", model) << model;
    }
    void openingOneModuleLeavesTheOrderOfTheOthers() {
        QFETCH(QString, model);
        if (model.startsWith(u'/')) {
            model.prepend(sonde::test::referenceModels());
            SONDE_NEEDS_SET("models", model);
        }
        const auto document = sonde::document::open(model.toStdString());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        Composer compose((*document)->graph);
        openToDepth(compose.outline, compose.view, 1);
        const auto before = compose();
        const ViewState view = compose.view;
        std::size_t opened = 0, wrong = 0;
        for (const SceneItem& closed : before->items) {
            if (closed.what.kind != ItemKind::Module || closed.what.open || ++opened > 12) continue;
            compose.view = view;
            setOpen(compose.outline, compose.view, closed.group, true);
            const auto after = compose();
            // Siblings that are in one rank, before and after.
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const SceneItem*>> ranks;
            for (const SceneItem& item : before->items) ranks[{item.parent.value, item.rank}].push_back(&item);
            for (auto& [rank, members] : ranks) {
                std::sort(members.begin(), members.end(), [](auto a, auto b) { return a->rect.x < b->rect.x; });
                for (std::size_t i = 1; i < members.size(); ++i) {
                    const SceneItem& a = after->item(after->find(members[i - 1]->key));
                    const SceneItem& b = after->item(after->find(members[i]->key));
                    wrong += a.rank == b.rank && a.rect.x > b.rect.x;
                }
            }
        }
        QVERIFY(opened > 0);
        QCOMPARE(wrong, std::size_t{0});
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
        // Graphviz may lead a line over a box when one of 20,000 points is next to ones of nothing.
        QCOMPARE(brokenRule(*compose(), false), std::string());
    }
};

QTEST_GUILESS_MAIN(TestSceneGeometry)

}  // namespace tst_scene_geometry

#include "tst_scene_geometry.moc"
