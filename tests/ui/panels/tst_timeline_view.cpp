// The bars of a run under mouse and keys, without a window around: where clicks, drags and keys lead, what the wheel
// and a double click show, and that two million steps are painted as few bars.

#include <QAccessible>
#include <QSignalSpy>
#include <QWheelEvent>
#include <QtTest>

#include "ui/panels/timeline/timeline_accessible.h"
#include "ui/panels/timeline/timeline_view.h"
#include "ui/theme/theme.h"

namespace tst_timeline_view {

using namespace sonde;
using panels::ItemId;
using panels::kNoItem;
using panels::TimelineScale;
using panels::TimelineScene;
using panels::TimelineView;
using session::debug::Item;
using session::debug::Timeline;

namespace {

/// op0 | module 1 [ op2 op3 op4 ] | op5, each 100 ns, but for op3 with 700.
struct Run {
    std::shared_ptr<graph::InternalGraph> graph = std::make_shared<graph::InternalGraph>();
    Timeline timeline;

    Run() {
        const graph::ScopeId layer = graph->addScope(graph->rootScope(), "layer", "Layer");
        const graph::NodeId x = graph->addInput(graph->mainId(), "x", {});
        std::vector<graph::ExprId> exprs;
        for (const char* name : {"a", "b", "c", "d", "e"}) exprs.push_back(add(name, x, graph->rootScope()));
        std::vector<Item> items(6);
        for (std::size_t i = 0, op = 0; i < items.size(); ++i) {
            const bool isModule = i == 1;
            items[i].kind = isModule ? Item::Kind::Module : Item::Kind::Operation;
            if (isModule) items[i].scope = layer;
            else items[i].expr = exprs[op++];
            items[i].depth = i >= 2 && i <= 4 ? 1 : 0;
            items[i].parent = i >= 2 && i <= 4 ? 1 : kNoItem;
            items[i].end = isModule ? 5 : static_cast<ItemId>(i) + 1;
            items[i].elapsedNs = isModule ? 0 : i == 3 ? 700 : 100;
        }
        items[3].events = 1;
        timeline.add({{}, items});
    }
    graph::ExprId add(const char* name, graph::NodeId input, graph::ScopeId scope) {
        graph::Expr expr;
        expr.op = {"aten", "relu", 0};
        expr.target = "relu";
        expr.body = graph->mainId();
        expr.scope = scope;
        expr.arguments.push_back(graph::Argument::of(input));
        const std::vector<std::string> names{name};
        return graph->addExpr(std::move(expr), names);
    }
    void showIn(TimelineView& view, ItemId place = 0) const {
        view.change([&](TimelineScene& scene) {
            scene.timeline = &timeline;
            scene.graph = graph;
            scene.place = place;
            scene.isComplete = true;
        });
    }
};

/// Two levels, two million steps.
void makeLong(Run& run) {
    const graph::ExprId expr = run.timeline[0].expr;
    const graph::ScopeId scope = run.timeline[1].scope;
    std::vector<Item> items;
    while (items.size() + 11 <= 2'000'000) {
        const auto at = static_cast<ItemId>(items.size());
        for (ItemId i = 0; i <= 10; ++i) {
            Item item;
            item.kind = i == 0 ? Item::Kind::Module : Item::Kind::Operation;
            item.expr = i == 0 ? graph::ExprId() : expr;
            item.scope = scope;
            item.depth = i == 0 ? 0 : 1;
            item.parent = i == 0 ? kNoItem : at;
            item.end = i == 0 ? at + 11 : at + i + 1;
            item.elapsedNs = i == 0 ? 0 : 50;
            item.events = i == 0 ? 0 : 1;
            items.push_back(item);
        }
    }
    run.timeline.clear();
    run.timeline.add({{}, std::move(items)});
}

}  // namespace

class TestTimelineView : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        theme::Theme::instance().install(*qApp);
        QAccessible::installFactory(panels::accessibleTimelineOf);
    }
    void init() {
        m_run = std::make_unique<Run>();
        m_view = std::make_unique<TimelineView>();
        m_view->resize(500, 160);
        m_run->showIn(*m_view);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
        m_view->setFocus();
        m_asked = std::make_unique<QSignalSpy>(m_view.get(), &TimelineView::goToRequested);
    }
    void cleanup() {
        m_asked.reset();
        m_view.reset();
    }

    void aClickGoesToABar() {
        for (const ItemId item : {ItemId{1}, ItemId{4}, ItemId{0}, ItemId{5}}) {
            QTest::mouseClick(m_view->viewport(), Qt::LeftButton, {}, middleOf(item));
            QTRY_COMPARE(lastAsked(), item);
            QCOMPARE(m_view->scene().place, item);
        }
    }

    /// Above the rows, and where a row has nothing, it is the innermost step.
    void theRulerGoesToSteps() {
        QTest::mouseClick(m_view->viewport(), Qt::LeftButton, {}, QPoint(middleOf(3).x(), 4));
        QTRY_COMPARE(lastAsked(), ItemId{3});
        QTest::mouseClick(m_view->viewport(), Qt::LeftButton, {}, QPoint(middleOf(5).x(), middleOf(3).y()));
        QTRY_COMPARE(lastAsked(), ItemId{5});
    }

    void ofADragOnlyTheNewestIsTold() {
        QTest::mousePress(m_view->viewport(), Qt::LeftButton, {}, middleOf(2));
        for (int x = middleOf(2).x(); x <= middleOf(4).x(); ++x) {
            QMouseEvent move(QEvent::MouseMove, QPointF(x, middleOf(2).y()),
                             m_view->viewport()->mapToGlobal(QPoint(x, middleOf(2).y())), Qt::NoButton, Qt::LeftButton,
                             {});
            QCoreApplication::sendEvent(m_view->viewport(), &move);
        }
        QTRY_COMPARE(lastAsked(), ItemId{4});
        QCOMPARE(m_asked->count(), 1);
        QTest::mouseRelease(m_view->viewport(), Qt::LeftButton, {}, middleOf(4));
        QMouseEvent move(QEvent::MouseMove, QPointF(middleOf(0)), QPointF(middleOf(0)), Qt::NoButton, Qt::NoButton, {});
        QCoreApplication::sendEvent(m_view->viewport(), &move);
        QCOMPARE(m_view->scene().place, ItemId{4});
    }

    void keysWalk() {
        const std::vector<std::pair<Qt::Key, ItemId>> walk{
            {Qt::Key_Right, 1}, {Qt::Key_Right, 5}, {Qt::Key_Left, 1}, {Qt::Key_Down, 2}, {Qt::Key_Right, 3},
            {Qt::Key_Up, 1},    {Qt::Key_Down, 2},  {Qt::Key_Left, 1}, {Qt::Key_End, 5},  {Qt::Key_Home, 0},
            {Qt::Key_Down, 0},  {Qt::Key_Up, 0},    {Qt::Key_Left, 0}, {Qt::Key_End, 5},  {Qt::Key_Right, 5}};
        for (const auto& [key, item] : walk) {
            QTest::keyClick(m_view.get(), key);
            QCOMPARE(m_view->scene().place, item);
        }
        QTRY_COMPARE(lastAsked(), ItemId{5});
    }

    /// Behind the last step the run goes on, if there is more.
    void theKeyGoesOnWithTheRun() {
        QSignalSpy steps(m_view.get(), &TimelineView::stepRequested);
        m_run->showIn(*m_view, 5);
        QTest::keyClick(m_view.get(), Qt::Key_Right);
        QCOMPARE(steps.count(), 0);
        m_view->change([](TimelineScene& scene) { scene.isComplete = false; });
        QTest::keyClick(m_view.get(), Qt::Key_Right);
        QCOMPARE(steps.count(), 1);
    }

    void returnSelects() {
        QSignalSpy selected(m_view.get(), &TimelineView::selectRequested);
        m_run->showIn(*m_view, 3);
        QTest::keyClick(m_view.get(), Qt::Key_Return);
        QCOMPARE(selected.count(), 1);
        QCOMPARE(selected.front().front().value<ItemId>(), ItemId{3});
    }

    void theWheelZoomsOrScrolls() {
        const QRectF before = m_view->rectOf(3);
        wheel(120);
        QVERIFY(m_view->rectOf(3).width() > before.width());
        // What is under the pointer stays there.
        QVERIFY(std::abs(m_view->rectOf(3).center().x() - before.center().x()) < 1);
        const QRectF zoomed = m_view->rectOf(3);
        wheel(-120, Qt::ControlModifier);
        QCOMPARE(m_view->rectOf(3).width(), zoomed.width());
        QVERIFY(m_view->rectOf(3).x() < zoomed.x());
        m_view->setWheelZooms(false);
        wheel(120);
        QCOMPARE(m_view->rectOf(3).width(), zoomed.width());
        QTest::keyClick(m_view.get(), Qt::Key_Space);
        QCOMPARE(m_view->rectOf(3), before);
        QTest::keyClick(m_view.get(), Qt::Key_Plus);
        QVERIFY(m_view->rectOf(3).width() > before.width());
        QTest::keyClick(m_view.get(), Qt::Key_Minus);
        QCOMPARE(m_view->rectOf(3).width(), before.width());
    }

    void aDoubleClickShowsABarAsWideAsTheView() {
        QTest::mouseDClick(m_view->viewport(), Qt::LeftButton, {}, middleOf(1));
        const double width = m_view->viewport()->width();
        QVERIFY(m_view->rectOf(1).width() > 0.9 * width && m_view->rectOf(1).width() <= width);
        QVERIFY(m_view->rectOf(1).left() >= 0);
    }

    void widthsAreTimesOrAlike() {
        QVERIFY(std::abs(m_view->rectOf(3).width() - m_view->rectOf(2).width()) < 1e-6);
        m_view->setScale(TimelineScale::Time);
        QVERIFY(std::abs(m_view->rectOf(3).width() - 7 * m_view->rectOf(2).width()) < 1e-6);
    }

    /// A long run: as many bars and marks as there are pixels, wherever one looks.
    void twoMillionStepsArePaintedAsFewBars() {
        makeLong(*m_run);
        m_run->showIn(*m_view);
        for (int zoom = 0; zoom < 24; ++zoom) {
            (void)m_view->grab();
            const auto& painted = m_view->painted();
            QVERIFY(painted.bars > 0);
            QVERIFY2(painted.bars <= 2 * 500 && painted.marks <= 500,
                     qPrintable(QString::number(painted.bars) + ' ' + QString::number(painted.marks)));
            QTest::keyClick(m_view.get(), Qt::Key_Plus);
            QTest::keyClick(m_view.get(), Qt::Key_Plus);
        }
        QTest::keyClick(m_view.get(), Qt::Key_End);
        QCOMPARE(m_view->scene().place, static_cast<ItemId>(m_run->timeline.size() - 1));
        QVERIFY(m_view->viewport()->rect().contains(m_view->rectOf(m_view->scene().place).topLeft().toPoint()));
    }

    void screenReadersHearThePlace() {
        QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(m_view.get());
        QVERIFY(spoken);
        QCOMPARE(spoken->text(QAccessible::Name), QStringLiteral("Timeline"));
        QVERIFY(spoken->text(QAccessible::Value).startsWith(QStringLiteral("a, relu")));
        QVERIFY(spoken->valueInterface());
        QCOMPARE(spoken->valueInterface()->maximumValue().toInt(), 5);
        spoken->valueInterface()->setCurrentValue(3);
        QCOMPARE(spoken->valueInterface()->currentValue().toInt(), 3);
        QVERIFY(spoken->text(QAccessible::Value).contains(QStringLiteral("NaN")));
        QTRY_COMPARE(lastAsked(), ItemId{3});
    }

    void thereIsNothingWithoutARun() {
        m_view->change([](TimelineScene& scene) { scene = {}; });
        (void)m_view->grab();
        QTest::mouseClick(m_view->viewport(), Qt::LeftButton, {}, QPoint(50, 50));
        for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Left, Qt::Key_Home, Qt::Key_Plus, Qt::Key_Return})
            QTest::keyClick(m_view.get(), key);
        wheel(120);
        QCoreApplication::processEvents();
        QCOMPARE(m_asked->count(), 0);
        QCOMPARE(m_view->painted().bars, std::size_t{0});
    }

  private:
    QPoint middleOf(ItemId item) const { return m_view->rectOf(item).center().toPoint(); }
    ItemId lastAsked() const { return m_asked->isEmpty() ? kNoItem : m_asked->back().front().value<ItemId>(); }
    void wheel(int delta, Qt::KeyboardModifiers modifiers = {}) {
        const QPointF at = m_view->rectOf(3).center();
        QWheelEvent event(at, m_view->viewport()->mapToGlobal(at), {}, {0, delta}, Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(m_view->viewport(), &event);
    }

    std::unique_ptr<Run> m_run;
    std::unique_ptr<TimelineView> m_view;
    std::unique_ptr<QSignalSpy> m_asked;
};

QTEST_MAIN(TestTimelineView)

}  // namespace tst_timeline_view

#include "tst_timeline_view.moc"
