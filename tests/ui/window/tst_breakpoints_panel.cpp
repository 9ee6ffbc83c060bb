// Breakpoints in the real window, by keys and clicks, on the demo in which NaN comes up: four rows of values, and the
// variance of the last one is negative. Hits are counted by hand.

#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeView>
#include <QtTest>

#include "tests/support/window_fixture.h"
#include "ui/panels/breakpoints/breakpoints_panel.h"

namespace tst_breakpoints_panel {

using namespace sonde;
using models::BreakpointTableModel;
using Column = BreakpointTableModel::Column;

class TestBreakpointsPanel : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow({1400, 900});
        open(QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/find-the-nan.onnx"));
        context().inputs().setSpec(QStringLiteral("x"),
                                   {QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/find-the-nan.npy"), {}});
        settle();
    }
    void cleanup() { closeWindow(); }

    void aKeySetsAndClearsOne();
    void breakOnNanIsSwitched();
    void theRunStopsAtNanAndCountsIt();
    void aLineIsTyped();
    void anErrorShowsItsColumn();
    void rowsAreEditedByKeys();
    void logPointsWriteToTheLog();
    void theCanvasMarksThem();
    void aLayerIsMarkedAtEachCall();
    void aSessionFileKeepsThem();

  private:
    panels::BreakpointsPanel* panel() {
        return static_cast<panels::BreakpointsPanel*>(m_window->docks().panel(QStringLiteral("breakpoints")));
    }
    QTableView* view() { return panel()->view(); }
    QString cell(int row, int column) { return panel()->model().index(row, column).data().toString(); }
    int rows() { return panel()->model().rowCount(); }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    void debug() {
        context().debugger().restart();
        QTRY_VERIFY_WITH_TIMEOUT(context().debugger().isStopped() && !context().debugger().isBusy(), 30000);
        settle();
    }
    void add(const char* where, const char* expression, bool isLog = false) {
        key(Qt::Key_2, Qt::AltModifier | Qt::ShiftModifier);  // shows the panel
        auto* place = panel()->findChild<QLineEdit*>(QStringLiteral("breakpointPlace"));
        auto* text = panel()->findChild<QLineEdit*>(QStringLiteral("breakpointCondition"));
        QTest::mouseClick(place, Qt::LeftButton);
        place->clear();
        text->clear();
        QTest::keyClicks(place, QLatin1String(where));
        QTest::keyClick(place, Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(text));
        QTest::keyClicks(text, QLatin1String(expression));
        panel()->findChild<QCheckBox*>(QStringLiteral("breakpointIsLog"))->setChecked(isLog);
        QTest::keyClick(text, Qt::Key_Return);
        settle();
    }
};

void TestBreakpointsPanel::aKeySetsAndClearsOne() {
    QVERIFY(!panel()->hasContent());
    context().navigation().navigateTo(named("norm2_var"));
    settle();
    key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(rows(), 1);
    QCOMPARE(cell(0, Column::Place), QStringLiteral("norm2_var"));
    QVERIFY(panel()->hasContent());
    QTRY_VERIFY(panel()->isVisible());
    key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(rows(), 0);
    // What no operation computes is refused, and said.
    context().navigation().navigateTo(named("x"));
    settle();
    key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(rows(), 0);
    QVERIFY(panel()->errorText().contains(QStringLiteral("cannot stop there")));
    // A module.
    context().navigation().navigateTo(context().navigation().selectionOf(QStringLiteral("encoder.block2")));
    settle();
    key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(cell(0, Column::Place), QStringLiteral("module encoder.block2"));
}

/// The first one brings the panel to the front; pressed again, the keys remove it.
void TestBreakpointsPanel::breakOnNanIsSwitched() {
    run();
    const auto press = [this] { key(Qt::Key_1, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier); };
    press();
    settle();
    QCOMPARE(rows(), 1);
    QTRY_VERIFY(panel()->isVisible() && !panel()->visibleRegion().isEmpty());
    press();
    settle();
    QCOMPARE(rows(), 0);
}

void TestBreakpointsPanel::theRunStopsAtNanAndCountsIt() {
    key(Qt::Key_1, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(cell(0, Column::Place), QStringLiteral("first NaN"));
    QCOMPARE(cell(0, Column::Hits), QStringLiteral("0"));
    debug();
    QCOMPARE(context().debugger().current(), named("norm2_log_var"));
    QCOMPARE(cell(0, Column::Hits), QStringLiteral("1"));
    // The row leads to where it came up.
    context().navigation().clearSelection();
    QTest::mouseClick(view()->viewport(), Qt::LeftButton, {},
                      view()->visualRect(panel()->model().index(0, Column::Hits)).center());
    settle();
    QCOMPARE(context().navigation().selection().node, named("norm2_log_var"));
    context().debugger().resume();
    QTRY_VERIFY_WITH_TIMEOUT(context().debugger().place().isEnd, 30000);
    QCOMPARE(cell(0, Column::Hits), QStringLiteral("1"));
}

void TestBreakpointsPanel::aLineIsTyped() {
    add("op:Relu", "");
    add("", "min(norm2_var) < 0");
    QCOMPARE(rows(), 2);
    QCOMPARE(cell(0, Column::Place), QStringLiteral("operator Relu"));
    QCOMPARE(cell(1, Column::Place), QStringLiteral("condition"));
    debug();  // stem, block 1, the condition, block 2
    QStringList places;
    while (!context().debugger().place().isEnd && places.size() < 9) {
        places << QString::fromStdString(context().model().graph().node(context().debugger().current()).name);
        context().debugger().resume();
        QTRY_VERIFY_WITH_TIMEOUT(context().debugger().isStopped() && !context().debugger().isBusy(), 30000);
    }
    QCOMPARE(places, (QStringList{"stem_out", "block1_out", "norm2_var", "block2_out"}));
    QCOMPARE(cell(0, Column::Hits), QStringLiteral("3"));
    QCOMPARE(cell(1, Column::Hits), QStringLiteral("1"));
}

void TestBreakpointsPanel::anErrorShowsItsColumn() {
    add("fc1", "max(fc1) > nothing");
    QCOMPARE(rows(), 0);
    QVERIFY2(panel()->errorText().contains(QStringLiteral("column 12")), qPrintable(panel()->errorText()));
    QVERIFY(panel()->errorText().contains(QStringLiteral("max(fc1) &gt; <u><b>n</b></u>othing")));
    add("nothing", "");
    QCOMPARE(rows(), 0);
    QVERIFY(panel()->errorText().contains(QStringLiteral("nothing")));
    add("fc1", "max(fc1) > 0");
    QCOMPARE(rows(), 1);
    QVERIFY(panel()->errorText().isEmpty());
    // What only the run shows is in the row.
    add("fc1", "fc1[9, 0] > 0");
    debug();
    QVERIFY(!cell(1, Column::Problem).isEmpty());
    QVERIFY(panel()->errorText().contains(QStringLiteral("<u>")));
}

void TestBreakpointsPanel::rowsAreEditedByKeys() {
    add("op:MatMul", "");
    view()->setFocus();
    view()->selectRow(0);
    QTest::keyClick(view(), Qt::Key_Space);
    QVERIFY(!context().breakpoints().all().front().isEnabled);
    QTest::keyClick(view(), Qt::Key_Space);
    QVERIFY(context().breakpoints().all().front().isEnabled);
    QTest::keyClick(view(), Qt::Key_Return);
    auto* editor = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(editor);
    QTest::keyClicks(editor, QStringLiteral("max(stem) > 0"));
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(cell(0, Column::Expression), QStringLiteral("max(stem) > 0"));
    QVERIFY(context().breakpoints().setIgnored(context().breakpoints().all().front().id, 1));
    settle();
    // Matrix products: stem (its result is not there yet), fc1, fc2, logits; the first one met is let pass.
    debug();
    QCOMPARE(context().debugger().current(), named("fc2_matmul"));
    QCOMPARE(cell(0, Column::Hits), QStringLiteral("2"));
    view()->selectRow(0);
    QTest::keyClick(view(), Qt::Key_C, Qt::ControlModifier);
    QVERIFY(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("operator MatMul\tmax(stem) > 0\t2\t1")));
    QTest::keyClick(view(), Qt::Key_Delete);
    QCOMPARE(rows(), 0);
}

void TestBreakpointsPanel::logPointsWriteToTheLog() {
    add("norm2_var", "min(norm2_var) < 0", true);
    debug();
    QVERIFY(context().debugger().place().isEnd);
    QCOMPARE(cell(0, Column::Hits), QStringLiteral("1"));
    QCOMPARE(cell(0, Column::Written), QStringLiteral("true"));
    const auto& all = context().messages().all();
    const auto found = std::find_if(all.rbegin(), all.rend(), [](const context::Message& message) {
        return message.text.startsWith(QStringLiteral("min(norm2_var) < 0 = "));
    });
    QVERIFY(found != all.rend());
    QCOMPARE(found->where, QStringLiteral("norm2_var"));
    QCOMPARE(context().messages().nodeOf(*found), named("norm2_var"));
}

void TestBreakpointsPanel::theCanvasMarksThem() {
    context().navigation().navigateTo(named("norm2_var"));
    settle();
    key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    const auto flagsOf = [this](const char* name) {
        const auto item = canvas()->view().scene()->itemOf(context().model().graph().node(named(name)).producer);
        return item ? canvas()->marks().of(item) : canvas::ItemFlags{0};
    };
    QVERIFY(flagsOf("norm2_var") & canvas::kBreak);
    QVERIFY(!(flagsOf("norm2_var") & (canvas::kBreakOff | canvas::kBreakHit)));
    context().breakpoints().setEnabled(context().breakpoints().all().front().id, false);
    settle();
    QVERIFY(flagsOf("norm2_var") & canvas::kBreakOff);
    context().breakpoints().setEnabled(context().breakpoints().all().front().id, true);
    debug();
    QVERIFY(flagsOf("norm2_var") & canvas::kBreakHit);
    // A closed module that contains one.
    key(Qt::Key_0, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(rows(), 0);
    QVERIFY(!(flagsOf("norm2_var") & canvas::kBreak));
}

/// A module whose calls are single operations: three of them, and not its neighbours.
void TestBreakpointsPanel::aLayerIsMarkedAtEachCall() {
    open(QStringLiteral("zoo:shared_twice"));
    add("block.lin", "");
    QCOMPARE(rows(), 1);
    const auto isMarked = [this](const char* name) {
        const auto item = canvas()->view().scene()->itemOf(context().model().graph().node(named(name)).producer);
        return item && (canvas()->marks().of(item) & canvas::kBreak) != 0;
    };
    context().canvases().active().expandToDepth(3);
    settle();
    for (const char* call : {"block_lin", "block_lin_1", "block_lin_2"}) QVERIFY2(isMarked(call), call);
    QVERIFY(!isMarked("block_act") && !isMarked("proj"));
    // The key on one of them clears it.
    context().navigation().navigateTo(named("block_lin_1"));
    settle();
    canvas()->setFocus();
    key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(rows(), 0);
}

/// Opening a session file by itself writes nothing else into it, and neither does a change later on.
void TestBreakpointsPanel::aSessionFileKeepsThem() {
    closeWindow();
    QTemporaryDir folder;
    for (const char* name : {"find-the-nan.onnx", "find-the-nan.npy", "find-the-nan.sonde"}) {
        const QString from = QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/") + QLatin1String(name);
        QVERIFY(QFile::copy(from, folder.filePath(QLatin1String(name))));
        QFile::setPermissions(folder.filePath(QLatin1String(name)), QFile::ReadOwner | QFile::WriteOwner);
    }
    const QString path = folder.filePath(QStringLiteral("find-the-nan.sonde"));
    const auto points = [&] {
        QFile file(path);
        return file.open(QIODevice::ReadOnly)
                   ? QJsonDocument::fromJson(file.readAll()).object().value("breakpoints").toArray()
                   : QJsonArray();
    };
    const auto bytesOf = [](const QString& name) {
        QFile file(name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    const QByteArray shipped = bytesOf(path);
    const QJsonArray before = points();
    QCOMPARE(before.size(), 1);
    // Once as a model that the window does not know, once as one that it remembers.
    for (int i = 0; i < 2; ++i) {
        openWindow({1400, 900});
        open(path);
        QCOMPARE(context().breakpoints().all().size(), 1U);
        // That nothing is written: longer than changes are gathered and a file takes.
        if (i == 0) {
            QTest::qWait(500);
            QCOMPARE(bytesOf(path), shipped);
        }
        QVERIFY(context().session().debugger().addLogPoint("norm2_var", "x"));
        QTRY_COMPARE(points().size(), 2);
        QVERIFY(context().session().debugger().removeBreakpoint(context().breakpoints().all().back().id));
        QTRY_COMPARE(points().size(), 1);
        QCOMPARE(points(), before);
        closeWindow();
    }
    openWindow({1400, 900});
}

QTEST_MAIN(TestBreakpointsPanel)

}  // namespace tst_breakpoints_panel

#include "tst_breakpoints_panel.moc"
