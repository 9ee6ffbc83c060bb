// The canvas with real mouse and key events, on a model whose structure is known.

#include <QAction>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QToolTip>
#include <QWheelEvent>

#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/overview_map.h"
#include "ui/theme/theme.h"

namespace tst_graph_canvas {

using namespace sonde;
using canvas::GraphCanvas;
using context::InspectorContext;
using context::Selection;
using layout::ItemId;
using layout::ItemKind;

class TestGraphCanvas : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void cleanupTestCase() { context::Job::waitForAll(); }

    void opensWithAPictureOfTheTopLevel();
    void clickSelectsAndBackgroundClears();
    void doubleClickOpensAModuleInPlace();
    void theButtonOpensAndCloses();
    void returnOpensWhatIsSelected();
    void wheelZoomsAboutThePointer();
    void wheelScrollsWhenSetSo();
    void dragPans();
    void shiftDragSelectsABox();
    void controlDragZoomsToABox();
    void arrowsWalkAlongEdges();
    void arrowsTurnWithTheDirection();
    void watchPointWidensTheCardAndShowsTheValue();
    void endPointDimsWhatIsNotReached();
    void closedModulesBehindTheEndPointAreDimmed();
    void clickOnAnEdgeSelectsItsValue();
    void altClickOnAnEdgeGoesToItsFarEnd();
    void menuOffersWhatTheItemCan();
    void revealOpensWhatHides();
    void overviewMapMovesTheView();
    void hiddenOperationsAreCounted();
    void speaksTheCurrentItem();
    void picturesDifferByTheme();
    void closingTheModelEmptiesTheCanvas();
    void hoverStaysWithItsPicture();

  private:
    bool settled() const { return m_canvas->isIdle() && !m_context->isBusy(); }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(settled(), 20000); }
    void open(const QString& model);
    ItemId find(ItemKind kind, const std::string& qualname) const;
    QPoint centreOf(ItemId item) const { return m_canvas->view().itemRect(item).center().toPoint(); }
    graph::NodeId node(const char* name) const { return m_context->model().graph().findNode(name); }
    void wheel(QPointF at, int delta, Qt::KeyboardModifiers modifiers = {});

    std::unique_ptr<InspectorContext> m_context;
    std::unique_ptr<GraphCanvas> m_canvas;
};

void TestGraphCanvas::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("sonde-test-canvas"));
    theme::Theme::instance().install(*qApp);
    theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    theme::Theme::instance().setReducedMotion(true);
}

void TestGraphCanvas::init() {
    QSettings().clear();
    m_context = std::make_unique<InspectorContext>();
    m_canvas = std::make_unique<GraphCanvas>(*m_context);
    m_canvas->resize(1000, 800);
    m_canvas->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_canvas.get()));
}

void TestGraphCanvas::cleanup() {
    m_canvas.reset();
    m_context.reset();
}

void TestGraphCanvas::open(const QString& model) {
    m_context->loader().open(model);
    QTRY_VERIFY_WITH_TIMEOUT(m_context->model().isOpen(), 20000);
    m_context->canvases().active().expandToDepth(0);
    layout::ViewState view = m_context->canvases().active().view();
    view.openScopes.clear();
    view.openExprs.clear();
    m_context->canvases().active().setView(view);
    QTRY_VERIFY_WITH_TIMEOUT(m_canvas->view().scene() != nullptr, 20000);
    settle();
    m_canvas->navigation().fit();
    settle();
}

ItemId TestGraphCanvas::find(ItemKind kind, const std::string& qualname) const {
    const auto scene = m_canvas->view().scene();
    for (std::size_t i = 0; i < scene->items.size(); ++i) {
        const layout::ItemDescription& what = scene->items[i].what;
        if (what.kind != kind) continue;
        if (kind == ItemKind::Module && m_context->model().graph().scope(what.scope).qualname == qualname)
            return ItemId(i);
        if (kind == ItemKind::Expr && m_context->model().graph().expr(what.expr).qualname == qualname) return ItemId(i);
        if (kind == ItemKind::Input || kind == ItemKind::Output) return ItemId(i);
    }
    return {};
}

void TestGraphCanvas::wheel(QPointF at, int delta, Qt::KeyboardModifiers modifiers) {
    QWheelEvent event(at, m_canvas->mapToGlobal(at), {}, {0, delta}, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(m_canvas.get(), &event);
    settle();
}

void TestGraphCanvas::opensWithAPictureOfTheTopLevel() {
    open("zoo:resnet18");
    for (const char* name : {"layer1", "layer2", "layer3", "layer4"}) {
        const ItemId item = find(ItemKind::Module, name);
        QVERIFY2(item, name);
        QVERIFY(!m_canvas->view().scene()->item(item).what.open);
        QVERIFY(QRectF(m_canvas->rect()).contains(m_canvas->view().itemRect(item)));
    }
    // Children follow one another down the page, and nothing overlaps.
    QVERIFY(m_canvas->view().itemRect(find(ItemKind::Module, "layer1")).bottom() <
            m_canvas->view().itemRect(find(ItemKind::Module, "layer2")).top());
    QVERIFY(find(ItemKind::Expr, "conv1"));
}

void TestGraphCanvas::clickSelectsAndBackgroundClears() {
    open("zoo:resnet18");
    const ItemId conv = find(ItemKind::Expr, "conv1");
    QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(conv));
    QCOMPARE(m_context->navigation().selection().kind, Selection::Kind::Node);
    QCOMPARE(m_context->navigation().selection().qualname, "conv1");
    QCOMPARE(m_canvas->view().currentItem(), conv);
    QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(find(ItemKind::Module, "layer2")));
    QCOMPARE(m_context->navigation().selection().kind, Selection::Kind::Scope);
    QCOMPARE(m_context->navigation().selection().qualname, "layer2");
    QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, {6, 400});
    QVERIFY(m_context->navigation().selection().isNone());
}

void TestGraphCanvas::doubleClickOpensAModuleInPlace() {
    open("zoo:resnet18");
    m_canvas->view().zoomReset();
    m_context->navigation().navigateTo(m_context->navigation().selectionOf(QStringLiteral("layer2")));
    settle();
    const ItemId closed = find(ItemKind::Module, "layer2");
    const QPointF corner = m_canvas->view().itemRect(closed).topLeft();
    QTest::mouseDClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(closed));
    settle();
    const ItemId opened = find(ItemKind::Module, "layer2");
    QVERIFY(m_canvas->view().scene()->item(opened).what.open);
    QVERIFY(find(ItemKind::Module, "layer2.0"));
    // What was clicked is where it stood.
    QVERIFY((m_canvas->view().itemRect(opened).topLeft() - corner).manhattanLength() < 1.5);
    const QRectF outer = m_canvas->view().itemRect(opened),
                 inner = m_canvas->view().itemRect(find(ItemKind::Module, "layer2.0"));
    QVERIFY(outer.contains(inner));
}

void TestGraphCanvas::theButtonOpensAndCloses() {
    open("zoo:resnet18");
    m_canvas->view().zoomReset();
    m_context->navigation().navigateTo(m_context->navigation().selectionOf(QStringLiteral("layer3")));
    settle();
    for (const bool open : {true, false}) {
        const ItemId item = find(ItemKind::Module, "layer3");
        const QPointF button =
            m_canvas->view().itemRect(item).topLeft() + QPointF(17, 15) * m_canvas->view().camera().scale;
        QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, button.toPoint());
        settle();
        QCOMPARE(m_canvas->view().scene()->item(find(ItemKind::Module, "layer3")).what.open, open);
    }
}

void TestGraphCanvas::returnOpensWhatIsSelected() {
    open("zoo:resnet18");
    QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(find(ItemKind::Module, "layer1")));
    QTest::keyClick(m_canvas.get(), Qt::Key_Return);
    settle();
    QVERIFY(m_canvas->view().scene()->item(find(ItemKind::Module, "layer1")).what.open);
    QTest::keyClick(m_canvas.get(), Qt::Key_Return);
    settle();
    QVERIFY(!m_canvas->view().scene()->item(find(ItemKind::Module, "layer1")).what.open);
}

void TestGraphCanvas::wheelZoomsAboutThePointer() {
    open("zoo:resnet18");
    const QPointF at(300, 200);
    const QPointF before = m_canvas->view().camera().toScene(at, m_canvas->size());
    const double scale = m_canvas->view().camera().scale;
    wheel(at, 240);
    QVERIFY(m_canvas->view().camera().scale > 1.2 * scale);
    const QPointF after = m_canvas->view().camera().toScene(at, m_canvas->size());
    QVERIFY((after - before).manhattanLength() < 1e-6);
    wheel(at, -240);
    QVERIFY(std::abs(m_canvas->view().camera().scale - scale) < 1e-6);
}

void TestGraphCanvas::wheelScrollsWhenSetSo() {
    open("zoo:resnet18");
    m_canvas->interaction().setWheelZooms(false);
    const canvas::Camera before = m_canvas->view().camera();
    wheel({300, 200}, -120);
    QCOMPARE(m_canvas->view().camera().scale, before.scale);
    QVERIFY(m_canvas->view().camera().centre.y() > before.centre.y());
    wheel({300, 200}, 120, Qt::ControlModifier);
    QVERIFY(m_canvas->view().camera().scale > before.scale);
}

void TestGraphCanvas::dragPans() {
    open("zoo:resnet18");
    const QPointF before = m_canvas->view().camera().centre;
    QTest::mousePress(m_canvas.get(), Qt::LeftButton, {}, {20, 300});
    QTest::mouseMove(m_canvas.get(), {60, 330});
    QTest::mouseMove(m_canvas.get(), {120, 350});
    QTest::mouseRelease(m_canvas.get(), Qt::LeftButton, {}, {120, 350});
    const QPointF moved = (before - m_canvas->view().camera().centre) * m_canvas->view().camera().scale;
    QCOMPARE(moved.toPoint(), QPoint(100, 50));
}

void TestGraphCanvas::shiftDragSelectsABox() {
    open("zoo:resnet18");
    const QRectF first = m_canvas->view().itemRect(find(ItemKind::Expr, "conv1")),
                 last = m_canvas->view().itemRect(find(ItemKind::Expr, "maxpool"));
    const QRectF box = first.united(last).adjusted(-3, -3, 3, 3);
    QTest::mousePress(m_canvas.get(), Qt::LeftButton, Qt::ShiftModifier, box.topLeft().toPoint());
    QTest::mouseMove(m_canvas.get(), box.center().toPoint());
    QTest::mouseRelease(m_canvas.get(), Qt::LeftButton, Qt::ShiftModifier, box.bottomRight().toPoint());
    QCOMPARE(m_context->navigation().selectedNodes().size(), 4U);  // conv1, bn1, relu, maxpool
}

void TestGraphCanvas::controlDragZoomsToABox() {
    open("zoo:resnet18");
    const QRectF box = m_canvas->view().itemRect(find(ItemKind::Module, "layer4")).adjusted(-3, -3, 3, 3);
    QTest::mousePress(m_canvas.get(), Qt::LeftButton, Qt::ControlModifier, box.topLeft().toPoint());
    QTest::mouseMove(m_canvas.get(), box.center().toPoint());
    QTest::mouseRelease(m_canvas.get(), Qt::LeftButton, Qt::ControlModifier, box.bottomRight().toPoint());
    settle();
    const QRectF shown = m_canvas->view().itemRect(find(ItemKind::Module, "layer4"));
    QVERIFY(QRectF(m_canvas->rect()).contains(shown));
    QVERIFY(shown.width() > 0.6 * m_canvas->width() || shown.height() > 0.6 * m_canvas->height());
}

void TestGraphCanvas::arrowsWalkAlongEdges() {
    open("zoo:resnet18");
    QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(find(ItemKind::Expr, "conv1")));
    QTest::keyClick(m_canvas.get(), Qt::Key_Down);
    QCOMPARE(m_context->navigation().selection().qualname, "bn1");
    QTest::keyClick(m_canvas.get(), Qt::Key_Down);
    QCOMPARE(m_context->navigation().selection().qualname, "relu");
    QTest::keyClick(m_canvas.get(), Qt::Key_Up);
    QCOMPARE(m_context->navigation().selection().qualname, "bn1");
}

void TestGraphCanvas::arrowsTurnWithTheDirection() {
    open("zoo:resnet18");
    layout::ViewState view = m_canvas->state().view();
    view.direction = layout::Direction::LeftRight;
    view.wrapping = layout::Wrapping::Off;  // in rows they are not beside each other
    m_canvas->state().setView(view);
    settle();
    m_canvas->navigation().fit();
    settle();
    QVERIFY(m_canvas->view().itemRect(find(ItemKind::Expr, "conv1")).right() <
            m_canvas->view().itemRect(find(ItemKind::Expr, "bn1")).left());
    m_context->navigation().select(m_context->navigation().selectionOf(node("conv1")));
    m_canvas->setFocus();
    QTest::keyClick(m_canvas.get(), Qt::Key_Right);
    QCOMPARE(m_context->navigation().selection().qualname, "bn1");
    QTest::keyClick(m_canvas.get(), Qt::Key_Left);
    QCOMPARE(m_context->navigation().selection().qualname, "conv1");
}

void TestGraphCanvas::watchPointWidensTheCardAndShowsTheValue() {
    open(QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
    graph::NodeId watched;
    for (const graph::ExprId id : m_context->model().graph().main().order)
        if (m_context->model().graph().expr(id).op.name == "Relu") {
            watched = m_context->model().graph().expr(id).outputs.front();
            break;
        }
    QVERIFY(watched.valid());
    m_context->navigation().navigateTo(watched);
    m_canvas->view().zoomReset();
    settle();
    const ItemId before = m_canvas->view().currentItem();
    QVERIFY(before);
    const QRectF narrow = m_canvas->view().itemRect(before);
    m_canvas->navigation().toggleWatch();
    settle();
    QVERIFY(m_context->points().isWatched(watched));
    const QRectF wide = m_canvas->view().itemRect(m_canvas->view().currentItem());
    QVERIFY(wide.width() > narrow.width() + 40);
    QVERIFY((wide.topLeft() - narrow.topLeft()).manhattanLength() < 1.5);
    const QImage without = m_canvas->grab(wide.toRect()).toImage();
    m_context->runs().run();
    settle();
    QCOMPARE(m_context->runs().state(), context::RunState::Finished);
    QVERIFY(m_context->runs().value(watched));
    settle();
    const QRectF now = m_canvas->view().itemRect(m_canvas->view().currentItem());
    QVERIFY(m_canvas->grab(now.toRect()).toImage() != without);
}

void TestGraphCanvas::endPointDimsWhatIsNotReached() {
    open(QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
    m_context->canvases().active().expandToDepth(3);
    settle();
    graph::NodeId end;
    for (const graph::ExprId id : m_context->model().graph().main().order)
        if (m_context->model().graph().expr(id).op.name == "Relu") {
            end = m_context->model().graph().expr(id).outputs.front();
            break;
        }
    const auto last = m_context->model().graph().outputs().front();
    m_context->navigation().navigateTo(m_context->model().graph().node(last).producer.valid() ? last : end);
    m_canvas->view().zoomReset();
    settle();
    const QRect place =
        m_canvas->view().rectOf(m_context->model().graph().node(last).producer).toRect().adjusted(4, 4, -4, -4);
    const QImage bright = m_canvas->grab(place).toImage();
    m_context->points().setEnd(end, true);
    m_context->runs().run();
    settle();
    QCOMPARE(m_context->runs().state(), context::RunState::Finished);
    m_context->navigation().clearSelection();
    settle();
    const QImage dim = m_canvas->grab(place).toImage();
    const auto ink = [](const QImage& image) {
        qint64 sum = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) sum += 255 - qGray(image.pixel(x, y));
        return sum;
    };
    QVERIFY(ink(dim) < 0.6 * static_cast<double>(ink(bright)));
}

void TestGraphCanvas::closedModulesBehindTheEndPointAreDimmed() {
    open("zoo:resnet18");
    m_canvas->view().zoomReset();
    m_context->navigation().navigateTo(m_context->navigation().selectionOf(QStringLiteral("layer4")));
    m_context->navigation().clearSelection();
    settle();
    const QRect place = m_canvas->view().itemRect(find(ItemKind::Module, "layer4")).toRect().adjusted(3, 3, -8, -8);
    const QImage bright = m_canvas->grab(place).toImage();
    m_context->points().setEnd(node("maxpool"), true);
    m_context->runs().run();
    settle();
    QCOMPARE(m_context->runs().state(), context::RunState::Finished);
    settle();
    const auto darkest = [](const QImage& image) {
        int least = 255;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) least = std::min(least, qGray(image.pixel(x, y)));
        return least;
    };
    QVERIFY(darkest(m_canvas->grab(place).toImage()) > darkest(bright) + 50);
}

void TestGraphCanvas::clickOnAnEdgeSelectsItsValue() {
    open("zoo:resnet18");
    m_canvas->view().zoomReset();
    m_context->navigation().navigateTo(node("conv1"));
    settle();
    m_context->navigation().clearSelection();
    const auto scene = m_canvas->view().scene();
    const ItemId conv = find(ItemKind::Expr, "conv1");
    for (const layout::SceneEdge& edge : scene->edges) {
        if (edge.from != conv) continue;
        const QPointF place = m_canvas->view().camera().toPixel(canvas::toQt(edge.path.middle()), m_canvas->size());
        QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, place.toPoint());
        QCOMPARE(m_context->navigation().selection().node, edge.values.front());
        QCOMPARE(m_context->navigation().selection().qualname, "conv1");
        return;
    }
    QFAIL("conv1 has no edge");
}

void TestGraphCanvas::altClickOnAnEdgeGoesToItsFarEnd() {
    open("zoo:resnet18");
    const auto scene = m_canvas->view().scene();
    const ItemId conv = find(ItemKind::Expr, "conv1");
    for (const layout::SceneEdge& edge : scene->edges) {
        if (edge.from != conv) continue;
        const QPointF place = m_canvas->view().camera().toPixel(canvas::toQt(edge.path.at(0, 0.3)), m_canvas->size());
        QTest::mouseClick(m_canvas.get(), Qt::LeftButton, Qt::AltModifier, place.toPoint());
        QCOMPARE(m_canvas->view().currentItem(), edge.to);
        return;
    }
    QFAIL("conv1 has no edge");
}

void TestGraphCanvas::menuOffersWhatTheItemCan() {
    open("zoo:resnet18");
    QStringList texts;
    connect(&m_canvas->interaction(), &canvas::CanvasInteraction::menuAboutToShow, this, [&](QMenu* menu) {
        for (const QAction* action : menu->actions()) texts << action->text().remove('&');
        QMetaObject::invokeMethod(menu, &QMenu::close, Qt::QueuedConnection);
    });
    const QPoint at = centreOf(find(ItemKind::Expr, "conv1"));
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, m_canvas->mapToGlobal(at));
    QApplication::sendEvent(m_canvas.get(), &event);
    for (const char* wanted :
         {"Set Watch Point", "Set End Point", "Run to Here", "Copy Name", "Show in Module Tree", "Fit"})
        QVERIFY2(texts.contains(QLatin1String(wanted)), wanted);
    QCOMPARE(m_context->navigation().selection().qualname, "conv1");
}

void TestGraphCanvas::revealOpensWhatHides() {
    open("zoo:resnet18");
    m_context->navigation().navigateTo(m_context->navigation().selectionOf(QStringLiteral("layer4.1.conv2")));
    settle();
    const ItemId item = find(ItemKind::Expr, "layer4.1.conv2");
    QVERIFY(item);
    QVERIFY(QRectF(m_canvas->rect()).contains(m_canvas->view().itemRect(item)));
    QVERIFY(m_canvas->view().camera().scale >= 0.5);
}

void TestGraphCanvas::overviewMapMovesTheView() {
    open("zoo:resnet18");
    m_canvas->view().zoomReset();
    settle();
    auto* map = m_canvas->findChild<canvas::OverviewMap*>();
    QVERIFY(map && map->isVisible());
    QTest::mouseClick(map, Qt::LeftButton, {}, {map->width() / 2, map->height() - 12});
    const QRectF bounds = canvas::toQt(m_canvas->view().scene()->bounds);
    QVERIFY(m_canvas->view().camera().centre.y() > bounds.top() + 0.8 * bounds.height());
    QVERIFY(map->viewRect().center().y() > 0.8 * map->height());
    m_canvas->overlays().setOverviewVisible(false);
    QVERIFY(!map->isVisible());
}

void TestGraphCanvas::hiddenOperationsAreCounted() {
    open("zoo:resnet18");
    QVERIFY(m_canvas->text().hidden().contains(QString::number(m_canvas->view().scene()->hiddenExprs)));
    QVERIFY(m_canvas->view().scene()->hiddenExprs > 0);
}

void TestGraphCanvas::speaksTheCurrentItem() {
    open("zoo:resnet18");
    QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(find(ItemKind::Expr, "conv1")));
    QVERIFY2(m_canvas->accessibleDescription().contains("Conv2d"), qPrintable(m_canvas->accessibleDescription()));
    QVERIFY(m_canvas->accessibleDescription().contains("conv1"));
    QVERIFY(m_canvas->text().twin().contains("module layer1"));
}

void TestGraphCanvas::picturesDifferByTheme() {
    open("zoo:resnet18");
    const QImage light = m_canvas->grab().toImage();
    theme::Theme::instance().setMode(theme::Theme::Mode::Dark);
    settle();
    const QImage dark = m_canvas->grab().toImage();
    theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    QCOMPARE(light.pixelColor(4, 300), theme::color(theme::ColorRole::Canvas, theme::Scheme::Light));
    QCOMPARE(dark.pixelColor(4, 300), theme::color(theme::ColorRole::Canvas, theme::Scheme::Dark));
}

void TestGraphCanvas::closingTheModelEmptiesTheCanvas() {
    open("zoo:resnet18");
    m_context->loader().close();
    QVERIFY(!m_canvas->view().scene());
    QVERIFY(m_canvas->isIdle());
    QTest::keyClick(m_canvas.get(), Qt::Key_Down);
    QTest::keyClick(m_canvas.get(), Qt::Key_Return);
    QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, {300, 300});
    QVERIFY(m_canvas->picture().isNull());
}

void TestGraphCanvas::hoverStaysWithItsPicture() {
    open(QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
    GraphCanvas second(*m_context, nullptr, 1);
    second.resize(m_canvas->size());
    second.show();
    QVERIFY(QTest::qWaitForWindowExposed(&second));
    QTRY_VERIFY_WITH_TIMEOUT(second.view().scene() && second.isIdle(), 20000);
    m_context->canvases().setActive(0);
    m_context->canvases().active().expandToDepth(4);
    settle();
    m_canvas->navigation().fit();
    settle();
    QVERIFY(m_canvas->view().scene()->items.size() > second.view().scene()->items.size() + 1);
    const ItemId last(m_canvas->view().scene()->items.size() - 1);
    QTest::mouseMove(m_canvas.get(), centreOf(last));
    QCoreApplication::processEvents();
    m_canvas->takeOver(second);
    settle();
    m_context->canvases().setActive(1);
    QCOMPARE(m_canvas->grab().toImage(), second.grab().toImage());
}

QTEST_MAIN(TestGraphCanvas)

}  // namespace tst_graph_canvas

#include "tst_graph_canvas.moc"
