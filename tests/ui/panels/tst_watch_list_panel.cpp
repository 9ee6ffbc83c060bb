// The watch list in the window: expressions, groups, history and budget, by keys and clicks. Values are worked by hand:
// y = x + x, z = y * y, w = z + x.

#include <QAction>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTableView>
#include <QToolButton>

#include <fstream>

#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/panels/watch_list/history_delegate.h"
#include "ui/panels/watch_list/watch_list_panel.h"

namespace tst_watch_list_panel {

using namespace sonde;
using namespace sonde::test;
using models::WatchListModel;
namespace onnx = test::onnxfile;

class TestWatchListPanel : public WindowFixture {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString squares(const std::string& y = "y", const QString& file = QStringLiteral("squares.onnx")) const {
        const onnx::Graph graph{{{"Add", {"x", "x"}, {y}}, {"Mul", {y, y}, {"z"}}, {"Add", {"z", "x"}, {"w"}}},
                                {onnx::valueInfo("x", 1, {3})},
                                {onnx::valueInfo("w", 1, {3})},
                                {}};
        const QString path = m_folder.filePath(file);
        std::ofstream(path.toStdString(), std::ios::binary) << onnx::model(graph);
        return path;
    }
    panels::WatchListPanel& panel() {
        return *qobject_cast<panels::WatchListPanel*>(m_window->docks().panel(QStringLiteral("watches")));
    }
    QTableView* view() { return panel().watches()->view(); }
    QString cell(int row, int column) { return view()->model()->index(row, column).data().toString(); }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    /// Into the editor that is open in the table.
    void type(const QString& text, Qt::Key end = Qt::Key_Return) {
        auto* editor = qobject_cast<QLineEdit*>(QApplication::focusWidget());
        QVERIFY2(editor, QApplication::focusWidget() ? QApplication::focusWidget()->metaObject()->className() : "none");
        QTest::keyClick(editor, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(editor, text);
        QTest::keyClick(editor, end);
        QTRY_VERIFY(QApplication::focusWidget() != editor);
        settle();
    }
    void give(const QString& numbers) {
        context::InputSpec spec;
        spec.source = numbers;
        context().inputs().setSpec(QStringLiteral("x"), spec);
        settle();
    }
    void press(Qt::Key which, Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(view(), which, modifiers);
        QCoreApplication::processEvents();
        settle();
    }

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }

    /// Ctrl+F2, the text, Return; F5. Its result is in the list, on the node, and in the history.
    void anExpressionIsTypedAndFollowed() {
        open(squares());
        give(QStringLiteral("[1,2,3]"));
        context().navigation().select(named("y"));
        key(Qt::Key_F2, Qt::ControlModifier);
        type(QStringLiteral("sum(z) + x[0]"));
        QCOMPARE(view()->model()->rowCount(), 1);
        QCOMPARE(cell(0, WatchListModel::NameColumn), QStringLiteral("sum(z) + x[0]"));
        QCOMPARE(cell(0, WatchListModel::ValueColumn), QStringLiteral("not run yet"));
        run();
        QTRY_COMPARE(cell(0, WatchListModel::ValueColumn), QStringLiteral("57"));  // 4 + 16 + 36 + 1
        const auto scene = canvas()->view().scene();
        const auto item = scene->itemOf(context().model().graph().node(named("y")).producer);
        QVERIFY(item);
        const canvas::PinnedText* pinned = canvas()->marks().pinned(scene->item(item).what);
        QVERIFY(pinned);
        QCOMPARE(pinned->text, QStringLiteral("sum(z) + x[0] = 57"));
        give(QStringLiteral("[0,0,1]"));
        run();
        QTRY_COMPARE(cell(0, WatchListModel::ValueColumn), QStringLiteral("4"));
        const QVariantList history =
            view()->model()->index(0, WatchListModel::HistoryColumn).data(models::HistoryRole).toList();
        QCOMPARE(history, (QVariantList{57.0, 4.0}));
        QCOMPARE(view()->model()->index(0, WatchListModel::HistoryColumn).data(Qt::ToolTipRole).toString(),
                 QStringLiteral("of the last runs: 57, 4"));
        // The keyboard alone: Shift+F2 edits, Alt+Shift+P pins elsewhere, Ctrl+C copies, Delete removes.
        view()->setFocus();
        view()->setCurrentIndex(view()->model()->index(0, WatchListModel::NameColumn));
        press(Qt::Key_F2, Qt::ShiftModifier);
        type(QStringLiteral("w[2]"));
        QTRY_COMPARE(cell(0, WatchListModel::ValueColumn), QStringLiteral("5"));
        view()->setCurrentIndex(view()->model()->index(0, WatchListModel::NameColumn));
        context().navigation().select(named("z"));
        press(Qt::Key_P, Qt::AltModifier | Qt::ShiftModifier);
        QCOMPARE(cell(0, WatchListModel::ModuleColumn), QStringLiteral("on z"));
        QTest::mouseClick(panel().findChild<QToolButton*>(QStringLiteral("watchPlot")), Qt::LeftButton);
        QVERIFY(panel().watches()->history()->isVisible());
        view()->setFocus();
        press(Qt::Key_C, Qt::ControlModifier);
        QVERIFY2(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("w[2]")),
                 qPrintable(QGuiApplication::clipboard()->text()));
        press(Qt::Key_Delete);
        QCOMPARE(view()->model()->rowCount(), 0);
    }

    void whatIsWrongIsUnderlined() {
        open(squares());
        key(Qt::Key_F2, Qt::ControlModifier);
        type(QStringLiteral("max(z"));
        const QModelIndex index = view()->model()->index(0, WatchListModel::NameColumn);
        QCOMPARE(index.data(models::ErrorColumnRole).toInt(), 6);
        QVERIFY2(cell(0, WatchListModel::ValueColumn).contains(u"')' is missing"),
                 qPrintable(cell(0, WatchListModel::ValueColumn)));
        QVERIFY(index.data(Qt::ToolTipRole).toString().contains(u"Column 6"));
        view()->setFocus();
        view()->setCurrentIndex(index);
        press(Qt::Key_F2, Qt::ShiftModifier);
        type(QStringLiteral("max(z)"));
        QVERIFY(!index.data(models::ErrorColumnRole).isValid());
        // Space switches it off.
        press(Qt::Key_Space);
        QCOMPARE(cell(0, WatchListModel::ValueColumn), QStringLiteral("off"));
    }

    void matchesAndModulesAreWatched() {
        open(QStringLiteral("zoo:resnet18_slim"));
        key(Qt::Key_F, Qt::ControlModifier);
        QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("op:relu"));
        QTRY_VERIFY(!context().navigation().searchHits().empty());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_R,
                        Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
        settle();
        QCOMPARE(view()->model()->rowCount(), 1);
        QCOMPARE(cell(0, WatchListModel::NameColumn), QStringLiteral("op:relu"));
        QVERIFY(context().session().points().kept().size() >= 8);
        const std::size_t relus = context().session().points().kept().size();
        context().navigation().select(context().navigation().selectionOf(QStringLiteral("layer1")));
        key(Qt::Key_F9, Qt::AltModifier | Qt::ShiftModifier);
        QCOMPARE(cell(1, WatchListModel::NameColumn), QStringLiteral("inside layer1"));
        QVERIFY(context().session().points().kept().size() > relus);
        run();
        QCOMPARE(context().runs().recording()->kept.size() >= relus, true);
        view()->setFocus();
        view()->selectRow(1);
        press(Qt::Key_Delete);
        QCOMPARE(context().session().points().kept().size(), relus);
    }

    void aBudgetIsChosenAndTold() {
        open(squares());
        give(QStringLiteral("[1,2,3]"));
        context().points().setWatched(named("y"), true);
        run();
        QCOMPARE(cell(0, WatchListModel::KeptColumn), QStringLiteral("whole"));
        auto* options = panel().options();
        Q_EMIT options->menu()->aboutToShow();  // a menu that is open has a loop of its own
        QAction* statistics = nullptr;
        for (QAction* action : options->menu()->actions())
            if (action->text().remove(u'&') == QStringLiteral("Statistics")) statistics = action;
        QVERIFY(statistics);
        statistics->trigger();
        run();
        QCOMPARE(cell(0, WatchListModel::KeptColumn), QStringLiteral("statistics"));
        QCOMPARE(cell(0, WatchListModel::ValueColumn), QStringLiteral("statistics only"));
        QCOMPARE(cell(0, WatchListModel::MaxColumn), QStringLiteral("6"));
        session::WatchPolicy policy;
        policy.budgetBytes = 0;
        context().watches().setPolicy(policy);
        run();
        auto* budget = panel().findChild<QLabel*>(QStringLiteral("watchBudget"));
        QCOMPARE(budget->text(), QStringLiteral("1 of 1 values kept as statistics: budget 0 MiB"));
        context().watches().setPolicy({});
    }

    /// Points, groups and expressions come back with the model, also if it was exported again under other names.
    void theListOutlivesTheWindow() {
        open(squares());
        context().points().setWatched(named("y"), true);
        QVERIFY(context().watches().addGroup({session::WatchGroup::Kind::Query, "op:Mul"}));
        QVERIFY(context().watches().addExpression(QStringLiteral("max(x)"), named("z")));
        settle();
        closeWindow();
        openWindow();
        squares("renamed");
        open(m_folder.filePath(QStringLiteral("squares.onnx")));
        QCOMPARE(view()->model()->rowCount(), 3);
        QCOMPARE(cell(0, WatchListModel::NameColumn), QStringLiteral("renamed"));
        QCOMPARE(cell(0, WatchListModel::KeptColumn), QStringLiteral("found by structure"));
        QCOMPARE(cell(1, WatchListModel::ValueColumn), QStringLiteral("1 node"));
        QCOMPARE(cell(2, WatchListModel::ModuleColumn), QStringLiteral("on z"));
    }

    void linesPartWhereThereIsNoNumber() {
        const auto lines = panels::HistoryDelegate::linesOf({1.0, 3.0, QVariant(), 2.0}, QRectF(0, 0, 30, 10));
        QCOMPARE(lines.size(), std::size_t(2));
        QCOMPARE(lines[0], QPolygonF({QPointF(0, 10), QPointF(10, 0)}));
        QCOMPARE(lines[1], QPolygonF({QPointF(30, 5)}));
        const auto level = panels::HistoryDelegate::linesOf({2.0, 2.0}, QRectF(0, 0, 30, 10));
        QCOMPARE(level.front().front(), QPointF(0, 5));
        QVERIFY(panels::HistoryDelegate::linesOf({}, QRectF(0, 0, 30, 10)).empty());
    }
};

QTEST_MAIN(TestWatchListPanel)

}  // namespace tst_watch_list_panel

#include "tst_watch_list_panel.moc"
