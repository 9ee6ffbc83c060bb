// What a person at the desktop expects of the window itself: panels behind tabs, the wheel, what opening to a depth
// shows, two windows beside each other, Escape in the help, the menu of a module. By real events in the real window.

#include <QComboBox>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QFile>
#include <QHeaderView>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QScreen>
#include <QTableView>
#include <QTextBrowser>
#include <QWheelEvent>

#include "tests/support/window_fixture.h"
#include "ui/dialogs/help_viewer.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/models/module_result.h"
#include "ui/widgets/search_field.h"
#include "ui/window/panel_table.h"
#include "ui/window/placement.h"

namespace tst_window_manners {

using namespace sonde;
using window::MainWindow;

class TestWindowManners : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void aKeyLeadsToAPanelAndBack_data();
    void aKeyLeadsToAPanelAndBack();
    void theWheelDoesWhatIsSaidOfIt();
    void whatIsOpenedToADepthIsSeen_data();
    void whatIsOpenedToADepthIsSeen();
    void framesStayInTheRoom();
    void windowsBesideEachOtherAreWhole();
    void aWindowThatGrowsStaysOnTheScreen();
    void headingsAreWhole();
    void escapeClosesTheHelp_data();
    void escapeClosesTheHelp();
    void aModulesMenuHasWatchAndEndPoints();
    void aClosedModuleShowsItsWatchedValue();

  private:
    bool isSeen(const QString& panel) {
        return m_window->docks().dock(panel)->isVisible() && !m_window->docks().dock(panel)->visibleRegion().isEmpty();
    }
    void press(const QKeySequence& keys) { key(keys[0].key(), keys[0].keyboardModifiers()); }
    void wheel(Qt::KeyboardModifiers modifiers) {
        const QPointF at(300, 200);
        QWheelEvent event(at, canvas()->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, modifiers, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(canvas(), &event);
        settle();
    }
    /// The context menu as a right click in the middle of a rectangle opens it.
    QMenu* menuAt(const QRectF& rect) {
        const QPoint at = rect.center().toPoint();
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, canvas()->mapToGlobal(at));
        QApplication::sendEvent(canvas(), &event);
        return canvas()->findChild<QMenu*>();
    }
    static QAction* actionOf(QMenu* menu, const QString& text) {
        for (QAction* action : menu->actions())
            if (action->text().remove(u'&') == text) return action;
        return nullptr;
    }
    graph::ScopeId scope(const char* module) { return context().navigation().selectionOf(QLatin1String(module)).scope; }
};

void TestWindowManners::aKeyLeadsToAPanelAndBack_data() {
    QTest::addColumn<QString>("panel");
    for (const panels::PanelInfo& info : window::panelTable()) QTest::newRow(qPrintable(info.id)) << info.id;
}

void TestWindowManners::aKeyLeadsToAPanelAndBack() {
    QFETCH(QString, panel);
    open(file("mlp_functional.onnx"));
    const QKeySequence keys = m_window->actions().shortcuts("panel." + panel).front();
    QAction* action = m_window->actions().action("panel." + panel);
    const auto hasFocus = [&] {
        QWidget* focus = QApplication::focusWidget();
        return focus && (m_window->docks().dock(panel) == focus || m_window->docks().dock(panel)->isAncestorOf(focus));
    };
    press(keys);  // from the graph
    QVERIFY(isSeen(panel));
    QVERIFY(action->isChecked());
    QVERIFY2(hasFocus(), "it has the keyboard");
    canvas()->setFocus();
    press(keys);
    QVERIFY2(isSeen(panel), "the key of a panel that is seen leads to it");
    QVERIFY(hasFocus());
    // Another one of its area in front: it is open, but not seen.
    for (const panels::PanelInfo& info : window::panelTable()) {
        QDockWidget* other = m_window->docks().dock(info.id);
        if (other->isHidden() || !m_window->tabifiedDockWidgets(m_window->docks().dock(panel)).contains(other))
            continue;
        other->raise();
        QTRY_VERIFY(!isSeen(panel));
        press(keys);
        QVERIFY2(isSeen(panel), qPrintable(other->objectName()));
    }
    QTest::keyClick(QApplication::focusWidget(), keys[0].key(), keys[0].keyboardModifiers());
    QVERIFY2(m_window->docks().dock(panel)->isHidden(), "the key of a panel with the keyboard leads back");
    QVERIFY(!action->isChecked());
    QCOMPARE(QApplication::focusWidget(), canvas());
}

/// Settings, help and README say the same, and the wheel does it.
void TestWindowManners::theWheelDoesWhatIsSaidOfIt() {
    open(file("resnet18_slim.onnx"));
    const auto does = [this](Qt::KeyboardModifiers modifiers) {
        const canvas::Camera before = canvas()->view().camera();
        wheel(modifiers);
        const canvas::Camera after = canvas()->view().camera();
        const QPointF moved = after.centre - before.centre;
        if (before.scale != after.scale) return QStringLiteral("zooms");
        return moved.y() > 0 && moved.x() == 0   ? QStringLiteral("scrolls")
               : moved.x() > 0 && moved.y() == 0 ? QStringLiteral("scrolls sideways")
                                                 : QStringLiteral("?");
    };
    struct Row {
        bool zooms;
        QString plain, ctrl, shift, both;
    };
    for (const Row& row : {Row{true, "zooms", "scrolls", "zooms", "scrolls sideways"},
                           Row{false, "scrolls", "zooms", "scrolls sideways", "zooms"}}) {
        canvas()->interaction().setWheelZooms(row.zooms);
        QCOMPARE(does(Qt::NoModifier), row.plain);
        QCOMPARE(does(Qt::ControlModifier), row.ctrl);
        QCOMPARE(does(Qt::ShiftModifier), row.shift);
        QCOMPARE(does(Qt::ControlModifier | Qt::ShiftModifier), row.both);
    }
    dialogs::SettingsDialog settings({}, m_window.get());
    const auto* choice = settings.findChild<QComboBox*>(QStringLiteral("wheel"));
    QVERIFY(choice);
    QCOMPARE(choice->itemText(0), QStringLiteral("Zooms; Ctrl+wheel scrolls"));
    QCOMPARE(choice->itemText(1), QStringLiteral("Scrolls; Ctrl+wheel zooms"));
    QCOMPARE(m_window->actions().info("view.wheel_zooms").toolTip,
             QStringLiteral("On: the wheel zooms and Ctrl+wheel scrolls; off: the wheel scrolls and Ctrl+wheel zooms"));
    const auto page = [](const char* name) {
        QFile help(QStringLiteral(SONDE_SOURCE_DIR "/resources/help/") + QLatin1String(name));
        return help.open(QIODevice::ReadOnly) ? QString::fromUtf8(help.readAll()) : QString();
    };
    const QString keys = page("keys.md"), canvasPage = page("canvas.md");
    QVERIFY(keys.contains(
        QStringLiteral("| wheel | zooms about the pointer |\n| Ctrl+wheel | scrolls; with Shift as well, sideways |")));
    QVERIFY(canvasPage.contains(QStringLiteral(
        "| move | drag the background, or Ctrl+wheel; with Shift as well, sideways |\n| zoom | wheel, ")));
    QVERIFY(canvasPage.contains(QStringLiteral("after Ctrl+M the wheel scrolls and Ctrl+wheel zooms")));
    QVERIFY(!keys.contains(QStringLiteral("Shift+wheel")) && !canvasPage.contains(QStringLiteral("Shift+wheel")));
}

void TestWindowManners::whatIsOpenedToADepthIsSeen_data() {
    QTest::addColumn<QString>("model");
    for (const char* model :
         {"zoo:densenet121", "zoo:resnet50", "vit_small.onnx", "gpt_mini.script.pt", "unet_small.trace.pt"})
        QTest::addRow("%s", model) << (QString(model).startsWith("zoo:") ? QString(model) : file(model));
}

void TestWindowManners::whatIsOpenedToADepthIsSeen() {
    QFETCH(QString, model);
    open(model);
    const QKeySequence depths[] = {QKeySequence("Ctrl+Shift+0"), QKeySequence("Ctrl+Shift+1"),
                                   QKeySequence("Ctrl+Shift+2"), QKeySequence("Ctrl+Shift+3")};
    for (const int depth : {1, 2, 3}) {
        press(depths[0]);
        press(QKeySequence("Space"));
        press(depths[depth]);
        const QRectF shown = canvas()->view().camera().visible(canvas()->size());
        int open = 0, seen = 0;
        for (const layout::SceneItem& item : canvas()->view().scene()->items) {
            if (!item.what.open) continue;
            ++open;
            seen += shown.intersects(canvas::toQt(item.rect));
        }
        QVERIFY(open > 0);
        QVERIFY2(seen > 0, "nothing that was opened is in view");
        QVERIFY2(shown.contains(canvas::toQt(canvas()->view().scene()->bounds)), "what was fitted is fitted again");
        QCOMPARE(seen, open);
    }
}

/// Hand-worked: a screen of 1000 x 800 at (0, 40), below a bar of the desktop.
void TestWindowManners::framesStayInTheRoom() {
    const QRect room(0, 40, 1000, 800);
    QCOMPARE(window::within({0, 0, 500, 840}, room), QRect(0, 40, 500, 800));
    QCOMPARE(window::within({900, 100, 300, 200}, room), QRect(700, 100, 300, 200));
    QCOMPARE(window::within({-50, 700, 300, 200}, room), QRect(0, 640, 300, 200));
    QCOMPARE(window::within({10, 50, 20, 30}, room), QRect(10, 50, 20, 30));
    // One that cannot be as small keeps its title bar, above and to the left, in the room.
    QCOMPARE(window::within({500, 40, 500, 800}, room, {1200, 900}), QRect(0, 40, 1200, 900));
    QCOMPARE(window::within({500, 40, 500, 800}, room, {600, 100}), QRect(400, 40, 600, 800));
}

void TestWindowManners::windowsBesideEachOtherAreWhole() {
    open(file("mlp_functional.onnx"));
    const QRect room = m_window->screen()->availableGeometry();
    const std::unique_ptr<MainWindow> other(m_window->openBeside());
    other->setAttribute(Qt::WA_DeleteOnClose, false);
    QVERIFY(QTest::qWaitForWindowExposed(other.get()));
    const auto isWhole = [&](const MainWindow& one) {
        const QRect frame = one.frameGeometry();
        return room.contains(frame.topLeft()) && frame.right() <= room.right() && frame.bottom() <= room.bottom();
    };
    QTRY_VERIFY2(isWhole(*m_window), "the first window's frame is on the screen");
    const auto text = [](const QRect& r) {
        return QStringLiteral("%1,%2 %3x%4").arg(r.x()).arg(r.y()).arg(r.width()).arg(r.height());
    };
    QTRY_VERIFY2(isWhole(*other), qPrintable(text(room) + " | " + text(m_window->frameGeometry()) + " | " +
                                             text(other->frameGeometry()) + " | " + text(other->geometry())));
    QVERIFY(m_window->frameGeometry().left() < other->frameGeometry().left());
    // They lie over each other only as far as what is in them leaves no choice.
    if (m_window->frameGeometry().width() <= room.width() / 2)
        QVERIFY(!m_window->frameGeometry().intersects(other->frameGeometry()));
    QTRY_VERIFY_WITH_TIMEOUT(other->isIdle(), 60000);
    other->close();
}

/// What is in it makes it larger: by what is shown after a run, and by as much as is asked for.
void TestWindowManners::aWindowThatGrowsStaysOnTheScreen() {
    open(file("resnet18_slim.onnx"));
    const QRect room = m_window->screen()->availableGeometry();
    const std::unique_ptr<MainWindow> other(m_window->openBeside());
    other->setAttribute(Qt::WA_DeleteOnClose, false);
    QVERIFY(QTest::qWaitForWindowExposed(other.get()));
    QTRY_VERIFY_WITH_TIMEOUT(other->isIdle(), 60000);
    QTRY_VERIFY(room.contains(other->frameGeometry()));
    other->context().runs().run();
    QTRY_VERIFY_WITH_TIMEOUT(other->context().runs().recording() && other->isIdle(), 60000);
    other->context().navigation().select(other->context().model().graph().outputs().front());
    QTRY_VERIFY_WITH_TIMEOUT(other->isIdle(), 60000);
    QVERIFY(room.contains(other->frameGeometry()));
    const int width = other->width();
    other->setMinimumWidth(width + 60);
    QTRY_COMPARE(other->width(), width + 60);
    QTRY_VERIFY(room.contains(other->frameGeometry()));
    // Where the user has put it half off the screen it stays.
    other->move(room.right() - 100, room.top() + 20);
    const QPoint place = other->pos();
    other->setMinimumWidth(width + 80);
    QTRY_COMPARE(other->width(), width + 80);
    QCOMPARE(other->pos(), place);
    other->close();
}

void TestWindowManners::headingsAreWhole() {
    open(file("mlp_functional.onnx"));
    int count = 0;
    for (const char* name : {"nodeTable", "watchTable", "endTable", "differenceTable", "instanceTable"}) {
        const auto* table = m_window->findChild<QTableView*>(QLatin1String(name));
        QVERIFY2(table, name);
        for (int column = 0; column < table->model()->columnCount(); ++column, ++count) {
            const QString title = table->model()->headerData(column, Qt::Horizontal).toString();
            QVERIFY2(table->columnWidth(column) >= table->horizontalHeader()->sectionSizeHint(column),
                     qPrintable(QLatin1String(name) + u' ' + title));
        }
    }
    QVERIFY(count > 40);
}

void TestWindowManners::escapeClosesTheHelp_data() {
    QTest::addColumn<QString>("where");
    for (const char* where : {"as it opens", "search", "search with a text", "pages", "page"})
        QTest::newRow(where) << where;
}

void TestWindowManners::escapeClosesTheHelp() {
    QFETCH(QString, where);
    QTest::keyClick(m_window.get(), Qt::Key_F1);
    auto* help = m_window->findChild<dialogs::HelpViewer*>();
    QVERIFY(help && help->isVisible());
    help->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(help));
    if (where.startsWith(QStringLiteral("search"))) help->searchField()->activate();
    if (where.endsWith(QStringLiteral("text"))) QTest::keyClicks(help->focusWidget(), QStringLiteral("conv"));
    if (where == QStringLiteral("pages")) help->pages()->setFocus();
    if (where == QStringLiteral("page")) help->browser()->setFocus();
    QTest::keyClick(help->focusWidget() ? help->focusWidget() : help, Qt::Key_Escape);
    QVERIFY(!help->isVisible());
    activate();
    QTest::keyClick(m_window.get(), Qt::Key_F1);
    QVERIFY2(help->isVisible(), "it comes again");
    help->close();
}

void TestWindowManners::aModulesMenuHasWatchAndEndPoints() {
    open(file("resnet18_slim.onnx"));
    const graph::NodeId output =
        models::resultOf(context().model(), context().navigation().selectionOf(scope("layer1")));
    QVERIFY(output.valid());
    for (const bool isOpen : {false, true}) {
        context().canvases().active().setExpanded(scope("layer1"), isOpen);
        settle();
        context().navigation().clearSelection();
        QRectF title = canvas()->view().rectOf(scope("layer1"));
        if (isOpen) title = QRectF(title.left() + title.width() * 0.35, title.top() + 2, 4, 4);
        for (const auto& [what, is] : {std::pair<QString, bool (context::Points::*)(graph::NodeId) const>{
                                           "Watch Point", &context::Points::isWatched},
                                       {"End Point", &context::Points::isEnd}}) {
            for (const bool sets : {true, false}) {
                QMenu* menu = menuAt(title);
                QVERIFY(menu);
                QCOMPARE(context().navigation().selection().scope, scope("layer1"));
                QAction* action = actionOf(menu, (sets ? QStringLiteral("Set ") : QStringLiteral("Clear ")) + what);
                QVERIFY2(action, qPrintable(what));
                QVERIFY(actionOf(menu, QStringLiteral("Run to Here")));
                action->trigger();
                delete menu;
                settle();
                QCOMPARE((context().points().*is)(output), sets);
            }
        }
    }
}

void TestWindowManners::aClosedModuleShowsItsWatchedValue() {
    open(file("resnet18_slim.onnx"));
    const graph::ScopeId layer = scope("layer1");
    context().canvases().active().setExpanded(layer, false);
    settle();
    const QSizeF without = canvas()->view().rectOf(layer).size() / canvas()->view().camera().scale;
    context().navigation().navigateTo(context().navigation().selectionOf(layer));
    press(QKeySequence("F9"));
    run();
    const graph::NodeId output = models::resultOf(context().model(), context().navigation().selectionOf(layer));
    QVERIFY(context().points().isWatched(output));
    QVERIFY2(canvas()->view().rectOf(layer).width() / canvas()->view().camera().scale > without.width() + 40,
             "its card has room for the value");
    const canvas::SceneMarks marks = canvas()->snapshot().marks;
    QCOMPARE(marks.moduleValue(layer), output);
    const canvas::Preview* preview = marks.preview(output);
    QVERIFY(preview && !preview->image.isNull());
    // And it is drawn: the picture on the card has the colours of the preview's.
    canvas()->navigation().fitSelection();
    settle();
    const QImage shot = canvas()->grab().toImage();
    const QRectF card = canvas()->view().rectOf(layer);
    int drawn = 0;
    for (int x = static_cast<int>(card.left()); x < static_cast<int>(card.right()); ++x)
        for (int y = static_cast<int>(card.top()); y < static_cast<int>(card.bottom()); ++y)
            drawn += shot.rect().contains(x, y) && shot.pixel(x, y) == preview->image.pixel(0, 0);
    QVERIFY2(drawn > 4, "the preview is on the card");
    // A node inside that is not the module's value shows nothing on it but its mark.
    context().points().clearWatched();
    context().points().setWatched(node("qualname:layer1.0.conv1 op:Conv"), true);
    settle();
    QVERIFY(!canvas()->snapshot().marks.moduleValue(layer).valid());
    QVERIFY(canvas()->snapshot().marks.of(canvas()->view().scene()->itemOf(layer)) & canvas::kWatched);
}

QTEST_MAIN(TestWindowManners)

}  // namespace tst_window_manners

#include "tst_window_manners.moc"
