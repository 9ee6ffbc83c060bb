// The timeline in the window: it comes with the first debugged run, and goes where it is clicked while the canvas and
// other panels follow; what is selected on the canvas is marked in it, and the other way round.

#include <QAction>
#include <QDockWidget>
#include <QSplitter>

#include "tests/support/window_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/panels/timeline/timeline_panel.h"

namespace tst_timeline_panel {

using namespace sonde;
using panels::ItemId;
using panels::kNoItem;
using panels::TimelinePanel;
using panels::TimelineView;
using session::debug::Item;

class TestTimelinePanel : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }

    void itComesWithTheFirstDebuggedRun() {
        open(QStringLiteral("zoo:blocks_net"));
        QVERIFY(!dock()->isVisible());
        run();
        QVERIFY(!dock()->isVisible());
        debugToTheEnd();
        QTRY_VERIFY(view()->isVisible());
        QCOMPARE(m_window->dockWidgetArea(dock()), Qt::BottomDockWidgetArea);
        QVERIFY(view()->scene().timeline->size() > 10);
        context().debugger().cancel();
        settle();
        QTRY_VERIFY(!view()->isVisible());
    }

    /// A real click, then keys: the debugger is there, and the canvas shows it.
    void clicksAndKeysMoveTheRun() {
        open(QStringLiteral("zoo:blocks_net"));
        debugToTheEnd();
        const ItemId item = operationNear(view()->scene().timeline->size() / 2);
        QTest::mouseClick(view()->viewport(), Qt::LeftButton, {}, middleOf(item));
        QTRY_COMPARE(context().debugger().place().item, item);
        settle();
        QTRY_COMPARE(context().debugger().current(), nodeOf(item));
        view()->setFocus();
        QTest::keyClick(view(), Qt::Key_Home);
        QTRY_COMPARE(context().debugger().place().item, ItemId{0});
        QTest::keyClick(view(), Qt::Key_Right);
        settle();
        QTRY_COMPARE(context().debugger().place().item, view()->scene().place);
        QVERIFY(view()->scene().place > 0);
        // The value at the place is there as it was in a plain run.
        QTest::keyClick(view(), Qt::Key_End);
        settle();
        QTRY_COMPARE(context().debugger().place().item, static_cast<ItemId>(view()->scene().timeline->size() - 1));
    }

    /// Also past a breakpoint, whose place is recorded, when the last step has only begun.
    void endPassesBreakpoints() {
        open(QStringLiteral("zoo:blocks_net"));
        for (int i = 0; i < 8; ++i) {
            context().debugger().step(session::debug::Target::Kind::Event);
            settle();
        }
        QTRY_VERIFY(!context().debugger().isBusy() && view()->isVisible());
        const auto last = static_cast<ItemId>(view()->scene().timeline->size() - 1);
        QVERIFY(last > 6);
        QVERIFY(context().session().debugger().addBreakpoint(
            '`' + context().model().graph().node(nodeOf(operationNear(last / 2))).name + '`'));
        view()->setFocus();
        QTest::keyClick(view(), Qt::Key_Home);
        QTRY_COMPARE(context().debugger().place().item, ItemId{0});
        QTest::keyClick(view(), Qt::Key_End);
        settle();
        QTRY_COMPARE(context().debugger().place().item, last);
    }

    /// Stepping grows it; Right at the end of what was done goes on with the run.
    void itGrowsWithTheRun() {
        open(QStringLiteral("zoo:blocks_net"));
        context().debugger().step(session::debug::Target::Kind::Into);
        settle();
        QTRY_VERIFY(view()->isVisible());
        const std::size_t before = view()->scene().timeline->size();
        view()->setFocus();
        QVERIFY(!view()->scene().isComplete);
        QTest::keyClick(view(), Qt::Key_Right);
        settle();
        QTRY_VERIFY(view()->scene().timeline->size() > before);
        for (int i = 0; i < 20; ++i) {
            QTest::keyClick(view(), Qt::Key_Right);
            settle();
        }
        QTRY_VERIFY(view()->scene().isComplete);
    }

    void theSelectedValueIsMarked() {
        open(QStringLiteral("zoo:blocks_net"));
        debugToTheEnd();
        const ItemId item = operationNear(2);
        context().navigation().select(nodeOf(item));
        settle();
        const auto& accesses = view()->scene().accesses;
        QCOMPARE(accesses.writes, (std::vector<ItemId>{item}));
        QVERIFY(!accesses.reads.empty() && accesses.reads.front() > item);
        QCOMPARE(view()->scene().selected, (*view()->scene().timeline)[item].expr);
        QVERIFY(panel()->accessText().contains(QStringLiteral("writes 1")));
        // And what is current here is selected there.
        const ItemId other = operationNear(view()->scene().timeline->size() - 2);
        QTest::mouseClick(view()->viewport(), Qt::LeftButton, {}, middleOf(other));
        view()->setFocus();
        QTest::keyClick(view(), Qt::Key_Return);
        settle();
        QTRY_COMPARE(context().navigation().selection().node, nodeOf(other));
    }

    void widthFollowsTheAction() {
        open(QStringLiteral("zoo:blocks_net"));
        debugToTheEnd();
        QAction* byTime = m_window->actions().action(QStringLiteral("view.timeline_time"));
        QVERIFY(!byTime->isChecked());
        const QKeyCombination keys = byTime->shortcut()[0];
        key(keys.key(), keys.keyboardModifiers());
        QVERIFY(byTime->isChecked());
        QCOMPARE(view()->scale(), panels::TimelineScale::Time);
        key(keys.key(), keys.keyboardModifiers());
        QCOMPARE(view()->scale(), panels::TimelineScale::Uniform);
    }

    /// The budget that is set is the budget of the next run, and the footer tells it.
    void memoryIsTold() {
        open(QStringLiteral("zoo:blocks_net"));
        context().session().debugger().setLimits({std::size_t{1} << 20, 0, {}});
        debugToTheEnd();
        QVERIFY2(panel()->keptText().contains(QStringLiteral("of 1.0 MiB in memory")), qPrintable(panel()->keptText()));
    }

  private:
    QDockWidget* dock() { return m_window->docks().dock(QStringLiteral("timeline")); }
    TimelinePanel* panel() { return static_cast<TimelinePanel*>(m_window->docks().panel(QStringLiteral("timeline"))); }
    TimelineView* view() { return panel()->view(); }
    void debugToTheEnd() {
        context().debugger().restart();
        QTRY_VERIFY(context().debugger().place().isEnd && !context().debugger().isRunning());
        settle();
        QTRY_VERIFY(view()->scene().isComplete && view()->scene().isEnd);
    }
    /// The first operation at or after a step.
    ItemId operationNear(std::size_t at) {
        const auto& timeline = *view()->scene().timeline;
        auto item = static_cast<ItemId>(at);
        while (timeline[item].kind != Item::Kind::Operation ||
               !context().model().graph().expr(timeline[item].expr).bodies.empty())
            ++item;
        return item;
    }
    graph::NodeId nodeOf(ItemId item) {
        return context().model().graph().expr((*view()->scene().timeline)[item].expr).outputs.front();
    }
    QPoint middleOf(ItemId item) { return view()->rectOf(item).center().toPoint(); }
};

QTEST_MAIN(TestTimelinePanel)

}  // namespace tst_timeline_panel

#include "tst_timeline_panel.moc"
