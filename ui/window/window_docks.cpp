#include "ui/window/window_docks.h"

#include <QAction>
#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QTimer>

#include <algorithm>

#include "ui/actions/action_registry.h"
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

/// Behind another tab a panel is open, but nothing of it is seen.
bool isInFront(const QDockWidget& dock) { return dock.isVisible() && !dock.visibleRegion().isEmpty(); }

/// What keys are for in a panel: its focus proxy, else the first widget that Tab reaches. Of a panel that has nothing
/// to show what says so, as keys must not go to the graph then.
QWidget& mainWidget(QWidget& panel) {
    QWidget* main = &panel;
    while (main->focusProxy()) main = main->focusProxy();
    if (main != &panel && main->isVisibleTo(&panel) && main->isEnabled()) return *main;
    for (QWidget* next = panel.nextInFocusChain(); next != &panel; next = next->nextInFocusChain())
        if (panel.isAncestorOf(next) && (next->focusPolicy() & Qt::TabFocus) != 0 && next->isVisibleTo(&panel) &&
            next->isEnabled())
            return *next;
    QWidget* shown = panel.childAt(panel.rect().center());
    return shown && panel.focusProxy() ? *shown : panel;
}

Qt::DockWidgetArea dockArea(panels::PanelArea area) {
    switch (area) {
        case panels::PanelArea::Left: return Qt::LeftDockWidgetArea;
        case panels::PanelArea::Right: return Qt::RightDockWidgetArea;
        case panels::PanelArea::Bottom: break;
    }
    return Qt::BottomDockWidgetArea;
}

}  // namespace

WindowDocks::WindowDocks(QMainWindow& window, context::InspectorContext& context, actions::ActionRegistry& actions)
    : m_window(window), m_context(context), m_actions(actions) {
    addPanelAdvice();
    for (const panels::PanelInfo& info : panelTable()) addDock(info);
    for (const panels::PanelInfo& info : panelTable())
        if (info.join) info.join(*panel(info.id), hostOf(info.id));
    arrange();
}

WindowDocks::~WindowDocks() {
    for (const auto& [id, dock] : m_docks) dock->disconnect(this);
}

void WindowDocks::addDock(const panels::PanelInfo& info) {
    auto* dock = new QDockWidget(info.title, &m_window);
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
    m_actions.bind(row.id, this, [this, id = info.id] { toggle(id); });
    connect(dock, &QDockWidget::visibilityChanged, action, [action, dock] { action->setChecked(!dock->isHidden()); });
    dock->installEventFilter(this);
    for (const auto signal : {&QDockWidget::visibilityChanged, &QDockWidget::topLevelChanged})
        connect(dock, signal, this, &WindowDocks::changed);
    connect(dock, &QDockWidget::dockLocationChanged, this, &WindowDocks::changed);
}

panels::PanelHost WindowDocks::hostOf(const QString& panel) {
    return {m_actions, [this, panel] { show(panel); },
            [this, found = dock(panel)](bool displayed) {
                if (!displayed) found->hide();
                if (!displayed || !m_isShown) return;
                found->show();
                found->raise();
            }};
}

bool WindowDocks::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::Move) Q_EMIT changed();
    return QObject::eventFilter(watched, event);
}

void WindowDocks::arrange() {
    std::map<panels::PanelArea, QDockWidget*> last;
    std::map<panels::PanelArea, QDockWidget*> first;
    for (const panels::PanelInfo& info : panelTable()) {
        QDockWidget* dock = m_docks[info.id];
        dock->setFloating(false);
        QDockWidget* before = last[info.area];
        m_window.addDockWidget(dockArea(info.area), dock);
        const bool asTab = info.area == panels::PanelArea::Bottom || !info.visibleAtFirst;
        if (before && asTab) m_window.tabifyDockWidget(before, dock);
        if (before && !asTab) m_window.splitDockWidget(before, dock, Qt::Vertical);
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
    m_window.resizeDocks(columns, widths, Qt::Horizontal);
    for (const auto& [area, dock] : first) {
        QList<QDockWidget*> rows;
        QList<int> heights;
        for (const panels::PanelInfo& info : panelTable())
            if (info.area == area && info.size.height() > 0) rows << m_docks[info.id], heights << info.size.height();
        m_window.resizeDocks(rows, heights, Qt::Vertical);
    }
}

void WindowDocks::setShown(bool shown) {
    if (shown == m_isShown) return;
    if (!shown) m_state = m_window.saveState(kStateVersion);
    m_isShown = shown;
    if (!shown) {
        for (const auto& [id, dock] : m_docks) dock->hide();
        return;
    }
    m_window.restoreState(m_state, kStateVersion);
    QTimer::singleShot(0, this, &WindowDocks::leaveRoomForGraph);
}

QByteArray WindowDocks::state() const { return m_isShown ? m_window.saveState(kStateVersion) : m_state; }

void WindowDocks::restore(const QByteArray& state) {
    m_window.restoreState(state, kStateVersion);
    for (const auto& [id, dock] : m_docks)
        m_actions.action(QStringLiteral("panel.") + id)->setChecked(!dock->isHidden());
}

void WindowDocks::leaveRoomForGraph() {
    if (!m_isShown) return;
    for (const Room& room : kRooms) {
        const Qt::Orientation direction = room.area == Qt::BottomDockWidgetArea ? Qt::Vertical : Qt::Horizontal;
        const auto along = [direction](const QWidget* widget) {
            return direction == Qt::Vertical ? widget->height() : widget->width();
        };
        if (along(&m_window) >= room.smallBelow) continue;
        const int most = std::max(room.least, static_cast<int>(along(&m_window) * room.most));
        for (const auto& [id, dock] : m_docks) {
            if (dock->isFloating() || !dock->isVisible() || m_window.dockWidgetArea(dock) != room.area ||
                along(dock) <= most)
                continue;
            m_window.resizeDocks({dock}, {most}, direction);
            break;
        }
    }
}

QDockWidget* WindowDocks::dock(const QString& panel) const {
    const auto found = m_docks.find(panel);
    return found == m_docks.end() ? nullptr : found->second;
}

QWidget* WindowDocks::panel(const QString& panel) const {
    const QDockWidget* found = dock(panel);
    return found ? found->widget() : nullptr;
}

/// A panel that is not seen comes to the front; only one that is there goes.
void WindowDocks::toggle(const QString& panel) {
    QDockWidget* found = dock(panel);
    isInFront(*found) ? found->hide() : show(panel);
    m_actions.action(QStringLiteral("panel.") + panel)->setChecked(!found->isHidden());  // the click has turned it
}

void WindowDocks::show(const QString& panel) {
    QDockWidget* found = dock(panel);
    if (!found) return;
    found->show();
    found->raise();
    mainWidget(*found->widget()).setFocus(Qt::ShortcutFocusReason);
}

}  // namespace sonde::window
