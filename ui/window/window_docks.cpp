#include "ui/window/window_docks.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QEvent>
#include <QLayout>
#include <QMainWindow>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/actions/action_registry.h"
#include "ui/panels/panel.h"
#include "ui/window/panel_table.h"

namespace sonde::window {

namespace {

constexpr int kStateVersion = 2;  // of docks and tool bars: raised when their set changes in a way Qt cannot restore

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

bool isColumn(Qt::DockWidgetArea area) { return area == Qt::LeftDockWidgetArea || area == Qt::RightDockWidgetArea; }

const QString kWanted = QStringLiteral("wanted"), kPinned = QStringLiteral("pinned"),
              kClosed = QStringLiteral("closed");

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
    m_follow.setSingleShot(true);
    connect(&m_follow, &QTimer::timeout, this, &WindowDocks::follow);
    for (const panels::PanelInfo& info : panelTable()) addDock(info);
    for (const panels::PanelInfo& info : panelTable())
        if (info.join) info.join(*panel(info.id), hostOf(info.id));
    arrange();
    window.installEventFilter(this);
}

WindowDocks::~WindowDocks() {
    for (const auto& [id, dock] : m_docks) dock->disconnect(this);
}

void WindowDocks::addDock(const panels::PanelInfo& info) {
    auto* dock = new QDockWidget(info.title, &m_window);
    dock->setObjectName(QStringLiteral("dock.") + info.id);
    panels::Panel* panel = info.factory(m_context);
    dock->setWidget(panel);
    m_docks[info.id] = dock;
    actions::ActionInfo row;
    row.id = QStringLiteral("panel.") + info.id;
    row.text = info.title;
    row.menu = QStringLiteral("Panels");
    row.toolTip = tr("Show and focus the panel, or hide it if it has the focus");
    row.icon = info.icon;
    row.shortcuts = info.shortcut;
    row.checkable = true;
    QAction* action = m_actions.add(row);
    m_actions.bind(row.id, this, [this, id = info.id] { toggle(id); });
    connect(dock, &QDockWidget::visibilityChanged, action, [action, dock] { action->setChecked(!dock->isHidden()); });
    connect(panel, &panels::Panel::hasContentChanged, this, [this, id = info.id] { contentChanged(id); });
    dock->installEventFilter(this);
    for (const auto signal : {&QDockWidget::visibilityChanged, &QDockWidget::topLevelChanged})
        connect(dock, signal, this, &WindowDocks::changed);
    connect(dock, &QDockWidget::dockLocationChanged, this, &WindowDocks::changed);
}

panels::PanelHost WindowDocks::hostOf(const QString& panel) {
    return {m_actions, [this, panel] { show(panel); },
            [this, panel] {
                m_front = panel;
                contentChanged(panel);
            }};
}

/// The button of a dock's title closes it, which nothing else does. Mouse events between panels are the window's own:
/// these are drags of the borders.
bool WindowDocks::eventFilter(QObject* watched, QEvent* event) {
    if (watched == &m_window) {
        if (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonRelease)
            noteDragged(event->type() == QEvent::MouseButtonPress);
        return false;
    }
    if (event->type() == QEvent::Resize || event->type() == QEvent::Move) Q_EMIT changed();
    if (event->type() == QEvent::Close) noteClosed(watched->objectName().section(u'.', 1));
    return QObject::eventFilter(watched, event);
}

// --- what the user wants ---------------------------------------------------------------------------------------------

WindowDocks::Wish WindowDocks::wishAtFirst(const panels::PanelInfo& info) {
    return {info.coming != panels::PanelComing::OnDemand, false};
}

/// "watches=wanted,pinned"; as at first if it is not in the list.
WindowDocks::Wish WindowDocks::wishFrom(const panels::PanelInfo& info, const QStringList& words) {
    for (const QString& word : words) {
        if (word.section(u'=', 0, 0) != info.id) continue;
        const QStringList states = word.section(u'=', 1).split(u',');
        return {states.contains(kWanted), states.contains(kPinned)};
    }
    return wishAtFirst(info);
}

QStringList WindowDocks::wishes() const {
    QStringList words;
    for (const panels::PanelInfo& info : panelTable()) {
        const Wish& wish = m_wishes.at(info.id);
        if (wish == wishAtFirst(info)) continue;
        QStringList states;
        if (wish.wanted) states << kWanted;
        if (wish.pinned) states << kPinned;
        if (states.isEmpty()) states << kClosed;
        words << info.id + u'=' + states.join(u',');
    }
    return words;
}

bool WindowDocks::hasContent(const QString& panel) const {
    return static_cast<const panels::Panel*>(m_docks.at(panel)->widget())->hasContent();
}

bool WindowDocks::isDue(const QString& panel) const {
    if (m_displaced.contains(panel)) return false;
    const Wish& wish = m_wishes.at(panel);
    return wish.pinned || (wish.wanted && hasContent(panel));
}

void WindowDocks::noteOpened(const QString& panel) {
    Wish& wish = m_wishes[panel];
    (hasContent(panel) ? wish.wanted : wish.pinned) = true;
    Q_EMIT changed();
}

/// A panel that was empty says nothing of what is wanted when it is full, nor does an answer that was read.
void WindowDocks::noteClosed(const QString& panel) {
    Wish& wish = m_wishes[panel];
    wish.pinned = false;
    if (hasContent(panel) && infoOf(panel).coming != panels::PanelComing::ToFront) wish.wanted = false;
    Q_EMIT changed();
}

void WindowDocks::close(const QString& panel) {
    noteClosed(panel);
    fold(panel);
}

// --- panels come and go ----------------------------------------------------------------------------------------------

void WindowDocks::contentChanged(const QString& panel) {
    m_changed.insert(panel);
    if (m_follow.isActive()) return;
    const int interval = QApplication::doubleClickInterval();
    const qint64 passed = m_pressed.isValid() ? m_pressed.elapsed() : interval;
    m_follow.start(static_cast<int>(std::max<qint64>(0, interval - passed)));
}

void WindowDocks::follow() {
    const std::set<QString> changed = std::exchange(m_changed, {});
    const QString front = std::exchange(m_front, {});
    QString asked;  // what has just come to the front: Qt does not tell yet that it is there
    if (!m_isShown) return;
    for (const panels::PanelInfo& info : panelTable()) {
        QDockWidget& dock = *m_docks[info.id];
        const bool isDue = this->isDue(info.id);
        if (!changed.contains(info.id) || isDue == !dock.isHidden()) continue;
        if (!isDue) {
            fold(info.id);
            continue;
        }
        come(info.id);
        if (info.coming == panels::PanelComing::ToFront) {
            dock.raise();
            giveHeightAskedFor(asked = info.id);
        }
    }
    if (QDockWidget* dock = this->dock(front); dock && !dock->isHidden()) {
        if (!isInFront(*dock)) giveHeightAskedFor(asked = front);
        dock->raise();
    }
    leaveRoomForGraph(asked);
    m_window.layout()->activate();  // whoever waits for the panels waits for their room
}

/// Takes neither the keyboard nor the place of the tab that is in front.
void WindowDocks::come(const QString& panel) {
    QDockWidget& dock = *m_docks[panel];
    QDockWidget* front = nullptr;
    for (QDockWidget* other : m_window.tabifiedDockWidgets(&dock))
        if (isInFront(*other)) front = other;
    const Qt::DockWidgetArea area = m_window.dockWidgetArea(&dock);
    const std::size_t before = seenIn(area).size();
    dock.show();
    if (front) front->raise();
    if (!dock.isFloating() && !front) giveSizes(area, before == 0);
}

void WindowDocks::fold(const QString& panel) {
    QDockWidget& dock = *m_docks[panel];
    const Qt::DockWidgetArea area = m_window.dockWidgetArea(&dock);
    const std::vector<QString> seen = seenIn(area);
    m_depths[area] = isColumn(area) ? widthInRoom(dock) : dock.height();
    if (isColumn(area) && seen.size() > 1)
        for (const QString& each : seen) m_heights[each] = m_docks[each]->height();
    const QWidget* focus = m_window.focusWidget();
    const bool hasFocus = focus && (&dock == focus || dock.isAncestorOf(focus));
    dock.hide();
    if (hasFocus && m_isShown) Q_EMIT focusFreed();
}

/// The panels in an area that are not behind a tab.
std::vector<QString> WindowDocks::seenIn(Qt::DockWidgetArea area) const {
    std::vector<QString> seen;
    for (const auto& [id, dock] : m_docks)
        if (!dock->isHidden() && !dock->isFloating() && m_window.dockWidgetArea(dock) == area && isInFront(*dock))
            seen.push_back(id);
    return seen;
}

/// Panels below each other share their column as the user left them, else as the settings or the table say.
void WindowDocks::giveSizes(Qt::DockWidgetArea area, bool isNew) {
    QList<QDockWidget*> docks, rows;
    QList<int> heights;
    int depth = 0;
    bool isLeft = false;
    for (const panels::PanelInfo& info : panelTable()) {
        QDockWidget* dock = m_docks[info.id];
        if (dockArea(info.area) == area && depth == 0) depth = isColumn(area) ? info.size.width() : info.size.height();
        if (dock->isHidden() || dock->isFloating() || m_window.dockWidgetArea(dock) != area) continue;
        docks << dock;
        if (info.size.height() <= 0 || (dock->isVisible() && !isInFront(*dock))) continue;
        const auto left = m_heights.find(info.id);
        isLeft = isLeft || left != m_heights.end();
        rows << dock, heights << (left != m_heights.end() ? left->second : info.size.height());
    }
    if (docks.isEmpty()) return;
    // In a low window values have what details can do without.
    if (area == Qt::RightDockWidgetArea && m_window.height() < kLowHeight && !isLeft)
        for (int i = 0; i + 1 < heights.size(); ++i) heights[i] = rows[i]->minimumSizeHint().height();
    if (m_depths.contains(area)) depth = m_depths[area];
    else if (m_isRestored) depth = 0;
    if (isNew && depth > 0)
        m_window.resizeDocks({docks.front()}, {depth}, isColumn(area) ? Qt::Horizontal : Qt::Vertical);
    if (isColumn(area) && (isLeft || !m_isRestored)) m_window.resizeDocks(rows, heights, Qt::Vertical);
}

QDockWidget* WindowDocks::dock(const QString& panel) const {
    const auto found = m_docks.find(panel);
    return found == m_docks.end() ? nullptr : found->second;
}

QWidget* WindowDocks::panel(const QString& panel) const {
    const QDockWidget* found = dock(panel);
    return found ? found->widget() : nullptr;
}

/// The key of a panel leads to it, from wherever one is, and back from it. The mouse switches what is seen.
void WindowDocks::toggle(const QString& panel) {
    QDockWidget* found = dock(panel);
    const QWidget* focus = m_window.focusWidget();
    const bool isThere = focus && (found == focus || found->isAncestorOf(focus));
    const bool goes = isInFront(*found) && (isThere || !m_actions.isPressed());
    goes ? close(panel) : show(panel);
    m_actions.action(QStringLiteral("panel.") + panel)->setChecked(!found->isHidden());  // the click has turned it
}

void WindowDocks::show(const QString& panel) {
    QDockWidget* found = dock(panel);
    if (!found) return;
    noteOpened(panel);
    m_displaced.erase(panel);
    const bool wasInFront = isInFront(*found);
    if (found->isHidden()) come(panel);
    found->raise();
    // Of panels that share a place each has its own height, until the user has given them one.
    if (!wasInFront && !found->isFloating() && m_heights.empty()) giveSizes(m_window.dockWidgetArea(found), false);
    if (!wasInFront) giveHeightAskedFor(panel);
    leaveRoomForGraph(panel);
    mainWidget(*found->widget()).setFocus(Qt::ShortcutFocusReason);
}

// --- where they are --------------------------------------------------------------------------------------------------

void WindowDocks::arrange() {
    for (const panels::PanelInfo& info : panelTable()) m_wishes[info.id] = wishAtFirst(info);
    m_depths.clear();
    m_heights.clear();
    m_narrowed.clear();
    m_displaced.clear();
    m_isRestored = false;
    m_isSized = m_isShown && m_window.isVisible();
    place();
    for (const panels::PanelInfo& info : panelTable()) m_docks[info.id]->setVisible(isDue(info.id));
    if (m_isSized) shareLowColumn();
    giveAllSizes();
    leaveRoomForGraph();
    if (m_isShown) return;
    m_state = m_window.saveState(kStateVersion);
    for (const auto& [id, dock] : m_docks) dock->hide();
}

void WindowDocks::place() {
    std::map<panels::PanelArea, QDockWidget*> last;
    std::map<panels::PanelArea, QDockWidget*> first;
    std::vector<std::pair<QDockWidget*, QDockWidget*>> shared;
    for (const panels::PanelInfo& info : panelTable()) {
        QDockWidget* dock = m_docks[info.id];
        dock->setFloating(false);
        QDockWidget* before = last[info.area];
        m_window.addDockWidget(dockArea(info.area), dock);
        // The right column has no room for one more: who is there on demand shares the place of its first.
        if (before && info.area == panels::PanelArea::Right && info.coming == panels::PanelComing::OnDemand) {
            shared.emplace_back(first[info.area], dock);
            continue;
        }
        const bool asTab = info.area == panels::PanelArea::Bottom || info.coming == panels::PanelComing::OnDemand;
        if (before && asTab) m_window.tabifyDockWidget(before, dock);
        if (before && !asTab) m_window.splitDockWidget(before, dock, Qt::Vertical);
        if (!before) first[info.area] = dock;
        last[info.area] = dock;
    }
    for (const auto& [owner, dock] : shared) m_window.tabifyDockWidget(owner, dock);
    for (const auto& [area, dock] : first) dock->raise();
}

void WindowDocks::giveAllSizes() {
    for (const Qt::DockWidgetArea area : {Qt::LeftDockWidgetArea, Qt::RightDockWidgetArea, Qt::BottomDockWidgetArea})
        giveSizes(area, true);
}

/// What was there before panels went out of the way, but for what has come or gone meanwhile.
void WindowDocks::bringBack(const QByteArray& state) {
    m_window.restoreState(state, kStateVersion);
    for (const panels::PanelInfo& info : panelTable()) {
        QDockWidget& dock = *m_docks[info.id];
        if (const bool due = isDue(info.id); due == dock.isHidden()) due ? come(info.id) : dock.hide();
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
    leaveAlone();
    bringBack(m_state);
    if (!std::exchange(m_isSized, true)) {
        shareLowColumn();
        giveAllSizes();
    }
    QTimer::singleShot(0, this, [this] { leaveRoomForGraph(); });
}

/// The panel that was alone has its title again.
void WindowDocks::leaveAlone() {
    QDockWidget* const alone = std::exchange(m_alone, nullptr);
    if (!alone) return;
    QWidget* const noTitle = alone->titleBarWidget();
    alone->setTitleBarWidget(nullptr);
    delete noTitle;
}

void WindowDocks::showAlone(const QString& panel, double share) {
    QDockWidget* const next = dock(panel);
    if (next && next == m_alone) return;
    setShown(false);
    const int width = m_alone ? m_alone->width() : static_cast<int>(m_window.width() * share);
    if (m_alone) m_alone->hide();
    leaveAlone();
    m_alone = next;
    if (!m_alone) return;
    m_alone->setTitleBarWidget(new QWidget(m_alone));
    m_alone->setFloating(false);
    m_window.addDockWidget(Qt::RightDockWidgetArea, m_alone);
    m_alone->show();
    m_window.resizeDocks({m_alone}, {width}, Qt::Horizontal);
}

double WindowDocks::aloneShare(int windowWidth) const {
    return m_alone && windowWidth > 0 ? static_cast<double>(m_alone->width()) / windowWidth : 0;
}

void WindowDocks::setAloneShare(double share) {
    if (m_alone && share > 0)
        m_window.resizeDocks({m_alone}, {static_cast<int>(std::lround(m_window.width() * share))}, Qt::Horizontal);
}

QByteArray WindowDocks::state() const {
    if (areColumnsLent()) return m_unlent;
    return m_isShown ? m_window.saveState(kStateVersion) : m_state;
}

void WindowDocks::lendColumns(const QString& left, const QString& right) {
    if (areColumnsLent() || !m_isShown) return;
    const auto isDocked = [this](const QString& panel) {
        QDockWidget* const found = dock(panel);
        return found && !found->isHidden() && !found->isFloating() &&
               m_window.dockWidgetArea(found) == Qt::RightDockWidgetArea;
    };
    if (!isDocked(left) || !isDocked(right)) return;
    m_unlent = m_window.saveState(kStateVersion);
    for (const panels::PanelInfo& info : panelTable()) {
        QDockWidget* const dock = m_docks[info.id];
        const Qt::DockWidgetArea area = m_window.dockWidgetArea(dock);
        if (info.id == left || info.id == right || dock->isFloating() || !isColumn(area)) continue;
        m_displaced.insert(info.id);
        dock->hide();
    }
    m_window.addDockWidget(Qt::LeftDockWidgetArea, m_docks[left]);
    m_docks[left]->show();
    m_window.resizeDocks({m_docks[left]}, {lentWidth()}, Qt::Horizontal);
    leaveRoomForGraph();
}

void WindowDocks::giveColumnsBack() {
    if (!areColumnsLent()) return;
    m_displaced.clear();
    if (!m_isShown) {
        m_state = m_unlent;
        return;
    }
    bringBack(m_unlent);
    leaveRoomForGraph();
}

void WindowDocks::restore(const QByteArray& state, const QStringList& wishes) {
    // What is open of that has no content yet; it is sorted out when a model comes.
    if (m_window.restoreState(state, kStateVersion)) {
        m_isRestored = m_isSized = true;
        for (const panels::PanelInfo& info : panelTable()) m_wishes[info.id] = wishFrom(info, wishes);
    }
    for (const auto& [id, dock] : m_docks)
        m_actions.action(QStringLiteral("panel.") + id)->setChecked(!dock->isHidden());
}

}  // namespace sonde::window
