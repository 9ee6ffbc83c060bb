#include <QTest>

#include <set>

#include "core/document/document.h"
#include "tests/core/layout/composer.h"
#include "tests/core/layout/scene_rules.h"
#include "tests/support/reference_sets.h"

namespace tst_scene_folds {

using namespace layout_test;

// Blocks that stand for others, and operations that are left out.

class TestSceneFolds : public QObject {
    Q_OBJECT

  private slots:
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
        QCOMPARE(scene->foldedExprs,
                 11u * 32);  // norm, q k v, 2 x 7 to rotate, 6 of attention, add; norm, 4 to gate, down, add
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
            QCOMPARE(chain,
                     (std::vector<std::string>{"b" + std::to_string(2 * shown), "b" + std::to_string(2 * shown + 1)}));
            QCOMPARE(scene->foldedBlocks, 6u);
            QCOMPARE(scene->foldedExprs, 12u);
            // x -> Global -> Local -> output and nothing back.
            QCOMPARE(scene->edges.size(), std::size_t{3});
            for (std::size_t i = 0; i < compose.outline.graph().exprCount(); ++i)
                QVERIFY(scene->itemOf(ExprId(i)).valid());
        }
    }

    void anyInstanceOfAFoldCanBeOpened() {
        Composer compose(lg::transformer(12));
        compose.view.foldFrom = 3;
        const auto& graph = compose.outline.graph();
        ExprId wanted;
        for (std::size_t i = 0; i < graph.exprCount(); ++i)
            if (graph.expr(ExprId(i)).qualname == "layers.7.mlp" && graph.expr(ExprId(i)).op.name == "Sigmoid")
                wanted = ExprId(i);
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

    void foldedAndShownAddUp_data() {
        QTest::addColumn<int>("depth");
        QTest::addColumn<bool>("hide");
        for (int depth = 0; depth < 5; ++depth) {
            QTest::addRow("%d hidden constants", depth) << depth << true;
            QTest::addRow("%d", depth) << depth << false;
        }
    }
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
        QCOMPARE(shown + scene->hiddenExprs + scene->hiddenConstants + scene->foldedExprs,
                 compose.outline.graph().exprCount());
    }

    void shapeComputationsFoldIntoTheirReader() {
        lg::GraphMaker m;
        const NodeId x = m.input("x");
        const NodeId batch = m.op("Gather", {m.op("Shape", {x}, "shape"), m.constant("zero")}, "batch");
        const NodeId rest = m.op("Unsqueeze", {m.constant("minus_one")}, "rest");  // of constants alone
        const NodeId wanted = m.op("Concat", {m.op("Unsqueeze", {batch}, "first"), rest}, "wanted");
        const NodeId flat = m.op("Reshape", {x, wanted}, "flat");
        const NodeId scaled = m.op("Mul", {flat, m.op("Cast", {batch}, "count")}, "scaled");
        const NodeId filled = m.op("ConstantOfShape", {wanted}, "filled");  // may be large
        Composer compose(m.done({m.op("Add", {scaled, filled}, "sum"), m.op("Shape", {flat}, "told")}));
        const auto all = compose();
        compose.view.foldShapes = true;
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        QCOMPARE(all->shapeExprs, 0u);
        QCOMPARE(scene->shapeExprs, 6u);  // shape, batch, rest, first, wanted, count
        QCOMPARE(all->items.size() - scene->items.size(), std::size_t{6});
        for (const char* hidden : {"shape", "batch", "rest", "first", "wanted", "zero", "minus_one"})
            QCOMPARE(compose.item(*scene, hidden), compose.item(*scene, "flat"));
        QCOMPARE(compose.item(*scene, "count"), compose.item(*scene, "scaled"));
        QCOMPARE(scene->item(compose.item(*scene, "flat")).what.shapeExprs, 5u);
        QCOMPARE(scene->item(compose.item(*scene, "scaled")).what.shapeExprs, 1u);
        // The shape that the model gives is not folded.
        QVERIFY(scene->item(compose.item(*scene, "told")).what.expr !=
                scene->item(compose.item(*scene, "flat")).what.expr);
        QCOMPARE(scene->edges.size(),
                 std::size_t{7});  // x flat, flat scaled, flat told, scaled sum, filled sum, two results
    }

    void foldedShapesAndShownAddUp_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<bool>("hide");
        for (const char* file : {"gpt_mini.onnx", "shufflenet_v2_x0_5.onnx", "silero_vad_v5.onnx", "vit_small.trace.pt",
                                 "vit_small.script.pt"}) {
            QTest::addRow("%s", file) << file << true;
            QTest::addRow("%s, constants shown", file) << file << false;
        }
    }
    void foldedShapesAndShownAddUp() {
        QFETCH(QString, file);
        QFETCH(bool, hide);
        const QString path = sonde::test::referenceModels() + '/' + file;
        SONDE_NEEDS_SET("models", path);
        const auto document = sonde::document::open(path.toStdString());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        Composer compose((*document)->graph);
        compose.view.hideConstants = hide;
        for (std::size_t depth = 0; depth <= greatestDepth(compose.outline); ++depth) {
            openToDepth(compose.outline, compose.view, depth);
            compose.view.foldShapes = false;
            const auto all = compose();
            compose.view.foldShapes = true;
            const auto scene = compose();
            QCOMPARE(brokenRule(*scene), std::string());
            const auto count = [](const SceneLayout& of) {
                std::size_t shown = of.hiddenExprs + of.hiddenConstants + of.shapeExprs;
                for (const SceneItem& item : of.items) shown += item.what.expr.valid();
                return shown;
            };
            QCOMPARE(count(*scene), count(*all));
            QVERIFY(scene->shapeExprs > 0);
        }
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
            if (item.what.kind == ItemKind::Module)
                QVERIFY(!graph.scope(item.what.scope).qualname.starts_with("layers.1"));
        }
        std::size_t shown = 0;
        for (const SceneItem& item : scene->items) shown += item.what.expr.valid();
        QCOMPARE(shown + scene->hiddenExprs + scene->hiddenConstants + scene->filteredExprs, graph.exprCount());
        openToDepth(compose.outline, compose.view, 0);
        scene = compose();
        QCOMPARE(scene->filteredExprs, static_cast<std::uint32_t>(count));
        QCOMPARE(brokenRule(*scene), std::string());
    }
};

QTEST_GUILESS_MAIN(TestSceneFolds)

}  // namespace tst_scene_folds

#include "tst_scene_folds.moc"
