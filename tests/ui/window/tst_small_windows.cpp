// In small windows everything can be reached: tools by the button for those that have no room, panels by scrolling, and
// nothing lies over nodes.

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>
#include <QTreeView>

#include "tests/support/window_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/overview_map.h"
#include "ui/models/module_tree_model.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/window/script.h"

namespace tst_small_windows {

using namespace sonde;

class TestSmallWindows : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { QSettings().clear(); }
    void cleanup() { closeWindow(); }
    void everyToolIsReached_data() { sizes(); }
    void everyToolIsReached();
    void everyControlOfAPanelIsReached_data() { sizes(); }
    void everyControlOfAPanelIsReached();
    void namesOfModulesAreRead();
    void tablesThatWereAskedForHaveRows_data() { sizes(); }
    void tablesThatWereAskedForHaveRows();
    void columnsHaveTheirWidthAgain();
    void valuesHaveRows_data() { sizes(); }
    void valuesHaveRows();
    void editsAndBisectionsHaveRowsBesideTheDetails();
    void overlaysGiveWayToNodes_data() { sizes(); }
    void overlaysGiveWayToNodes();

  private:
    static void sizes() {
        QTest::addColumn<QSize>("size");
        QTest::newRow("800x600") << QSize(800, 600);
        QTest::newRow("1280x720") << QSize(1280, 720);
    }
    bool plays(const char* lines) {
        window::Script script(*m_window, {}, QString::fromLatin1(lines), {});
        QSignalSpy finished(&script, &window::Script::finished);
        script.start();
        return (!finished.isEmpty() || finished.wait(60000)) && !script.error();
    }
    QDockWidget* dock(const char* panel) { return m_window->docks().dock(QLatin1String(panel)); }
    /// Runs, selects, watches, debugs and sets a breakpoint: most panels have something to show.
    void fillPanels() {
        open(file("resnet18_slim.onnx"));
        context().points().setWatched(*context().model().document()->findNode("layer1.0.conv1:"), true);
        run();
        context().navigation().navigateTo(*context().model().document()->findNode("layer1.0.conv1:"));
        settle();
        for (const char* panel : {"timeline", "breakpoints", "problems", "comparison"})
            m_window->docks().show(QLatin1String(panel));
        settle();
    }
};

void TestSmallWindows::everyToolIsReached() {
    QFETCH(QSize, size);
    openWindow(size);
    open(file("resnet18_slim.onnx"));
    QCOMPARE(m_window->size(), size);
    auto* bar = m_window->findChild<QToolBar*>(QStringLiteral("toolBar"));
    const auto isSeen = [&](QAction* action) {
        const QWidget* button = bar->widgetForAction(action);
        return action->isSeparator() || !action->isVisible() ||
               (button->isVisible() &&
                m_window->rect().contains(QRect(button->mapTo(m_window.get(), QPoint()), button->size())));
    };
    const auto areSeen = [&] { return std::ranges::all_of(bar->actions(), isSeen); };
    auto* more = bar->findChild<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"));
    QVERIFY(more);
    QCOMPARE(more->isVisible(), !areSeen());
    if (!more->isVisible()) return;
    QVERIFY2(more->width() >= 20 && m_window->width() - more->mapTo(m_window.get(), QPoint(more->width(), 0)).x() < 20,
             qPrintable(QString::number(more->width())));
    QVERIFY(!more->toolTip().isEmpty() && !more->icon().isNull());
    QTest::mouseClick(more, Qt::LeftButton);
    QTRY_VERIFY(areSeen());
}

void TestSmallWindows::everyControlOfAPanelIsReached() {
    QFETCH(QSize, size);
    openWindow(size);
    fillPanels();
    QCOMPARE(m_window->size(), size);
    int controls = 0;
    for (QDockWidget* dock : m_window->findChildren<QDockWidget*>()) {
        if (dock->isHidden()) continue;
        dock->raise();
        settle();
        QVERIFY2(m_window->rect().contains(dock->geometry()), qPrintable(dock->windowTitle()));
        for (const QWidget* widget : dock->findChildren<QWidget*>()) {
            const bool isControl = qobject_cast<const QAbstractButton*>(widget) ||
                                   qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QComboBox*>(widget);
            if (!isControl || !widget->isVisible()) continue;
            ++controls;
            bool scrolls = false;
            for (const QWidget* at = widget->parentWidget(); at != dock && !scrolls; at = at->parentWidget())
                scrolls = qobject_cast<const QAbstractScrollArea*>(at) != nullptr;
            const QRect place(widget->mapTo(dock, QPoint()), widget->size());
            QVERIFY2(scrolls || dock->rect().adjusted(-1, -1, 1, 1).contains(place),
                     qPrintable(dock->windowTitle() + u' ' + QLatin1String(widget->metaObject()->className()) + u' ' +
                                widget->objectName()));
        }
    }
    QVERIFY2(controls > 40, qPrintable(QString::number(controls)));
}

/// Numbers go rather than names.
void TestSmallWindows::namesOfModulesAreRead() {
    openWindow({800, 600});
    open(file("resnet18_slim.onnx"));
    auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("moduleTree"));
    QVERIFY(!tree->isColumnHidden(models::ModuleTreeModel::ParametersColumn));
    // Two canvases beside the details leave little.
    context().navigation().navigateTo(*context().model().document()->findNode("layer1.0.conv1:"));
    m_window->actions().action(QStringLiteral("view.split"))->trigger();
    settle();
    QVERIFY2(tree->width() < 150, qPrintable(QString::number(tree->width())));
    QVERIFY(tree->isColumnHidden(models::ModuleTreeModel::ParametersColumn));
    QVERIFY(tree->columnWidth(models::ModuleTreeModel::NameColumn) >= 95);
    m_window->actions().action(QStringLiteral("view.split"))->trigger();
    m_window->resize(1280, 720);
    m_window->resizeDocks({dock("modules")}, {240}, Qt::Horizontal);
    settle();
    QVERIFY(!tree->isColumnHidden(models::ModuleTreeModel::ParametersColumn));
}

/// A table that was asked for shows more than a line or two of it, and the graph is still there.
void TestSmallWindows::tablesThatWereAskedForHaveRows() {
    QFETCH(QSize, size);
    openWindow(size);
    open(file("resnet18_slim.onnx"));
    run();
    const auto rowsOf = [this](const char* name) {
        const auto* const table = m_window->findChild<QTableView*>(QLatin1String(name));
        return table->isVisible() ? table->viewport()->height() / table->verticalHeader()->defaultSectionSize() : 0;
    };
    m_window->docks().show(QStringLiteral("weights"));
    settle();
    QVERIFY2(rowsOf("weightTable") >= 5, qPrintable(QString::number(rowsOf("weightTable"))));
    QVERIFY(canvas()->height() >= 200);
    m_window->actions().action(QStringLiteral("run.profile"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(rowsOf("profileNodes") > 0, 60000);
    settle();
    // Under its tabs, above those of the panels.
    QVERIFY2(rowsOf("profileNodes") >= 3, qPrintable(QString::number(rowsOf("profileNodes"))));
    m_window->actions().action(QStringLiteral("go.findings"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(rowsOf("findingTable") > 0, 60000);
    settle();
    QVERIFY2(rowsOf("findingTable") >= 5, qPrintable(QString::number(rowsOf("findingTable"))));
    QVERIFY(canvas()->height() >= 200);
}

/// Unless the user has dragged them.
void TestSmallWindows::columnsHaveTheirWidthAgain() {
    openWindow({1280, 720});
    open(file("resnet18_slim.onnx"));
    const int before = dock("modules")->width();
    QVERIFY2(before > 220, qPrintable(QString::number(before)));
    m_window->resize(800, 600);
    settle();
    QTRY_VERIFY2(dock("modules")->width() < 200, qPrintable(QString::number(dock("modules")->width())));
    m_window->resize(1280, 720);
    settle();
    QTRY_COMPARE(dock("modules")->width(), before);
    // Half way there is room for a part of it.
    m_window->resize(800, 600);
    settle();
    m_window->resize(1000, 700);
    settle();
    QTRY_VERIFY(dock("modules")->width() > 200 && dock("modules")->width() < before);
}

/// The view is what one opens the panel for.
void TestSmallWindows::valuesHaveRows() {
    QFETCH(QSize, size);
    openWindow(size);
    open(file("gpt_mini.onnx"));
    run();
    context().navigation().navigateTo(context().model().document()->outputs.front().node);
    settle();
    auto* panel = static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    panel->viewer()->setCurrentView(QStringLiteral("table"));
    settle();
    const auto tables = panel->viewer()->findChildren<QTableView*>();
    const auto found = std::ranges::find_if(tables, [](const QTableView* each) { return each->isVisible(); });
    QVERIFY(found != tables.end());
    const QRect seen =
        QRect((*found)->viewport()->mapTo(panel, QPoint()), (*found)->viewport()->size()) & panel->rect();
    const int rows = seen.height() / (*found)->verticalHeader()->defaultSectionSize();
    QVERIFY2(rows >= 5, qPrintable(QString::number(rows)));
}

/// Beside the details, which leave the panels below a part of the width.
void TestSmallWindows::editsAndBisectionsHaveRowsBesideTheDetails() {
    openWindow({800, 600});
    open(file("resnet18_slim.onnx"));
    run();
    const auto wholeRows = [this](const char* name) {
        const auto* const table = m_window->findChild<QTableView*>(QLatin1String(name));
        return table->viewport()->height() / table->verticalHeader()->defaultSectionSize();
    };
    QVERIFY(plays("edit x scale 2\nwait\nedit y scale 3\nwait\nselect y\nbeside baseline\nwait\npanel edits\nwait\n"));
    QVERIFY2(wholeRows("editTable") >= 2, qPrintable(QString::number(wholeRows("editTable"))));
    QVERIFY(plays("bisect int8\nwait\npart values\nwait\npanel bisection\nwait\n"));
    QVERIFY2(wholeRows("bisectionTable") >= 3, qPrintable(QString::number(wholeRows("bisectionTable"))));
}

/// Map and count, wherever one looks.
void TestSmallWindows::overlaysGiveWayToNodes() {
    QFETCH(QSize, size);
    openWindow(size);
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(2);
    settle();
    canvas()->view().zoomReset();
    std::vector<const QWidget*> overlays{canvas()->findChild<canvas::OverviewMap*>()};
    for (const QLabel* label : canvas()->findChildren<QLabel*>())
        if (label->accessibleName() == QStringLiteral("Hidden nodes")) overlays.push_back(label);
    QCOMPARE(overlays.size(), std::size_t{2});
    const auto scene = canvas()->view().scene();
    int seen = 0, isGone = 0;
    for (std::size_t i = 0; i < scene->items.size(); ++i) {
        canvas()->view().centreOn(canvas::toQt(scene->items[i].rect).topRight() -
                                  QPointF(40.0 * static_cast<double>(i % 9), 0));
        settle();
        for (const QWidget* overlay : overlays) {
            ++(overlay->isVisible() ? seen : isGone);
            if (!overlay->isVisible()) continue;
            for (const layout::ItemId item : canvas()->view().visibleItems())
                if (!scene->item(item).what.open)
                    QVERIFY2(!canvas()->view().itemRect(item).intersects(overlay->geometry()),
                             qPrintable(overlay->accessibleName() + u' ' + canvas()->text().spoken(item)));
        }
    }
    QVERIFY2(seen > 10 && isGone > 0, qPrintable(QStringLiteral("%1 %2").arg(seen).arg(isGone)));
}

QTEST_MAIN(TestSmallWindows)

}  // namespace tst_small_windows

#include "tst_small_windows.moc"
