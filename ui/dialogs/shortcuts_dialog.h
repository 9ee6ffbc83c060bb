#pragma once

#include <QDialog>

class QTreeWidget;
class QTreeWidgetItem;
class QKeySequenceEdit;
class QLabel;

namespace sonde::actions {
class ActionRegistry;
}

namespace sonde::dialogs {

/// Every key, with a filter; the selected action's key can be changed, and all can be set back.
class ShortcutsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit ShortcutsDialog(actions::ActionRegistry& registry, QWidget* parent = nullptr);

  private:
    void fill();
    void filter(const QString& text);
    void choose(QTreeWidgetItem* item);
    void assign();

    actions::ActionRegistry& m_registry;
    QTreeWidget* m_list;
    QKeySequenceEdit* m_edit;
    QLabel* m_conflict;
    QString m_chosen;
};

}  // namespace sonde::dialogs
