// What stays in place when a scene changes: the item nearest to the middle, of those that can.

#include <QTest>

#include "ui/canvas/scene_anchor.h"

namespace tst_scene_anchor {

using namespace sonde;
using canvas::SceneAnchor;
using canvas::ShownScene;
using layout::ItemId;
using layout::ItemKind;

namespace {

ItemId nth(std::size_t index) { return ItemId(index); }

/// Input, operation, constant beside it, operation: at x = 0, 100, 200, 300, 50 x 50 each; edges from the first to the
/// second and from the second to the last.
layout::SceneLayout rowOfItems() {
    layout::SceneLayout scene;
    for (std::size_t i = 0; i < 4; ++i) {
        layout::SceneItem item;
        item.what.kind = item.key.kind = i == 0 ? ItemKind::Input : ItemKind::Expr;
        item.what.expr = item.key.expr = graph::ExprId(i);
        item.rect = {100.0 * static_cast<double>(i), 0, 50, 50};
        scene.items.push_back(item);
        scene.top.push_back(nth(i));
        scene.exprItems.push_back(nth(i));
    }
    for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 3}}) {
        layout::SceneEdge edge;
        edge.from = nth(static_cast<std::size_t>(from));
        edge.to = nth(static_cast<std::size_t>(to));
        edge.path.moveTo({scene.item(edge.from).rect.x + 50, 25});
        edge.path.lineTo({scene.item(edge.to).rect.x, 25});
        scene.edges.push_back(edge);
    }
    scene.bounds = {0, 0, 350, 50};
    return scene;
}

ShownScene shown(const layout::SceneLayout& scene, double middle) {
    return {std::make_shared<const canvas::SceneIndex>(std::make_shared<const layout::SceneLayout>(scene)),
            {{middle, 25}, 1},
            {400, 300}};
}

}  // namespace

class TestSceneAnchor : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void itIsWhereItIsOnTheScreen() {
        const SceneAnchor anchor = canvas::anchorOf(shown(rowOfItems(), 125), nth(1));
        // (100 - 125) + 200 and (0 - 25) + 150
        QCOMPARE(anchor.corner, QPointF(175, 125));
        QCOMPARE(anchor.expr, graph::ExprId(std::size_t{1}));
        QVERIFY(!anchor.scope.valid());
    }

    void theNearestToTheMiddleStays() {
        QCOMPARE(canvas::middleAnchor(shown(rowOfItems(), 130))->expr, graph::ExprId(std::size_t{1}));
        QCOMPARE(canvas::middleAnchor(shown(rowOfItems(), 260))->expr, graph::ExprId(std::size_t{3}));
        // Off the screen, as nothing is on it.
        QCOMPARE(canvas::middleAnchor(shown(rowOfItems(), 5000))->expr, graph::ExprId(std::size_t{3}));
        QVERIFY(!canvas::middleAnchor(shown(layout::SceneLayout(), 0)));
    }

    void constantsAndInputsComeLater() {
        // The constant is in the middle; nothing ends at it. The last operation is nearer than the first.
        QCOMPARE(canvas::middleAnchor(shown(rowOfItems(), 230))->expr, graph::ExprId(std::size_t{3}));
        // The input is in the middle.
        QCOMPARE(canvas::middleAnchor(shown(rowOfItems(), 20))->expr, graph::ExprId(std::size_t{1}));
    }

    void whatTheNextSceneOpensComesLast() {
        layout::SceneLayout next = rowOfItems();
        next.items[1].what.open = true;
        QVERIFY(!canvas::staysClosed(rowOfItems().items[1], &next));
        QVERIFY(canvas::staysClosed(rowOfItems().items[3], &next));
        QCOMPARE(canvas::middleAnchor(shown(rowOfItems(), 130), &next)->expr, graph::ExprId(std::size_t{3}));
        // Nothing else is closed.
        layout::SceneLayout alone = rowOfItems();
        alone.items[0].what.open = alone.items[2].what.open = alone.items[3].what.open = true;
        QCOMPARE(canvas::middleAnchor(shown(alone, 130), &next)->expr, graph::ExprId(std::size_t{1}));
    }

    void aCornerOffTheScreenIsNoAnchor() {
        // The view shows -75 to 325: the corner of the last item is on it, with a camera further left it is not.
        QVERIFY(canvas::cornerAnchor(shown(rowOfItems(), 125), nth(3)));
        QVERIFY(!canvas::cornerAnchor(shown(rowOfItems(), 50), nth(3)));
    }

    void itIsFoundInAnotherScene() {
        const SceneAnchor anchor = canvas::anchorOf(shown(rowOfItems(), 125), nth(3));
        layout::SceneLayout next = rowOfItems();
        QCOMPARE(canvas::findAnchor(next, anchor), nth(3));
        // Hidden in another item, which shows it.
        next.items[3].key.expr = graph::ExprId(std::size_t{7});
        next.exprItems[3] = nth(1);
        QCOMPARE(canvas::findAnchor(next, anchor), nth(1));
        next.exprItems[3] = {};
        QVERIFY(!canvas::findAnchor(next, anchor));
    }
};

QTEST_MAIN(TestSceneAnchor)

}  // namespace tst_scene_anchor

#include "tst_scene_anchor.moc"
