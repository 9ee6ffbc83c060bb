// The mouse and key conventions that people bring from other programs, row by row, by real events in the real window;
// and that everything can be had by keys and is found in a menu with a word on what it does.

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>

#include <functional>
#include <set>

#include "tests/support/window_fixture.h"
#include "ui/actions/action_table.h"
#include "ui/window/search_bar.h"

namespace tst_conventions {

using namespace sonde;
using canvas::GraphCanvas;

class TestConventions : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void keys_data();
    void keys();
    void mouse_data();
    void mouse();
    void everyActionIsInAMenuWithKeyAndToolTip();
    void edgesAreFollowedByClickAndKey();

  private:
    struct Row {
        const char* name;
        const char* keys;                              ///< pressed on the canvas, one after the other
        std::function<void(TestConventions&)> before;  ///< may be empty
        std::function<bool(TestConventions&)> after;
    };
    static const std::vector<Row>& keyRows();
    static const std::vector<Row>& mouseRows();
    void press(const QString& keys) {
        for (const QString& one : keys.split(u' ', Qt::SkipEmptyParts)) {
            const QKeyCombination combination = QKeySequence::fromString(one)[0];
            key(combination.key(), combination.keyboardModifiers());
        }
    }
    void selectNode(const char* query) {
        context().navigation().navigateTo(node(query));
        settle();
    }
    context::Selection of(const char* module) { return context().navigation().selectionOf(QLatin1String(module)); }
    bool isSelected(const char* query) { return context().navigation().selection().node == node(query); }

    double m_number = 0;
    QPointF m_point;
};

const std::vector<TestConventions::Row>& TestConventions::keyRows() {
    using T = TestConventions;
    // clang-format off
    static const std::vector<Row> rows{
        {"Ctrl+F finds", "Ctrl+F", {}, [](T& t) { return t.m_window->searchBar()->isVisible(); }},
        {"Escape leaves the search", "Ctrl+F Esc", {}, [](T& t) { return !t.m_window->searchBar()->isVisible(); }},
        {"F3 goes on", "F3", [](T& t) { t.m_window->searchBar()->activate(QStringLiteral("op:Relu")); t.m_number = t.context().navigation().currentHit(); },
         [](T& t) { return t.context().navigation().currentHit() == t.m_number + 1; }},
        {"Shift+F3 goes back", "F3 Shift+F3", [](T& t) { t.m_window->searchBar()->activate(QStringLiteral("op:Relu")); t.m_number = t.context().navigation().currentHit(); },
         [](T& t) { return t.context().navigation().currentHit() == t.m_number; }},
        {"Ctrl+G goes to a node", "Ctrl+G", {}, [](T& t) { return t.m_window->searchBar()->isVisible(); }},
        {"Space fits", "Space", [](T& t) { t.canvas()->view().zoomReset(); t.canvas()->view().zoomBy(3); },
         [](T& t) { return t.canvas()->view().camera().visible(t.canvas()->size()).contains(canvas::toQt(t.canvas()->view().scene()->bounds)); }},
        {"Ctrl++ zooms in", "Ctrl++", [](T& t) { t.m_number = t.canvas()->view().camera().scale; }, [](T& t) { return t.canvas()->view().camera().scale > t.m_number; }},
        {"Ctrl+- zooms out", "Ctrl+-", [](T& t) { t.m_number = t.canvas()->view().camera().scale; }, [](T& t) { return t.canvas()->view().camera().scale < t.m_number; }},
        {"Ctrl+0 is the actual size", "Ctrl+0", [](T& t) { t.canvas()->view().zoomBy(2); }, [](T& t) { return t.canvas()->view().camera().scale == 1; }},
        {"Down follows an edge", "Down", [](T& t) { t.selectNode("qualname:conv1 op:Conv"); }, [](T& t) { return t.isSelected("qualname:relu op:Relu"); }},
        {"Up follows it back", "Up", [](T& t) { t.selectNode("qualname:relu op:Relu"); }, [](T& t) { return t.isSelected("qualname:conv1 op:Conv"); }},
        {"arrows turn with the direction", "Right", [](T& t) { t.context().canvases().active().setDirection(layout::Direction::LeftRight); t.settle(); t.selectNode("qualname:conv1 op:Conv"); },
         [](T& t) { return t.isSelected("qualname:relu op:Relu"); }},
        {"arrows turn with the direction, back", "Left", [](T& t) { t.context().canvases().active().setDirection(layout::Direction::LeftRight); t.settle(); t.selectNode("qualname:relu op:Relu"); },
         [](T& t) { return t.isSelected("qualname:conv1 op:Conv"); }},
        {"Return opens", "Return", [](T& t) { t.context().navigation().navigateTo(t.of("layer1")); t.settle(); }, [](T& t) { return t.context().canvases().active().isExpanded(t.of("layer1").scope); }},
        {"Return closes", "Return Return", [](T& t) { t.context().navigation().navigateTo(t.of("layer1")); t.settle(); }, [](T& t) { return !t.context().canvases().active().isExpanded(t.of("layer1").scope); }},
        {"Alt+Left goes back", "Alt+Left", [](T& t) { t.selectNode("qualname:conv1 op:Conv"); t.selectNode("op:Gemm"); }, [](T& t) { return t.isSelected("qualname:conv1 op:Conv"); }},
        {"Alt+Right goes forward", "Alt+Left Alt+Right", [](T& t) { t.selectNode("qualname:conv1 op:Conv"); t.selectNode("op:Gemm"); }, [](T& t) { return t.isSelected("op:Gemm"); }},
        {"Alt+Up goes to the module", "Alt+Up", [](T& t) { t.selectNode("qualname:layer1.0.conv1 op:Conv"); }, [](T& t) { return t.context().navigation().selection().qualname.startsWith(QStringLiteral("layer1.0")) && t.context().navigation().selection().isModule(); }},
        {"Backspace leaves the module", "Backspace", [](T& t) { t.context().canvases().active().setExpanded(t.of("layer1").scope, true); t.settle(); t.context().navigation().navigateTo(t.of("layer1.0")); t.settle(); },
         [](T& t) { return !t.context().canvases().active().isExpanded(t.of("layer1").scope); }},
        {"F5 runs", "F5", {}, [](T& t) { return QTest::qWaitFor([&t] { return t.context().runs().state() == context::RunState::Finished; }, 30000); }},
        {"F9 sets a watch point", "F9", [](T& t) { t.selectNode("op:Gemm"); }, [](T& t) { return t.context().points().isWatched(t.node("op:Gemm")); }},
        {"F9 again clears it", "F9 F9", [](T& t) { t.selectNode("op:Gemm"); }, [](T& t) { return t.context().points().watched().empty(); }},
        {"Shift+F9 sets an end point", "Shift+F9", [](T& t) { t.selectNode("op:Gemm"); }, [](T& t) { return t.context().points().isEnd(t.node("op:Gemm")); }},
        {"Ctrl+F10 runs to here", "Ctrl+F10", [](T& t) { t.selectNode("qualname:relu op:Relu"); },
         [](T& t) { return QTest::qWaitFor([&t] { return t.context().runs().recording() && !t.context().runs().isRunning(); }, 30000) && !t.context().runs().wasReached(t.node("op:Gemm")); }},
        {"Ctrl+B bookmarks", "Ctrl+B", [](T& t) { t.selectNode("op:Gemm"); }, [](T& t) { return t.context().navigation().bookmarks().size() == 1; }},
        {"F2 goes to the next bookmark", "Ctrl+B Esc F2", [](T& t) { t.selectNode("op:Gemm"); }, [](T& t) { return t.isSelected("op:Gemm"); }},
        {"Ctrl+1 goes to the first bookmark", "Ctrl+B Esc Ctrl+1", [](T& t) { t.selectNode("op:Gemm"); }, [](T& t) { return t.isSelected("op:Gemm"); }},
        {"Ctrl+D shows attributes", "Ctrl+D", {}, [](T& t) { return t.context().settings().showsAttributes(); }},
        {"Ctrl+I shows weights", "Ctrl+I", {}, [](T& t) { return !t.context().canvases().active().view().hideConstants; }},
        {"Ctrl+U hides names", "Ctrl+U", {}, [](T& t) { return !t.context().settings().showsNames(); }},
        {"Ctrl+K turns the direction", "Ctrl+K", {}, [](T& t) { return t.canvas()->view().scene()->direction == layout::Direction::LeftRight; }},
        {"Ctrl+M lets the wheel scroll", "Ctrl+M", {}, [](T& t) { return !t.canvas()->interaction().wheelZooms(); }},
        {"Ctrl+Return shows the model", "Ctrl+Return", {}, [](T& t) { return t.context().navigation().selection().qualname.isEmpty() && t.context().navigation().selection().isModule(); }},
        {"Escape clears the selection", "Esc", [](T& t) { t.selectNode("op:Gemm"); }, [](T& t) { return t.context().navigation().selection().isNone(); }},
        {"Ctrl+C copies the name", "Ctrl+C", [](T& t) { t.selectNode("op:Gemm"); },
         [](T& t) { return QApplication::clipboard()->text() == QString::fromStdString(t.context().model().graph().node(t.node("op:Gemm")).name); }},
        {"Ctrl+R reads again", "Ctrl+R", [](T& t) { t.selectNode("op:Gemm"); },
         [](T& t) { return QTest::qWaitFor([&t] { return t.m_window->isIdle() && t.context().navigation().selection().node.valid(); }, 30000) && t.isSelected("op:Gemm"); }},
        {"Ctrl+W closes", "Ctrl+W", {}, [](T& t) { return !t.context().model().isOpen(); }},
        {"Ctrl+F4 closes", "Ctrl+F4", {}, [](T& t) { return !t.context().model().isOpen(); }},
        {"Ctrl+H hides", "Ctrl+H", [](T& t) { t.selectNode("op:MaxPool"); }, [](T& t) { return t.canvas()->view().rectOf(t.context().model().graph().node(t.node("op:MaxPool")).producer).isEmpty(); }},
        {"Ctrl+Up goes to the producer", "Ctrl+Up", [](T& t) { t.selectNode("qualname:relu op:Relu"); }, [](T& t) { return t.isSelected("qualname:conv1 op:Conv"); }},
        {"Ctrl+Down goes to the consumer", "Ctrl+Down", [](T& t) { t.selectNode("qualname:conv1 op:Conv"); }, [](T& t) { return t.isSelected("qualname:relu op:Relu"); }},
    };
    // clang-format on
    return rows;
}

void TestConventions::keys_data() {
    QTest::addColumn<int>("row");
    for (int i = 0; i < static_cast<int>(keyRows().size()); ++i)
        QTest::newRow(keyRows()[static_cast<std::size_t>(i)].name) << i;
}

void TestConventions::keys() {
    QFETCH(int, row);
    const Row& tested = keyRows()[static_cast<std::size_t>(row)];
    open(file("resnet18_slim.onnx"));
    if (tested.before) tested.before(*this);
    settle();
    press(QLatin1String(tested.keys));
    QVERIFY(tested.after(*this));
}

const std::vector<TestConventions::Row>& TestConventions::mouseRows() {
    using T = TestConventions;
    const auto middle = [](T& t, const char* query) { return t.rectOf(t.canvas(), t.node(query)).center(); };
    const auto drag = [](T& t, Qt::KeyboardModifiers modifiers, QPointF from, QPointF to,
                         Qt::MouseButton button = Qt::LeftButton) {
        QTest::mousePress(t.canvas(), button, modifiers, from.toPoint());
        QMouseEvent move(QEvent::MouseMove, to, t.canvas()->mapToGlobal(to), Qt::NoButton, button, modifiers);
        QApplication::sendEvent(t.canvas(), &move);
        QTest::mouseRelease(t.canvas(), button, modifiers, to.toPoint());
        t.settle();
    };
    // clang-format off
    static const std::vector<Row> rows{
        {"click selects", "", {}, [middle](T& t) { t.click(t.canvas(), middle(t, "qualname:conv1 op:Conv")); return t.isSelected("qualname:conv1 op:Conv"); }},
        {"click on the ground clears", "", [](T& t) { t.selectNode("qualname:conv1 op:Conv"); }, [](T& t) { t.click(t.canvas(), {5, t.canvas()->height() / 2.0}); return t.context().navigation().selection().isNone(); }},
        {"double click opens a module", "", {}, [](T& t) {
             const QRectF box = t.canvas()->view().rectOf(t.of("layer1").scope);
             QTest::mouseDClick(t.canvas(), Qt::LeftButton, {}, QPointF(box.left() + box.width() * 0.35, box.top() + 3).toPoint());
             t.settle();
             return t.context().canvases().active().isExpanded(t.of("layer1").scope);
         }},
        {"drag on the ground pans", "", {}, [drag](T& t) {
             const QPointF before = t.canvas()->view().camera().centre;
             drag(t, {}, {8, t.canvas()->height() / 2.0}, {108, t.canvas()->height() / 2.0});
             return std::abs((before.x() - t.canvas()->view().camera().centre.x()) * t.canvas()->view().camera().scale - 100) < 1;
         }},
        {"middle drag pans", "", {}, [drag](T& t) {
             const QPointF before = t.canvas()->view().camera().centre;
             drag(t, {}, {300, 300}, {300, 360}, Qt::MiddleButton);
             return std::abs((before.y() - t.canvas()->view().camera().centre.y()) * t.canvas()->view().camera().scale - 60) < 1;
         }},
        {"Shift+drag selects a box", "", {}, [drag](T& t) {
             t.canvas()->navigation().fit();
             drag(t, Qt::ShiftModifier, {2, 2}, {t.canvas()->width() - 3.0, t.canvas()->height() - 3.0});
             return t.context().navigation().selectedNodes().size() > 5;
         }},
        {"Ctrl+drag zooms to a box", "", {}, [drag](T& t) {
             t.canvas()->navigation().fit();
             const double before = t.canvas()->view().camera().scale;
             drag(t, Qt::ControlModifier, {200, 200}, {300, 300});
             return t.canvas()->view().camera().scale > before;
         }},
        {"Ctrl+click adds", "", {}, [middle](T& t) {
             t.click(t.canvas(), middle(t, "qualname:conv1 op:Conv"));
             t.click(t.canvas(), middle(t, "op:MaxPool"), Qt::ControlModifier);
             return t.context().navigation().selectedNodes().size() == 2;
         }},
        {"wheel zooms about the pointer", "", {}, [](T& t) {
             const QPointF at(300, 200);
             const QPointF place = t.canvas()->view().camera().toScene(at, t.canvas()->size());
             QWheelEvent event(at, t.canvas()->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, {}, Qt::NoScrollPhase, false);
             QApplication::sendEvent(t.canvas(), &event);
             return t.canvas()->view().camera().scale > 0 && (t.canvas()->view().camera().toScene(at, t.canvas()->size()) - place).manhattanLength() < 1e-6;
         }},
        {"right click opens a menu", "", {}, [middle](T& t) {
             const QPoint at = middle(t, "qualname:conv1 op:Conv").toPoint();
             QContextMenuEvent event(QContextMenuEvent::Mouse, at, t.canvas()->mapToGlobal(at));
             QApplication::sendEvent(t.canvas(), &event);
             auto* menu = t.canvas()->findChild<QMenu*>();
             const bool shown = menu && menu->isVisible() && t.isSelected("qualname:conv1 op:Conv");
             if (menu) menu->close();
             return shown;
         }},
        {"hover shows short facts", "", {}, [middle](T& t) {
             QTest::mouseMove(t.canvas(), middle(t, "qualname:conv1 op:Conv").toPoint());
             return QTest::qWaitFor([&t] { return t.context().navigation().hovered().node == t.node("qualname:conv1 op:Conv"); });
         }},
        {"a dropped picture is the input", "", {}, [](T& t) {
             QMimeData data;
             data.setUrls({QUrl::fromLocalFile(QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/chelsea.png"))});
             QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
             QApplication::sendEvent(t.m_window.get(), &enter);
             QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
             QApplication::sendEvent(t.m_window.get(), &drop);
             return t.context().inputs().all().front().spec.source.endsWith(QStringLiteral("chelsea.png"));
         }},
        {"a list of no files is dropped in vain", "", {}, [](T& t) {
             QMimeData data;
             data.setData(QStringLiteral("text/uri-list"), QByteArray("\r\n"));
             if (!data.hasUrls() || !data.urls().isEmpty()) return false;
             for (QWidget* widget : std::initializer_list<QWidget*>{t.m_window.get(), t.m_window->findChild<QWidget*>(QStringLiteral("input.") + t.context().inputs().all().front().name)}) {
                 if (!widget) return false;
                 QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, {});
                 enter.ignore();
                 QApplication::sendEvent(widget, &enter);
                 QDropEvent drop(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, {});
                 QApplication::sendEvent(widget, &drop);
             }
             return t.context().model().isOpen();
         }},
    };
    // clang-format on
    return rows;
}

void TestConventions::mouse_data() {
    QTest::addColumn<int>("row");
    for (int i = 0; i < static_cast<int>(mouseRows().size()); ++i)
        QTest::newRow(mouseRows()[static_cast<std::size_t>(i)].name) << i;
}

void TestConventions::mouse() {
    QFETCH(int, row);
    const Row& tested = mouseRows()[static_cast<std::size_t>(row)];
    open(file("resnet18_slim.onnx"));
    canvas()->setFocus();
    if (tested.before) tested.before(*this);
    settle();
    QVERIFY(tested.after(*this));
}

void TestConventions::everyActionIsInAMenuWithKeyAndToolTip() {
    open(file("resnet18_slim.onnx"));
    std::set<QAction*> inMenus;
    const std::function<void(QMenu*)> walk = [&](QMenu* menu) {
        for (QAction* action : menu->actions()) {
            inMenus.insert(action);
            if (action->menu()) walk(action->menu());
        }
    };
    for (QAction* action : m_window->menuBar()->actions()) walk(action->menu());
    for (const QString& id : m_window->actions().ids()) {
        QAction* action = m_window->actions().action(id);
        if (!action->isVisible()) continue;  // not bound: stepping comes with a later version
        QVERIFY2(inMenus.count(action), qPrintable(id));
        QVERIFY2(!m_window->actions().shortcuts(id).isEmpty(), qPrintable(id));
        QVERIFY2(!m_window->actions().toolTip(id).isEmpty() && !action->toolTip().isEmpty(), qPrintable(id));
    }
}

void TestConventions::edgesAreFollowedByClickAndKey() {
    open(file("resnet18_slim.onnx"));
    canvas()->view().zoomReset();
    settle();
    // The edge from the first convolution to its ReLU: a click in its middle selects what flows there, a double click
    // goes to the end that is farther from the click.
    const graph::NodeId conv = node("qualname:conv1 op:Conv"), relu = node("qualname:relu op:Relu");
    context().navigation().navigateTo(relu);
    settle();
    context().navigation().clearSelection();
    const QRectF from = rectOf(canvas(), conv), to = rectOf(canvas(), relu);
    const QPointF nearStart(from.center().x(), from.bottom() + (to.top() - from.bottom()) * 0.3);
    click(canvas(), nearStart);
    QVERIFY(context().navigation().selection().node == conv);
    context().navigation().clearSelection();
    QTest::mouseDClick(canvas(), Qt::LeftButton, {}, nearStart.toPoint());
    settle();
    QVERIFY(context().navigation().selection().node == relu);
    click(canvas(), nearStart, Qt::AltModifier);
    QVERIFY(context().navigation().selection().node == relu);
    key(Qt::Key_Up);
    QVERIFY(context().navigation().selection().node == conv);
    // A smaller window: what is selected comes back into view.
    const int width = canvas()->width();
    m_window->resize(700, 420);
    QTRY_VERIFY(canvas()->width() < width);
    settle();
    QVERIFY(QRectF(canvas()->rect()).contains(rectOf(canvas(), conv).center()));
}

QTEST_MAIN(TestConventions)

}  // namespace tst_conventions

#include "tst_conventions.moc"
