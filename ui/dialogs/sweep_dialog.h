#pragma once

#include <QDialog>

#include "ui/context/sweeps.h"

class QComboBox;
class QDialogButtonBox;
class QLineEdit;
class QListWidget;

namespace sonde::dialogs {

/// What a model is run on for a sweep: a folder or an archive, nodes, a condition, labels.
class SweepDialog : public QDialog {
    Q_OBJECT
  public:
    /// Begins with `choice`. `nodes`: names that can be watched, those of the choice checked.
    SweepDialog(const context::SweepChoice& choice, const QStringList& nodes, const QString& folder,
                QWidget* parent = nullptr);

    context::SweepChoice choice() const;

  Q_SIGNALS:
    void chosen(const sonde::context::SweepChoice& choice);

  private:
    void browse(QLineEdit* into, bool isInputs, bool isFolder);
    void refresh();

    QString m_folder;
    QLineEdit *m_inputs, *m_condition, *m_labels, *m_watched;
    QComboBox* m_preset;
    QDialogButtonBox* m_buttons;
};

}  // namespace sonde::dialogs
