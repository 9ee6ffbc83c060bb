#pragma once

#include <QDialog>

class QPlainTextEdit;

namespace sonde::dialogs {

/// The graph as text: one line an item, indented by module, to be read from the top with a cursor or a screen reader.
class TextDialog : public QDialog {
    Q_OBJECT
  public:
    TextDialog(const QString& title, const QString& text, int line, QWidget* parent = nullptr);

    QPlainTextEdit* text() const { return m_text; }
    /// The model that it is of.
    void setTitle(const QString& title);
    /// What is there changes; the cursor keeps its line.
    void setText(const QString& text);

  Q_SIGNALS:
    /// Return, or a double click: the line is to be shown on the canvas.
    void lineChosen(int line);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QPlainTextEdit* m_text;
};

}  // namespace sonde::dialogs
