#pragma once

#include <QKeySequence>
#include <QObject>

#include <functional>
#include <map>

#include "ui/actions/action_table.h"

class QAction;
class QMenu;
class QMenuBar;
class QWidget;

namespace sonde::actions {

/// Makes the QActions of one window from the table. An action is shown once somebody has bound what it does, so that no
/// menu holds an entry without effect. Shortcuts that the user changed are kept in QSettings under "shortcuts/ID".
/// Owned by the window; UI thread.
class ActionRegistry : public QObject {
    Q_OBJECT
  public:
    explicit ActionRegistry(QObject* parent = nullptr);

    /// Adds an action that the table does not hold: a panel's switch, a recent file. The id must be new.
    QAction* add(const ActionInfo& info);

    /// The action; asserts that the id is known.
    QAction* action(const QString& id) const;
    bool contains(const QString& id) const { return m_entries.count(id) > 0; }
    const ActionInfo& info(const QString& id) const;
    /// Ids in table order, added ones last.
    QStringList ids() const { return m_order; }

    /// Says what the action does and shows it. `context` ends the connection when it is destroyed.
    void bind(const QString& id, QObject* context, std::function<void()> act);
    /// The same for a checkable action.
    void bindToggle(const QString& id, QObject* context, std::function<void(bool)> act);

    /// What is there now: enables the actions whose needs are met and disables the others.
    void setState(Needs state);
    void setState(Need need, bool present);
    Needs state() const { return m_state; }

    /// Puts every action of a scope on the widget that hears its keys: the window, the canvas, the value view.
    void addTo(QWidget* widget, Scope scope) const;
    /// Menus in menuOrder(); menus that come to have no visible action are hidden.
    void fillMenuBar(QMenuBar* bar) const;

    /// The shortcuts that the user has given, or those of the table.
    QList<QKeySequence> shortcuts(const QString& id) const;
    QList<QKeySequence> defaultShortcuts(const QString& id) const;
    /// Keeps the user's choice; a choice equal to the table's is forgotten.
    void setShortcuts(const QString& id, const QList<QKeySequence>& keys);
    void resetShortcuts();
    /// Ids of other actions that hear `key` in a place where this one would too.
    QStringList conflicts(const QString& id, const QKeySequence& key) const;

    /// "Run (F5)\nRun the model on …": the tool tip with its key.
    QString toolTip(const QString& id) const;

    /// Triggers an action as its key does.
    void press(const QString& id);
    /// While an action does its work: whether it was a key that triggered it, and not the mouse.
    bool isPressed() const { return m_isPressed; }

  Q_SIGNALS:
    void shortcutsChanged(const QString& id);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    struct Entry {
        ActionInfo info;
        QAction* action = nullptr;
    };

    Entry& entry(const QString& id);
    const Entry& entry(const QString& id) const;
    void refreshKeys(Entry& entry);
    void refreshEnabled(Entry& entry) const;

    std::map<QString, Entry> m_entries;
    QStringList m_order;
    Needs m_state = Need::Idle;
    bool m_isPressed = false;
};

}  // namespace sonde::actions
