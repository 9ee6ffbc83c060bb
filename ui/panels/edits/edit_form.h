#pragma once

#include <QWidget>

#include "ui/context/edits.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;

namespace sonde::panels {

/// One edit as it is typed: of what, which slice, and what to do with it. An error is shown below, at the field that it
/// is about.
class EditForm : public QWidget {
    Q_OBJECT
  public:
    explicit EditForm(context::Edits& edits, QWidget* parent = nullptr);

    /// Fills in what is to be edited, and puts the cursor where the change is typed.
    void begin(const QString& node, const QString& slice);
    void setOpen(bool isOpen);
    /// What is below the fields; empty if nothing is.
    QString errorText() const;
    QComboBox* operationBox() const { return m_operation; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void chooseOperation();
    void browse();
    void apply();
    void showError(const base::Error& error, const session::EditPlace& place);
    void clearError();

    context::Edits& m_edits;
    QLineEdit* m_node;
    QLineEdit* m_slice;
    QComboBox* m_operation;
    QLineEdit* m_argument;
    QToolButton* m_browse;
    QPushButton* m_apply;
    QLabel* m_error;
};

}  // namespace sonde::panels
