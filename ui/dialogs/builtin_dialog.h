#pragma once

#include <QDialog>

class QListWidget;

namespace sonde::dialogs {

/// Lets the user choose one of the models that need no file.
class BuiltInDialog : public QDialog {
    Q_OBJECT
  public:
    explicit BuiltInDialog(QWidget* parent = nullptr);

  Q_SIGNALS:
    /// "zoo:NAME".
    void chosen(const QString& location);

  private:
    QListWidget* m_list;
};

}  // namespace sonde::dialogs
