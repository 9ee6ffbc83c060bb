// The canvas stays calm: the last good picture stands until the next one is there, what is opened or closed stays where
// it is on the screen, and what is not around it keeps its form.

#include <QFile>

#include <map>
#include <set>

#include "tests/support/reference_sets.h"
#include "tests/support/window_fixture.h"

namespace tst_calm {

using namespace sonde;
using layout::ItemId;
using layout::ItemKind;

class TestCalm : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }
    void theLastPictureStaysWhileTheNextIsMade();
    void whatIsOpenedOrClosedStaysInPlace_data();
    void whatIsOpenedOrClosedStaysInPlace();
    void onlyWhatIsAroundMoves();
    void theLineStaysWhenManyAreOpened_data();
    void theLineStaysWhenManyAreOpened();
    void theSelectionStaysWhenManyAreOpened();

  private:
    std::vector<graph::ScopeId> modules(bool open) {
        std::vector<graph::ScopeId> found;
        for (const layout::SceneItem& item : canvas()->view().scene()->items)
            if (item.what.kind == ItemKind::Module && item.what.open == open && item.what.expandable)
                found.push_back(item.what.scope);
        return found;
    }
    /// Places of what is inside an open module, seen from its corner.
    std::map<layout::ItemKey, QPointF> inside(graph::ScopeId module) {
        std::map<layout::ItemKey, QPointF> places;
        const auto scene = canvas()->view().scene();
        const auto outer = scene->item(scene->itemOf(module)).rect;
        for (const layout::SceneItem& item : scene->items) {
            if (item.what.kind != ItemKind::Expr && item.what.kind != ItemKind::Module) continue;
            if (item.what.scope == module || context().model().graph().encloses(module, item.what.scope))
                places[item.key] = {item.rect.x - outer.x, item.rect.y - outer.y};
        }
        return places;
    }
};

void TestCalm::theLastPictureStaysWhileTheNextIsMade() {
    open(QStringLiteral("zoo:densenet121"));
    for (const int depth : {9, 1, 0, 9}) {
        const auto before = canvas()->view().scene();
        const QImage picture = canvas()->grab().toImage();
        context().canvases().active().expandToDepth(depth);
        QCOMPARE(canvas()->view().scene(), before);
        QCOMPARE(canvas()->grab().toImage(), picture);  // no blank, no half of it
        while (!m_window->isIdle()) {
            QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
            QVERIFY(canvas()->view().scene());
            QVERIFY(!canvas()->view().scene()->items.empty());
        }
        QVERIFY(canvas()->view().scene() != before);
    }
}

void TestCalm::whatIsOpenedOrClosedStaysInPlace_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<bool>("leftRight");
    for (const char* model : {"zoo:resnet50", "zoo:vit_b_16?layers=5&dim=48&mlp=96&heads=4", "zoo:densenet121"})
        for (const bool leftRight : {false, true})
            QTest::addRow("%s %d", model, leftRight) << QString::fromLatin1(model) << leftRight;
}

void TestCalm::whatIsOpenedOrClosedStaysInPlace() {
    QFETCH(QString, model);
    QFETCH(bool, leftRight);
    open(model);
    context().canvases().active().setFolds(false);
    context().canvases().active().setDirection(leftRight ? layout::Direction::LeftRight : layout::Direction::TopDown);
    context().canvases().active().expandToDepth(0);
    settle();
    int toggled = 0;
    for (const double factor : {1.0, 0.5, 2.0}) {
        for (const bool open : {false, true, false}) {
            const auto found = modules(open);
            if (found.empty()) continue;
            const graph::ScopeId module = found[found.size() / 2];
            context().navigation().reveal(context().navigation().selectionOf(module));
            settle();
            canvas()->view().zoomReset();
            canvas()->view().zoomBy(factor);
            settle();
            const QPointF corner = canvas()->view().rectOf(module).topLeft();
            if (!QRectF(canvas()->rect()).contains(corner)) continue;  // not looked at
            context().navigation().navigateTo(context().navigation().selectionOf(module));
            canvas()->setFocus();
            settle();
            const QPointF before = canvas()->view().rectOf(module).topLeft();
            QTest::keyClick(canvas(), Qt::Key_Return);
            settle();
            QCOMPARE(context().canvases().active().isExpanded(module), !open);
            QVERIFY2((canvas()->view().rectOf(module).topLeft() - before).manhattanLength() < 1.5, qPrintable(model));
            ++toggled;
        }
    }
    QVERIFY(toggled >= 4);
}

/// Opening a module leaves the inside of the others as it is.
void TestCalm::onlyWhatIsAroundMoves() {
    open(QStringLiteral("zoo:resnet50"));
    context().canvases().active().setFolds(false);
    context().canvases().active().expandToDepth(0);
    const auto scope = [&](const char* name) {
        return context().navigation().selectionOf(QString::fromLatin1(name)).scope;
    };
    const graph::ScopeId first = scope("layer1"), second = scope("layer2"), inner = scope("layer2.1");
    context().canvases().active().setExpanded(first, true);
    context().canvases().active().setExpanded(second, true);
    settle();
    const auto before = inside(first);
    QVERIFY(before.size() > 2);
    context().canvases().active().setExpanded(inner, true);
    settle();
    QVERIFY(context().canvases().active().isExpanded(inner));
    const auto after = inside(first);
    QCOMPARE(after.size(), before.size());
    for (const auto& [key, place] : before) QVERIFY((after.at(key) - place).manhattanLength() < 0.01);
}

void TestCalm::theLineStaysWhenManyAreOpened_data() {
    QTest::addColumn<QString>("model");
    for (const char* model :
         {"gpt_mini.onnx", "gpt_mini.script.pt", "control_flow.onnx", "unet_small.onnx", "mobilenet_v3_small.onnx"})
        QTest::addRow("%s", model) << file(model);
    // With other classes than elsewhere: a model that was open before comes back enlarged to some part of it, where
    // little of the line is on the screen.
    for (const char* model : {"zoo:resnet50?classes=7", "zoo:unet", "zoo:densenet121?classes=7"})
        QTest::addRow("%s", model) << QString::fromLatin1(model);
    for (const char* model : {"light_vgg19.onnx", "light_shufflenet.onnx"})  // constants beside the line of operations
        QTest::addRow("%s", model) << test::referenceSets() + QStringLiteral("/onnx-light/") + QLatin1String(model);
}

/// Opening modules all over the picture leaves the operation in the middle of it, that is not in them, where it is.
void TestCalm::theLineStaysWhenManyAreOpened() {
    QFETCH(QString, model);
    if (model.contains(QStringLiteral("/onnx-light/"))) SONDE_NEEDS_SET("onnx-light", model);
    open(model);
    for (const Qt::Key depth : {Qt::Key_2, Qt::Key_0, Qt::Key_1}) {
        const auto scene = canvas()->view().scene();
        std::map<layout::ItemKey, QPointF> places;  // of operations that read something, on the screen
        std::set<layout::ItemId> read;
        for (const layout::SceneEdge& edge : scene->edges) read.insert(edge.to);
        for (const layout::ItemId id : canvas()->view().visibleItems())
            if (read.contains(id) && !scene->item(id).what.open && scene->item(id).what.kind != ItemKind::Stub)
                places[scene->item(id).key] = canvas()->view().itemRect(id).topLeft();
        key(depth, Qt::ControlModifier | Qt::ShiftModifier);
        int left = 0;
        double moved = 1e9;
        for (const auto& [key, before] : places) {
            const layout::ItemId id = canvas()->view().scene()->find(key);
            if (!id || canvas()->view().scene()->item(id).what.open) continue;
            ++left;
            moved = std::min(moved, (canvas()->view().itemRect(id).topLeft() - before).manhattanLength());
        }
        if (left > 0) QVERIFY2(moved < 1.5, qPrintable(QStringLiteral("%1 points").arg(moved)));
    }
}

void TestCalm::theSelectionStaysWhenManyAreOpened() {
    open(QStringLiteral("zoo:resnet50"));
    const graph::NodeId pool = node("op:MaxPool2d");
    context().navigation().navigateTo(pool);
    settle();
    for (const Qt::Key depth : {Qt::Key_2, Qt::Key_0, Qt::Key_3}) {
        const QPointF before = rectOf(canvas(), pool).topLeft();
        key(depth, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY((rectOf(canvas(), pool).topLeft() - before).manhattanLength() < 1.5);
    }
}

QTEST_MAIN(TestCalm)

}  // namespace tst_calm

#include "tst_calm.moc"
