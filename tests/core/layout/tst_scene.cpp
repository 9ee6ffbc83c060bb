#include <QDir>
#include <QElapsedTimer>
#include <QTest>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "core/document/document.h"
#include "core/layout/scene.h"
#include "tests/bench/layout_graphs.h"
#include "tests/core/layout/scene_rules.h"

using namespace sonde::layout;
namespace base = sonde::base;
namespace lg = layout_graphs;
using layout_test::brokenRule;
using layout_test::isWithin;

namespace {

const std::string kWorker = SONDE_BINARY_DIR "/sonde-layout-worker";

Size sizeOf(const ItemDescription& what) {
    if (what.open) return {60, 24};
    return what.kind == ItemKind::Stub ? Size{48, 18} : Size{90, 36};
}

/// Composes with a cache of its own.
struct Composer {
    explicit Composer(std::shared_ptr<const lg::InternalGraph> graph) : outline(std::move(graph)) {
        options.metrics = sizeOf;
        options.budget = std::chrono::milliseconds(20'000);
    }
    std::shared_ptr<const SceneLayout> operator()() {
        auto scene = composeScene(outline, view, options, workers, cache);
        if (!scene) qFatal("%s", scene.error().text().c_str());
        return *scene;
    }
    ItemId item(const SceneLayout& scene, const char* node) const {
        return scene.itemOf(outline.graph().node(outline.graph().findNode(node)).producer);
    }

    Outline outline;
    ViewState view;
    SceneOptions options;
    LayoutWorkers workers{{kWorker, 2}};
    LayoutCache cache{{{}, false}};
};

std::vector<std::string> valueNames(const Composer& composer, const std::vector<NodeId>& values) {
    std::vector<std::string> names;
    for (const NodeId value : values) names.push_back(composer.outline.graph().node(value).name);
    return names;
}

}  // namespace

class TestScene : public QObject {
    Q_OBJECT

  private slots:
    void emptyGraph() {
        Composer compose(std::make_shared<lg::InternalGraph>());
        const auto scene = compose();
        QVERIFY(scene->items.empty() && scene->edges.empty());
        QVERIFY(!scene->itemAt({0, 0}).valid());
    }

    void closedModulesGatherTheirEdges() {
        Composer compose(lg::transformer(2));
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        const ItemId layers = compose.item(*scene, "Softmax_24");
        QVERIFY(scene->item(layers).what.kind == ItemKind::Module);
        QCOMPARE(compose.outline.graph().scope(scene->item(layers).what.scope).qualname, std::string("layers"));
        QCOMPARE(scene->itemOf(scene->item(layers).what.scope), layers);
        QVERIFY(!scene->item(layers).what.open && scene->item(layers).what.expandable);
        // tokens, embed, attention_mask, Cast, Where, positions, rotary, layers, head, output
        QCOMPARE(scene->items.size(), std::size_t{10});
        std::map<std::string, std::size_t> carried;
        for (const SceneEdge& edge : scene->edges) {
            if (edge.to == layers) {
                for (const auto& name : valueNames(compose, edge.values)) ++carried[name];
            }
        }
        QCOMPARE(carried, (std::map<std::string, std::size_t>{{"Gather_0", 1}, {"mask", 1}, {"cos", 1}, {"sin", 1}}));
        // two layers with 9 weights each; nothing else is closed but rotary's three.
        QCOMPARE(scene->item(layers).what.hiddenConstants, 18u);
        QCOMPARE(scene->hiddenExprs, scene->item(layers).what.hiddenExprs + 3);
    }

    void hiddenAndShownAddUp_data() {
        QTest::addColumn<int>("depth");
        QTest::addColumn<bool>("hide");
        for (int depth = 0; depth < 5; ++depth) {
            QTest::addRow("%d hidden constants", depth) << depth << true;
            QTest::addRow("%d", depth) << depth << false;
        }
    }
    void hiddenAndShownAddUp() {
        QFETCH(int, depth);
        QFETCH(bool, hide);
        Composer compose(lg::transformer(3));
        compose.view.hideConstants = hide;
        openToDepth(compose.outline, compose.view, static_cast<std::size_t>(depth));
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        std::size_t shown = 0;
        for (const SceneItem& item : scene->items) shown += item.what.expr.valid();
        QCOMPARE(shown + scene->hiddenExprs + scene->hiddenConstants, compose.outline.graph().exprCount());
        for (std::size_t i = 0; i < compose.outline.graph().exprCount(); ++i) {
            QVERIFY(scene->itemOf(ExprId(i)).valid());
        }
    }

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

    void hubsBecomeStubsAtTheirReaders() {
        Composer compose(lg::transformer(12));
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        std::map<std::string, int> stubs;
        for (const SceneItem& item : scene->items) {
            if (item.what.kind != ItemKind::Stub) continue;
            ++stubs[valueNames(compose, item.what.values).front()];
            QVERIFY(item.source.valid());
            QCOMPARE(scene->item(item.source).what.expr, compose.outline.graph().node(item.what.values[0]).producer);
        }
        QCOMPARE(stubs, (std::map<std::string, int>{{"mask", 12}, {"cos", 24}, {"sin", 24}}));
        QCOMPARE(scene->item(compose.item(*scene, "cos")).stubs, 24u);
        for (const SceneEdge& edge : scene->edges) {
            QCOMPARE(edge.fromStub, scene->item(edge.from).what.kind == ItemKind::Stub);
            if (edge.fromStub) QCOMPARE(scene->item(edge.from).parent, scene->item(edge.to).parent);
        }
        compose.view.hubReaders = 0;
        compose.view.longSpan = 0;
        const auto without = compose();
        for (const SceneItem& item : without->items) QVERIFY(item.what.kind != ItemKind::Stub);
    }

    void denseBlocksKeepTheirChain() {
        Composer compose(lg::dense(1, 12));
        openToDepth(compose.outline, compose.view, 1);
        const auto scene = compose();
        std::set<std::pair<std::uint32_t, std::uint32_t>> joined;
        for (const SceneEdge& edge : scene->edges) joined.insert({edge.from.value, edge.to.value});
        for (std::size_t i = 1; i + 1 < 12; ++i) {
            const ItemId a = scene->itemOf(ScopeId(2 + 3 * (i - 1))), b = scene->itemOf(ScopeId(2 + 3 * i));
            QVERIFY(a.valid() && b.valid() && a != b);
            QVERIFY2(joined.contains({a.value, b.value}), std::to_string(i).c_str());
        }
    }

    void repeatedBlocksAreLaidOutOnce() {
        Composer compose(lg::transformer(12));
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        // top, rotary, layers; and of the twelve blocks one each: block, attention, mlp
        QCOMPARE(scene->piecesLaidOut, 6u);
        QCOMPARE(scene->piecesLaidOut + scene->piecesFromCache, 3u + 12 * 3);
        QCOMPARE(compose()->piecesLaidOut, 0u);
    }

    void equalBlocksFoldIntoOne() {
        Composer compose(lg::transformer(12));
        compose.view.foldFrom = 3;
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        std::vector<const SceneItem*> folds;
        for (const SceneItem& item : scene->items)
            if (item.what.repeat > 0) folds.push_back(&item);
        QCOMPARE(folds.size(), std::size_t{1});
        QCOMPARE(folds[0]->what.repeat, 12u);
        QCOMPARE(compose.outline.graph().scope(folds[0]->what.scope).qualname, std::string("layers.0"));
        QCOMPARE(scene->foldedBlocks, 11u);
        QCOMPARE(scene->foldedExprs, 11u * 32);  // norm, q k v, 2 x 7 to rotate, 6 of attention, add; norm, 4 to gate, down, add
        // One way in, one way out, and no edge from the block to itself.
        const ItemId box = scene->itemOf(folds[0]->what.scope);
        std::set<std::string> in, out;
        for (const SceneEdge& edge : scene->edges) {
            const bool from = isWithin(*scene, edge.from, box), to = isWithin(*scene, edge.to, box);
            for (const auto& name : valueNames(compose, edge.values)) {
                if (to && !from) in.insert(name);
                if (from && !to) out.insert(name);
            }
            if (from && to) QVERIFY(edge.from != edge.to);
        }
        QCOMPARE(in, (std::set<std::string>{"Gather_0", "mask", "cos", "sin"}));
        QCOMPARE(out.size(), std::size_t{1});
        const auto& graph = compose.outline.graph();
        QCOMPARE(graph.scopeOf(graph.findNode(*out.begin())).qualname, std::string("layers.11"));
        // Every operation of every block has the item of its counterpart.
        for (std::size_t i = 0; i < graph.exprCount(); ++i) {
            const lg::Expr& expr = graph.expr(ExprId(i));
            if (Outline::isConstant(expr)) continue;
            QVERIFY(scene->itemOf(ExprId(i)).valid());
            QCOMPARE(graph.expr(scene->item(scene->itemOf(ExprId(i))).what.expr).op.name, expr.op.name);
        }
    }

    void blocksInTurnFoldTogether() {
        lg::GraphMaker m;
        NodeId x = m.input("x");
        for (int i = 0; i < 8; ++i) {
            m.enter("b" + std::to_string(i), i % 2 ? "Local" : "Global");
            x = m.op("Add", {m.op(i % 2 ? "Relu" : "Tanh", {x}), x});
            m.leave();
        }
        Composer compose(m.done({x}));
        compose.view.foldFrom = 3;
        for (const std::uint32_t shown : {0u, 2u}) {
            if (shown > 0) showInstance(compose.outline, compose.view, 0, shown);
            const auto scene = compose();
            QCOMPARE(brokenRule(*scene), std::string());
            std::vector<std::string> chain;
            for (const SceneItem& item : scene->items) {
                if (item.what.kind != ItemKind::Module) continue;
                QCOMPARE(item.what.repeat, 4u);
                QCOMPARE(item.what.period, 2u);
                QCOMPARE(item.what.instance, shown);
                chain.push_back(compose.outline.graph().scope(item.what.scope).qualname);
            }
            QCOMPARE(chain, (std::vector<std::string>{"b" + std::to_string(2 * shown), "b" + std::to_string(2 * shown + 1)}));
            QCOMPARE(scene->foldedBlocks, 6u);
            QCOMPARE(scene->foldedExprs, 12u);
            // x -> Global -> Local -> output and nothing back.
            QCOMPARE(scene->edges.size(), std::size_t{3});
            for (std::size_t i = 0; i < compose.outline.graph().exprCount(); ++i) QVERIFY(scene->itemOf(ExprId(i)).valid());
        }
    }

    void anyInstanceOfAFoldCanBeOpened() {
        Composer compose(lg::transformer(12));
        compose.view.foldFrom = 3;
        const auto& graph = compose.outline.graph();
        ExprId wanted;
        for (std::size_t i = 0; i < graph.exprCount(); ++i)
            if (graph.expr(ExprId(i)).qualname == "layers.7.mlp" && graph.expr(ExprId(i)).op.name == "Sigmoid") wanted = ExprId(i);
        reveal(compose.outline, compose.view, wanted);
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        QCOMPARE(scene->item(scene->itemOf(wanted)).what.expr, wanted);
        std::size_t folds = 0;
        for (const SceneItem& item : scene->items) {
            if (item.what.repeat == 0) continue;
            ++folds;
            QCOMPARE(item.what.instance, 7u);
            QVERIFY(item.what.open);
        }
        QCOMPARE(folds, std::size_t{1});
        // As open as the one before.
        showInstance(compose.outline, compose.view, 0, 2);
        const auto other = compose();
        QCOMPARE(other->items.size(), scene->items.size());
        setFolded(compose.outline, compose.view, 0, false);
        QCOMPARE(compose()->foldedBlocks, 0u);
    }

    void blocksOfRealModelsAreFound_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("blocks");
        // Depths of the published models; ResNet-50 has stages of 3, 4, 6 and 3 blocks of which the first differs.
        QTest::addRow("vit") << "zoo:vit_b_16?layers=5&dim=48&mlp=96&heads=4" << 5;
        QTest::addRow("gpt2") << "zoo:gpt2?layers=4&dim=48&heads=4&vocab=100&positions=70" << 4;
        QTest::addRow("bert") << "zoo:bert_base?layers=4&dim=48&heads=4&vocab=100&positions=130" << 4;
        QTest::addRow("resnet50") << "zoo:resnet50?width=0.25" << 5;
    }
    void blocksOfRealModelsAreFound() {
        QFETCH(QString, model);
        QFETCH(int, blocks);
        const auto document = sonde::document::open(model.toStdString());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        Composer compose((*document)->graph);
        compose.view.foldFrom = 3;
        std::size_t longest = 0;
        for (const Outline::Run& run : compose.outline.runs()) longest = std::max(longest, run.instances.size());
        QCOMPARE(static_cast<int>(longest), blocks);
        for (std::size_t depth = 0; depth <= greatestDepth(compose.outline); ++depth) {
            openToDepth(compose.outline, compose.view, depth);
            QCOMPARE(brokenRule(*compose()), std::string());
        }
    }

    void foldedAndShownAddUp_data() { hiddenAndShownAddUp_data(); }
    void foldedAndShownAddUp() {
        QFETCH(int, depth);
        QFETCH(bool, hide);
        Composer compose(lg::transformer(5));
        compose.view.hideConstants = hide;
        compose.view.foldFrom = 2;
        openToDepth(compose.outline, compose.view, static_cast<std::size_t>(depth));
        const auto scene = compose();
        std::size_t shown = 0;
        for (const SceneItem& item : scene->items) shown += item.what.expr.valid();
        QCOMPARE(shown + scene->hiddenExprs + scene->hiddenConstants + scene->foldedExprs, compose.outline.graph().exprCount());
    }

    void filteredOperationsAreLeftOutAndCounted() {
        Composer compose(lg::transformer(3));
        openToDepth(compose.outline, compose.view, 99);
        const auto& graph = compose.outline.graph();
        auto filtered = std::make_shared<std::vector<bool>>(graph.exprCount(), false);
        std::size_t count = 0;
        for (std::size_t i = 0; i < graph.exprCount(); ++i) {
            const lg::Expr& expr = graph.expr(ExprId(i));
            if (Outline::isConstant(expr) || !expr.qualname || !expr.qualname->starts_with("layers.1")) continue;
            (*filtered)[i] = true;
            ++count;
        }
        compose.view.filtered = filtered;
        auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        QCOMPARE(scene->filteredExprs, static_cast<std::uint32_t>(count));
        for (const SceneItem& item : scene->items) {
            if (item.what.expr.valid()) QVERIFY(!(*filtered)[item.what.expr.index()]);
            if (item.what.kind == ItemKind::Module) QVERIFY(!graph.scope(item.what.scope).qualname.starts_with("layers.1"));
        }
        std::size_t shown = 0;
        for (const SceneItem& item : scene->items) shown += item.what.expr.valid();
        QCOMPARE(shown + scene->hiddenExprs + scene->hiddenConstants + scene->filteredExprs, graph.exprCount());
        openToDepth(compose.outline, compose.view, 0);
        scene = compose();
        QCOMPARE(scene->filteredExprs, static_cast<std::uint32_t>(count));
        QCOMPARE(brokenRule(*scene), std::string());
    }

    void openingOneModuleLaysOutItAndItsAncestorsOnly() {
        Composer compose(lg::transformer(12));
        openToDepth(compose.outline, compose.view, 2);
        compose();
        const auto& graph = compose.outline.graph();
        for (std::size_t i = 0; i < graph.scopeCount(); ++i) {
            if (graph.scope(ScopeId(i)).qualname == "layers.7.mlp") compose.view.openScopes.insert(ScopeId(i));
        }
        const auto scene = compose();
        QCOMPARE(scene->piecesLaidOut, 4u);  // mlp, layers.7, layers, top
        QCOMPARE(brokenRule(*scene), std::string());
    }

    void keysNameTheSameThingInEveryScene() {
        Composer compose(lg::transformer(3));
        const auto closed = compose();
        openToDepth(compose.outline, compose.view, 99);
        const auto open = compose();
        std::set<ItemKey> keys;
        for (const SceneItem& item : open->items) QVERIFY(keys.insert(item.key).second);
        for (const SceneItem& item : closed->items) {
            const ItemId again = open->find(item.key);
            QVERIFY(again.valid());
            QCOMPARE(open->item(again).what.scope, item.what.scope);
        }
    }

    void strokesTogetherAreTheEdges() {
        Composer compose(lg::transformer(2));
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        std::vector<std::size_t> segments(scene->edges.size(), 0);
        std::size_t arrows = 0;
        for (const SceneStroke& stroke : scene->strokes) {
            QVERIFY(!stroke.edges.empty());
            arrows += stroke.arrow;
            for (const auto edge : stroke.edges) segments[edge] += stroke.path.segments();
        }
        for (std::size_t i = 0; i < segments.size(); ++i) QCOMPARE(segments[i], scene->edges[i].path.segments());
        QVERIFY(arrows > 0 && arrows <= scene->edges.size());
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

    void loopsAreJoinedToWhatIsAroundThem() {
        lg::GraphMaker m;
        const NodeId count = m.input("count"), go = m.input("go"), x = m.input("x");
        const NodeId result = m.op("Loop", {count, go, x}, "loop");
        const ExprId owner = m.graph().node(result).producer;
        const BodyId body = m.graph().addBody(owner, "body");
        const NodeId number = m.graph().addInput(body, "i", {}), goOn = m.graph().addInput(body, "goOn", {}), state = m.graph().addInput(body, "state", {});
        const NodeId next = m.addIn(body, lg::ExprKind::Apply, "Add", "next", {state, number});
        m.graph().setResult(body, lg::Argument::container(lg::Argument::Kind::Tuple, {lg::Argument::of(goOn), lg::Argument::of(next)}));
        Composer compose(m.done({m.op("Relu", {result}, "relu")}));
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        std::set<std::pair<std::string, std::string>> lines;
        const auto name = [&](ItemId id) -> std::string {
            const ItemDescription& what = scene->item(id).what;
            if (what.kind == ItemKind::Output && !what.expr.valid()) return "result " + compose.outline.graph().node(what.values[0]).name;
            const auto& outputs = compose.outline.graph().expr(what.expr).outputs;
            return outputs.empty() ? "output" : compose.outline.graph().node(outputs[0]).name;
        };
        for (const SceneEdge& edge : scene->edges) lines.insert({name(edge.from), name(edge.to)});
        for (const auto& line : std::vector<std::pair<std::string, std::string>>{
                 {"count", "loop"}, {"go", "goOn"}, {"x", "state"}, {"state", "next"}, {"i", "next"}, {"result next", "relu"}, {"goOn", "result goOn"}})
            QVERIFY2(lines.contains(line), (line.first + " -> " + line.second).c_str());
        QVERIFY(!lines.contains({"loop", "relu"}));
    }

    void controlFlowShowsItsBodiesSideBySide() {
        lg::GraphMaker m;
        const NodeId x = m.input("x");
        const NodeId result = m.op("If", {m.op("Greater", {x}, "cond")}, "if");
        const ExprId owner = m.graph().node(result).producer;
        const BodyId yes = m.graph().addBody(owner, "then_branch"), no = m.graph().addBody(owner, "else_branch");
        m.graph().setResult(yes, lg::Argument::of(m.addIn(yes, lg::ExprKind::Apply, "Neg", "neg", {x})));
        m.graph().setResult(no, lg::Argument::of(m.addIn(no, lg::ExprKind::Apply, "Abs", "abs", {x})));
        Composer compose(m.done({m.op("Relu", {result}, "relu")}));
        const auto closed = compose();
        QCOMPARE(closed->items.size(), std::size_t{5});
        QVERIFY(closed->item(compose.item(*closed, "neg")).what.expandable);
        QCOMPARE(compose.item(*closed, "neg"), compose.item(*closed, "if"));
        reveal(compose.outline, compose.view, compose.outline.graph().node(compose.outline.graph().findNode("neg")).producer);
        const auto open = compose();
        QCOMPARE(brokenRule(*open), std::string());
        const ItemId box = compose.item(*open, "if"), neg = compose.item(*open, "neg");
        QVERIFY(open->item(box).what.open);
        QCOMPARE(open->item(box).children.size(), std::size_t{2});
        QVERIFY(open->item(open->item(neg).parent).what.kind == ItemKind::Body);
        QCOMPARE(open->item(open->item(neg).parent).parent, box);
        // The captured x runs across three borders to the branch's operation.
        bool captured = false;
        for (const SceneEdge& edge : open->edges) captured = captured || (edge.from == compose.item(*open, "x") && edge.to == neg);
        QVERIFY(captured);
    }

    void pointsAndArrowsFindItems() {
        Composer compose(lg::transformer(2));
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        for (std::size_t i = 0; i < scene->items.size(); ++i) {
            const ItemId id(i);
            if (scene->item(id).what.open) QCOMPARE(scene->itemAt({scene->item(id).rect.x + 1, scene->item(id).rect.y + 1}), id);
            else QCOMPARE(scene->itemAt(scene->item(id).rect.center()), id);
        }
        const ItemId tokens = compose.item(*scene, "tokens"), gather = compose.item(*scene, "Gather_0");
        QCOMPARE(neighbour(*scene, tokens, Move::Forward), gather);
        QCOMPARE(neighbour(*scene, gather, Move::Backward), tokens);
        QVERIFY(!neighbour(*scene, tokens, Move::Backward).valid());
        const ItemId cos = compose.item(*scene, "cos"), sin = compose.item(*scene, "sin");
        const bool cosFirst = scene->item(cos).rect.x < scene->item(sin).rect.x;
        QCOMPARE(neighbour(*scene, cos, cosFirst ? Move::Next : Move::Previous), sin);
        QVERIFY(!neighbour(*scene, cos, cosFirst ? Move::Previous : Move::Next).valid());
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

    void nodeWithTenThousandInputs() {
        lg::GraphMaker m;
        std::vector<NodeId> inputs;
        for (int i = 0; i < 10'000; ++i) inputs.push_back(m.input("in" + std::to_string(i)));
        Composer compose(m.done({m.op("Sum", inputs)}));
        compose.options.budget = LayoutWorkers::kDefaultBudget;
        QCOMPARE(compose()->edges.size(), std::size_t{10'001});
    }

    void partialPicturesComeWhenItTakesLong() {
        Composer compose(lg::randomModules(3000, 12));
        openToDepth(compose.outline, compose.view, 99);
        std::atomic<int> partials = 0;
        std::string broken;
        compose.options.partialAfter = std::chrono::milliseconds(1);
        compose.options.onPartial = [&](std::shared_ptr<const SceneLayout> scene) {
            ++partials;
            for (const SceneItem& item : scene->items) {
                if (item.rect.width <= 0) broken = "an item without a size";
            }
        };
        const auto scene = compose();
        QVERIFY(partials > 0);
        QCOMPARE(broken, std::string());
        QVERIFY(scene->piecesLaidOut > 0);
    }

    void stopRequestCancelsSoon() {
        Composer compose(lg::randomModules(20'000, 12));
        openToDepth(compose.outline, compose.view, 99);
        std::stop_source source;
        base::WorkContext work;
        work.stop = source.get_token();
        std::atomic<std::int64_t> requestedAt = 0;
        QElapsedTimer timer;
        timer.start();
        std::jthread stopper([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            requestedAt = timer.elapsed();
            source.request_stop();
        });
        const auto scene = composeScene(compose.outline, compose.view, compose.options, compose.workers, compose.cache, work);
        const auto ended = timer.elapsed();
        QVERIFY(!scene);
        QCOMPARE(scene.error().kind, base::ErrorKind::Cancelled);
        qInfo("%lld ms after the request", static_cast<long long>(ended - requestedAt));
    }

    void enginesAreNamedWhenGraphvizDidNotDoIt() {
        Composer compose(lg::transformer(3));
        LayoutWorkers none({"/nowhere/helper", 1});
        const auto scene = composeScene(compose.outline, compose.view, compose.options, none, compose.cache);
        QVERIFY(scene);
        QCOMPARE((*scene)->notes.size(), std::size_t{1});
        QVERIFY((*scene)->notes[0].starts_with("top level: laid out by the layered engine"));
    }
};

QTEST_GUILESS_MAIN(TestScene)
#include "tst_scene.moc"
