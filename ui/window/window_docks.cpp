// The part of MainWindow that has the panels around the graph.

#include <QAction>
#include <QDockWidget>
#include <QResizeEvent>
#include <QTimer>

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
    for (const panels::PanelInfo& info : panelTable())
        if (info.join) info.join(*panel(info.id), hostOf(info.id));
    arrangeDocks();
}

panels::PanelHost MainWindow::hostOf(const QString& panel) {
    return {m_actions, [this, panel] { showPanel(panel); },
            [this, found = dock(panel)](bool displayed) {
                if (!displayed) found->hide();
                if (!displayed || !m_docksShown) return;
                found->show();
                found->raise();
            }};
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
    QList<QDockWidget*> columns;
    QList<int> widths;
    for (const panels::PanelInfo& info : panelTable())
        if (first[info.area] == m_docks[info.id] && info.size.width() > 0)
            columns << m_docks[info.id], widths << info.size.width();
    resizeDocks(columns, widths, Qt::Horizontal);
    for (const auto& [area, dock] : first) {
        QList<QDockWidget*> rows;
        QList<int> heights;
        for (const panels::PanelInfo& info : panelTable())
            if (info.area == area && info.size.height() > 0) rows << m_docks[info.id], heights << info.size.height();
        resizeDocks(rows, heights, Qt::Vertical);
    }
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
