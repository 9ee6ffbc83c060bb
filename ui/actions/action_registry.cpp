#include "ui/actions/action_registry.h"

#include <QAction>
#include <QEvent>
#include <QMenu>
#include <QMenuBar>
#include <QScopedValueRollback>
#include <QSettings>

#include "ui/theme/icon.h"

namespace sonde::actions {
namespace {

QList<QKeySequence> parseKeys(const QString& text) {
    QList<QKeySequence> keys;
    for (const QString& part : text.split(QLatin1Char(' '), Qt::SkipEmptyParts))
        keys << QKeySequence::fromString(part, QKeySequence::PortableText);
    return keys;
}

QString keysText(const QList<QKeySequence>& keys) {
    QStringList parts;
    for (const QKeySequence& key : keys) parts << key.toString(QKeySequence::PortableText);
    return parts.join(QLatin1Char(' '));
}

QString settingsKey(const QString& id) { return QStringLiteral("shortcuts/") + id; }

/// A key given in the window is heard everywhere in it; two inner places do not disturb each other.
bool scopesMeet(Scope a, Scope b) { return a == b || a == Scope::Window || b == Scope::Window; }

QMenu* submenu(QMenu* menu, const QString& title) {
    for (QAction* action : menu->actions())
        if (action->menu() && action->text() == title) return action->menu();
    return menu->addMenu(title);
}

/// A menu without visible actions is hidden each time before its parent is shown; returns whether anything is visible.
bool showIfFilled(QMenu* menu) {
    bool filled = false;
    for (QAction* action : menu->actions()) {
        const bool visible =
            action->menu() ? showIfFilled(action->menu()) : action->isVisible() && !action->isSeparator();
        filled = filled || visible;
    }
    menu->menuAction()->setVisible(filled);
    return filled;
}

}  // namespace

ActionRegistry::ActionRegistry(QObject* parent) : QObject(parent) {
    for (const ActionInfo& info : actionTable()) add(info);
}

QAction* ActionRegistry::add(const ActionInfo& info) {
    Q_ASSERT(!contains(info.id));
    auto* action = new QAction(info.text, this);
    action->setObjectName(info.id);
    action->setCheckable(info.checkable);
    action->setVisible(false);
    action->setShortcutContext(info.scope == Scope::Window ? Qt::WindowShortcut : Qt::WidgetWithChildrenShortcut);
    if (!info.icon.isEmpty()) action->setIcon(theme::icon(info.icon));
    // In a menu the check mark is where the icon would.
    action->setIconVisibleInMenu(!info.checkable);
    action->setStatusTip(info.toolTip);
    action->installEventFilter(this);
    m_order << info.id;
    Entry& entry = m_entries[info.id] = {info, action};
    refreshKeys(entry);
    refreshEnabled(entry);
    return action;
}

ActionRegistry::Entry& ActionRegistry::entry(const QString& id) {
    const auto found = m_entries.find(id);
    Q_ASSERT_X(found != m_entries.end(), "ActionRegistry", qPrintable(id));
    return found->second;
}

const ActionRegistry::Entry& ActionRegistry::entry(const QString& id) const {
    return const_cast<ActionRegistry*>(this)->entry(id);
}

QAction* ActionRegistry::action(const QString& id) const { return entry(id).action; }
const ActionInfo& ActionRegistry::info(const QString& id) const { return entry(id).info; }

void ActionRegistry::bind(const QString& id, QObject* context, std::function<void()> act) {
    QAction* bound = action(id);
    connect(bound, &QAction::triggered, context, [act = std::move(act)] { act(); });
    bound->setVisible(true);
}

void ActionRegistry::bindToggle(const QString& id, QObject* context, std::function<void(bool)> act) {
    QAction* bound = action(id);
    // `triggered` and not `toggled`: what the window sets to show a state must not be taken for a wish.
    connect(bound, &QAction::triggered, context, [act = std::move(act)](bool checked) { act(checked); });
    bound->setVisible(true);
}

void ActionRegistry::setState(Needs state) {
    m_state = state;
    for (auto& [id, entry] : m_entries) refreshEnabled(entry);
}

void ActionRegistry::setState(Need need, bool present) {
    Needs next = m_state;
    next.setFlag(need, present);
    if (next != m_state) setState(next);
}

void ActionRegistry::addTo(QWidget* widget, Scope scope) const {
    for (const QString& id : m_order)
        if (entry(id).info.scope == scope) widget->addAction(entry(id).action);
}

void ActionRegistry::fillMenuBar(QMenuBar* bar) const {
    std::map<QString, QMenu*> menus;
    for (const QString& title : menuOrder()) {
        auto* menu = menus[title] = bar->addMenu(QLatin1Char('&') + title);
        connect(menu, &QMenu::aboutToShow, menu, [menu] { showIfFilled(menu); });
    }
    for (const QString& id : m_order) {
        const Entry& row = entry(id);
        QString path = row.info.menu;
        const bool separated = path.endsWith(QLatin1Char('-'));
        if (separated) path.chop(1);
        const QStringList parts = path.split(QLatin1Char('/'));
        const auto top = menus.find(parts.first());
        Q_ASSERT_X(top != menus.end(), "ActionRegistry", qPrintable(path));
        QMenu* menu = top->second;
        for (qsizetype i = 1; i < parts.size(); ++i) menu = submenu(menu, parts[i]);
        if (separated) menu->addSeparator();
        menu->addAction(row.action);
    }
    for (const auto& [title, menu] : menus) showIfFilled(menu);
}

QList<QKeySequence> ActionRegistry::defaultShortcuts(const QString& id) const { return parseKeys(info(id).shortcuts); }

QList<QKeySequence> ActionRegistry::shortcuts(const QString& id) const {
    const QSettings settings;
    const QVariant own = settings.value(settingsKey(id));
    return own.isValid() ? parseKeys(own.toString()) : defaultShortcuts(id);
}

void ActionRegistry::setShortcuts(const QString& id, const QList<QKeySequence>& keys) {
    QSettings settings;
    if (keys == defaultShortcuts(id)) settings.remove(settingsKey(id));
    else settings.setValue(settingsKey(id), keysText(keys));
    refreshKeys(entry(id));
    Q_EMIT shortcutsChanged(id);
}

void ActionRegistry::resetShortcuts() {
    QSettings().remove(QStringLiteral("shortcuts"));
    for (const QString& id : m_order) {
        refreshKeys(entry(id));
        Q_EMIT shortcutsChanged(id);
    }
}

QStringList ActionRegistry::conflicts(const QString& id, const QKeySequence& key) const {
    QStringList others;
    for (const QString& other : m_order)
        if (other != id && scopesMeet(info(other).scope, info(id).scope) && shortcuts(other).contains(key))
            others << other;
    return others;
}

void ActionRegistry::press(const QString& id) {
    const QScopedValueRollback pressed(m_isPressed, true);
    action(id)->trigger();
}

bool ActionRegistry::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::Shortcut) return QObject::eventFilter(watched, event);
    const QScopedValueRollback pressed(m_isPressed, true);
    return watched->event(event);
}

QString ActionRegistry::toolTip(const QString& id) const {
    QString title = info(id).text;
    title.remove(QLatin1Char('&')).remove(QStringLiteral("…"));
    const QList<QKeySequence> keys = shortcuts(id);
    if (!keys.isEmpty()) title += QStringLiteral(" (%1)").arg(keys.first().toString(QKeySequence::NativeText));
    return title + QLatin1Char('\n') + info(id).toolTip;
}

void ActionRegistry::refreshKeys(Entry& entry) {
    entry.action->setShortcuts(shortcuts(entry.info.id));
    entry.action->setToolTip(toolTip(entry.info.id));
}

void ActionRegistry::refreshEnabled(Entry& entry) const {
    entry.action->setEnabled((m_state & entry.info.needs) == entry.info.needs);
}

}  // namespace sonde::actions
