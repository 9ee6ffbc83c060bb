// The part of MainWindow that has the panels around the graph.

#include <QAction>
#include <QDockWidget>
#include <QMenu>
#include <QResizeEvent>
#include <QTimer>
#include <QTreeView>

#include <algorithm>

#include "ui/window/main_window.h"
#include "ui/window/panel_table.h"

namespace sonde::window {

namespace {

constexpr int kStateVersion = 1;  // of docks and tool bars: raised when their set changes in a way Qt cannot restore

/// What panels may have of a window that is small in that direction.
struct Room {
    Qt::DockWidgetArea area;
    double most;     ///< of the window
    int least;       ///< pixels
    int smallBelow;  ///< a window smaller than that is small, pixels
};
constexpr Room kRooms[] = {{Qt::BottomDockWidgetArea, 0.25, 96, 800},
                           {Qt::LeftDockWidgetArea, 0.22, 160, 1200},
                           {Qt::RightDockWidgetArea, 0.28, 200, 1200}};

Qt::DockWidgetArea dockArea(panels::PanelArea area) {
    switch (area) {
        case panels::PanelArea::Left: return Qt::LeftDockWidgetArea;
        case panels::PanelArea::Right: return Qt::RightDockWidgetArea;
        case panels::PanelArea::Bottom: break;
    }
    return Qt::BottomDockWidgetArea;
}

/// What can be done with the module under the mouse, which is selected with that; by the menu key, with the selected
/// one.
void showModuleMenu(QTreeView& tree, const QPoint& at, actions::ActionRegistry& actions) {
    const QModelIndex under = tree.indexAt(at);
    if (under.isValid()) tree.setCurrentIndex(under);
    if (!tree.currentIndex().isValid()) return;
    auto* menu = new QMenu(&tree);
    menu->setObjectName(QStringLiteral("moduleMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    static const QStringList ids{"run.watch",     "run.end",    "", "view.expand_all", "view.collapse_all",
                                 "focus.isolate", "focus.hide", "", "go.bookmark",     "edit.copy_name"};
    for (const QString& id : ids)
        id.isEmpty() ? static_cast<void>(menu->addSeparator()) : menu->addAction(actions.action(id));
    menu->popup(tree.viewport()->mapToGlobal(under.isValid() ? at : tree.visualRect(tree.currentIndex()).center()));
}

}  // namespace

void MainWindow::buildDocks() {
    for (const panels::PanelInfo& info : panelTable()) {
        auto* dock = new QDockWidget(info.title, this);
        dock->setObjectName(QStringLiteral("dock.") + info.id);
        dock->setWidget(info.factory(m_context));
        m_docks[info.id] = dock;
        actions::ActionInfo row;
        row.id = QStringLiteral("panel.") + info.id;
        row.text = info.title;
        row.menu = QStringLiteral("Panels");
        row.toolTip = tr("Show and focus the panel, or hide it");
        row.icon = info.icon;
        row.shortcuts = info.shortcut;
        row.checkable = true;
        QAction* action = m_actions.add(row);
        m_actions.bind(row.id, this, [this, id = info.id] { togglePanel(id); });
        connect(dock, &QDockWidget::visibilityChanged, action,
                [action, dock] { action->setChecked(!dock->isHidden()); });
    }
    if (auto* tree = panel(QStringLiteral("modules"))->findChild<QTreeView*>()) {
        tree->setContextMenuPolicy(Qt::CustomContextMenu);
        connect(tree, &QWidget::customContextMenuRequested, this,
                [this, tree](const QPoint& at) { showModuleMenu(*tree, at, m_actions); });
    }
    arrangeDocks();
}

/// Where panels are until the user moves them: tree and inputs left, details over values right, lists tabbed below.
void MainWindow::arrangeDocks() {
    std::map<panels::PanelArea, QDockWidget*> last;
    std::map<panels::PanelArea, QDockWidget*> first;
    for (const panels::PanelInfo& info : panelTable()) {
        QDockWidget* dock = m_docks[info.id];
        dock->setFloating(false);
        QDockWidget* before = last[info.area];
        addDockWidget(dockArea(info.area), dock);
        const bool asTab = info.area == panels::PanelArea::Bottom || !info.visibleAtFirst;
        if (before && asTab) tabifyDockWidget(before, dock);
        if (before && !asTab) splitDockWidget(before, dock, Qt::Vertical);
        if (!before) first[info.area] = dock;
        last[info.area] = dock;
        dock->setVisible(info.visibleAtFirst);
    }
    for (const auto& [area, dock] : first) dock->raise();
    resizeDocks({m_docks["modules"], m_docks["details"]}, {300, 330}, Qt::Horizontal);
    resizeDocks({m_docks["modules"], m_docks["inputs"]}, {420, 200}, Qt::Vertical);
    resizeDocks({m_docks["details"], m_docks["tensor_viewer"]}, {330, 420}, Qt::Vertical);
    resizeDocks({m_docks["watches"]}, {190}, Qt::Vertical);
}

void MainWindow::setDocksShown(bool shown) {
    if (shown == m_docksShown) return;
    if (!shown) m_dockState = saveState(kStateVersion);
    m_docksShown = shown;
    if (!shown) {
        for (const auto& [id, dock] : m_docks) dock->hide();
        return;
    }
    restoreState(m_dockState, kStateVersion);
    QTimer::singleShot(0, this, &MainWindow::leaveRoomForGraph);
}

QByteArray MainWindow::docksState() const { return m_docksShown ? saveState(kStateVersion) : m_dockState; }

void MainWindow::restoreDocks(const QByteArray& state) {
    restoreState(state, kStateVersion);
    for (const auto& [id, dock] : m_docks)
        m_actions.action(QStringLiteral("panel.") + id)->setChecked(!dock->isHidden());
}

/// In a small window the panels give way: the graph is what the window is for. Who wants them larger drags them.
void MainWindow::leaveRoomForGraph() {
    if (!m_docksShown) return;
    for (const Room& room : kRooms) {
        const Qt::Orientation direction = room.area == Qt::BottomDockWidgetArea ? Qt::Vertical : Qt::Horizontal;
        const auto along = [direction](const QWidget* widget) {
            return direction == Qt::Vertical ? widget->height() : widget->width();
        };
        if (along(this) >= room.smallBelow) continue;
        const int most = std::max(room.least, static_cast<int>(along(this) * room.most));
        for (const auto& [id, dock] : m_docks) {
            if (dock->isFloating() || !dock->isVisible() || dockWidgetArea(dock) != room.area || along(dock) <= most)
                continue;
            resizeDocks({dock}, {most}, direction);
            break;
        }
    }
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    saveSoon();
    const QSize now = event->size(), before = event->oldSize();
    if (now.height() < before.height() || now.width() < before.width())
        QTimer::singleShot(0, this, &MainWindow::leaveRoomForGraph);
}

QDockWidget* MainWindow::dock(const QString& panel) const {
    const auto found = m_docks.find(panel);
    return found == m_docks.end() ? nullptr : found->second;
}

QWidget* MainWindow::panel(const QString& panel) const {
    const QDockWidget* found = dock(panel);
    return found ? found->widget() : nullptr;
}

/// Behind another tab a panel is open, but nothing of it is seen.
bool MainWindow::isInFront(const QDockWidget& dock) const {
    return dock.isVisible() && !dock.visibleRegion().isEmpty();
}

/// A panel that is not seen comes to the front; only one that is there goes.
void MainWindow::togglePanel(const QString& panel) {
    QDockWidget* found = dock(panel);
    isInFront(*found) ? found->hide() : showPanel(panel);
    m_actions.action(QStringLiteral("panel.") + panel)->setChecked(!found->isHidden());  // the click has turned it
}

void MainWindow::showPanel(const QString& panel) {
    QDockWidget* found = dock(panel);
    if (!found) return;
    found->show();
    found->raise();
    found->widget()->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace sonde::window
