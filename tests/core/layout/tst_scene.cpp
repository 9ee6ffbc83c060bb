#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "tests/core/layout/composer.h"
#include "tests/core/layout/scene_rules.h"

namespace tst_scene {

using namespace layout_test;
namespace base = sonde::base;

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

    void theFirstReaderStandsForAHiddenConstant() {
        lg::GraphMaker make;
        const lg::NodeId x = make.input("x"), weight = make.constant("weight");
        const lg::NodeId first = make.op("Add", {x, weight}, "first"),
                         second = make.op("Add", {first, weight}, "second");
        Composer compose(make.done({second}));
        const auto scene = compose();
        QCOMPARE(compose.item(*scene, "weight"), compose.item(*scene, "first"));
        QCOMPARE(scene->item(compose.item(*scene, "first")).what.hiddenConstants, 1u);
        QCOMPARE(scene->item(compose.item(*scene, "second")).what.hiddenConstants, 1u);
    }

    void aLevelMayBeVeryWide() {
        lg::GraphMaker make;
        const lg::NodeId x = make.input("x");
        make.enter("wide", "Wide");
        std::vector<lg::NodeId> made;
        for (int i = 0; i < 700; ++i) made.push_back(make.op("Relu", {x}));
        make.leave();
        Composer compose(make.done({make.op("Sum", made)}));
        compose.view.hubReaders = 0;
        openToDepth(compose.outline, compose.view, 1);
        compose.options.metrics = [](const ItemDescription& what) {
            return what.open ? Size{60, 24} : Size{20'000, 36};
        };
        const auto scene = composeScene(compose.outline, compose.view, compose.options, compose.workers, compose.cache);
        QVERIFY2(scene, scene ? "" : scene.error().text().c_str());
        QVERIFY((*scene)->bounds.width > 700 * 20'000);
        QCOMPARE(brokenRule(**scene), std::string());
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

    void loopsAreJoinedToWhatIsAroundThem() {
        lg::GraphMaker m;
        const NodeId count = m.input("count"), go = m.input("go"), x = m.input("x");
        const NodeId result = m.op("Loop", {count, go, x}, "loop");
        const ExprId owner = m.graph().node(result).producer;
        const BodyId body = m.graph().addBody(owner, "body");
        const NodeId number = m.graph().addInput(body, "i", {}), goOn = m.graph().addInput(body, "goOn", {}),
                     state = m.graph().addInput(body, "state", {});
        const NodeId next = m.addIn(body, lg::ExprKind::Apply, "Add", "next", {state, number});
        m.graph().setResult(
            body, lg::Argument::container(lg::Argument::Kind::Tuple, {lg::Argument::of(goOn), lg::Argument::of(next)}));
        Composer compose(m.done({m.op("Relu", {result}, "relu")}));
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        std::set<std::pair<std::string, std::string>> lines;
        const auto name = [&](ItemId id) -> std::string {
            const ItemDescription& what = scene->item(id).what;
            if (what.kind == ItemKind::Output && !what.expr.valid())
                return "result " + compose.outline.graph().node(what.values[0]).name;
            const auto& outputs = compose.outline.graph().expr(what.expr).outputs;
            return outputs.empty() ? "output" : compose.outline.graph().node(outputs[0]).name;
        };
        for (const SceneEdge& edge : scene->edges) lines.insert({name(edge.from), name(edge.to)});
        for (const auto& line : std::vector<std::pair<std::string, std::string>>{{"count", "loop"},
                                                                                 {"go", "goOn"},
                                                                                 {"x", "state"},
                                                                                 {"state", "next"},
                                                                                 {"i", "next"},
                                                                                 {"result next", "relu"},
                                                                                 {"goOn", "result goOn"}})
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
        reveal(compose.outline, compose.view,
               compose.outline.graph().node(compose.outline.graph().findNode("neg")).producer);
        const auto open = compose();
        QCOMPARE(brokenRule(*open), std::string());
        const ItemId box = compose.item(*open, "if"), neg = compose.item(*open, "neg");
        QVERIFY(open->item(box).what.open);
        QCOMPARE(open->item(box).children.size(), std::size_t{2});
        QVERIFY(open->item(open->item(neg).parent).what.kind == ItemKind::Body);
        QCOMPARE(open->item(open->item(neg).parent).parent, box);
        // The captured x runs across three borders to the branch's operation.
        bool captured = false;
        for (const SceneEdge& edge : open->edges)
            captured = captured || (edge.from == compose.item(*open, "x") && edge.to == neg);
        QVERIFY(captured);
    }

    void pointsAndArrowsFindItems() {
        Composer compose(lg::transformer(2));
        openToDepth(compose.outline, compose.view, 99);
        const auto scene = compose();
        for (std::size_t i = 0; i < scene->items.size(); ++i) {
            const ItemId id(i);
            if (scene->item(id).what.open)
                QCOMPARE(scene->itemAt({scene->item(id).rect.x + 1, scene->item(id).rect.y + 1}), id);
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
            std::this_thread::sleep_for(
                std::chrono::milliseconds(30));  // some moment of its work: time itself is meant
            requestedAt = timer.elapsed();
            source.request_stop();
        });
        const auto scene =
            composeScene(compose.outline, compose.view, compose.options, compose.workers, compose.cache, work);
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

}  // namespace tst_scene

#include "tst_scene.moc"
