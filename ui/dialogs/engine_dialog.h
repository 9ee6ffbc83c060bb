#pragma once

#include <QDialog>

class QLabel;
class QPushButton;

namespace sonde::dialogs {

class EngineChoice;

/// Which ONNX Runtime the model is compared with, and the consent to run its code.
class EngineDialog : public QDialog {
    Q_OBJECT
  public:
    explicit EngineDialog(QWidget* parent = nullptr);
    EngineChoice* engine() const { return m_engine; }

  Q_SIGNALS:
    /// A library that the user has agreed to.
    void chosen(const QString& library);

  private:
    void finish();

    EngineChoice* m_engine;
    QLabel* m_problem;
    QPushButton* m_start;
};

}  // namespace sonde::dialogs
