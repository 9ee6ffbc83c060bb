#pragma once

#include <QDialog>

#include "ui/context/bisection.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace sonde::dialogs {

class EngineChoice;

/// What the model is compared with to find the smallest part that differs: another model or reference values, itself at
/// a lower precision, or ONNX Runtime.
class BisectDialog : public QDialog {
    Q_OBJECT
  public:
    /// `selected`: a query that finds what is selected; empty if nothing is. `folder`: where file dialogs begin.
    BisectDialog(const QString& selected, const QString& folder, QWidget* parent = nullptr);

    using Wanted = context::Bisection::Wanted;
    /// What is chosen now.
    Wanted wanted() const;
    void choose(const Wanted& wanted);

  Q_SIGNALS:
    void chosen(const sonde::context::Bisection::Wanted& wanted);

  private:
    void build();
    void refresh();
    void browse();
    void finish();

    QString m_selected, m_folder;
    QRadioButton *m_file, *m_lower, *m_other;
    QLineEdit* m_path;
    QPushButton* m_browse;
    QComboBox *m_type, *m_where;
    EngineChoice* m_engine;
    QLabel* m_problem;
    QPushButton* m_start = nullptr;
};

}  // namespace sonde::dialogs
