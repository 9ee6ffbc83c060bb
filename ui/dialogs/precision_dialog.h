#pragma once

#include <QDialog>

#include "ui/context/precision.h"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace sonde::dialogs {

/// What to measure the errors of: the model rounding to a lower precision, at all operations or at some, or a quantised
/// model.
class PrecisionDialog : public QDialog {
    Q_OBJECT
  public:
    /// `selected`: a query that finds what is selected; empty if nothing is. `folder`: where file dialogs begin.
    PrecisionDialog(const QString& selected, const QString& folder, QWidget* parent = nullptr);

    using Wanted = context::Precision::Wanted;
    /// What is chosen now.
    Wanted wanted() const;

  Q_SIGNALS:
    void chosen(const sonde::context::Precision::Wanted& wanted);

  private:
    void build();
    void refresh();
    void browse();

    QString m_selected, m_folder;
    QRadioButton *m_lower, *m_other;
    QComboBox *m_type, *m_where;
    QLineEdit* m_query;
    QCheckBox* m_perChannel;
    QLineEdit* m_path;
    QPushButton* m_browse;
    QPushButton* m_start = nullptr;
};

}  // namespace sonde::dialogs
