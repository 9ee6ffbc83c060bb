#pragma once

#include <QFrame>

class QBoxLayout;
class QLabel;
class QPushButton;
class QToolButton;

namespace sonde::widgets {

class ShortLabel;

/// A message across the top of a view: an error with its hint, an offer to reload. It never takes the input away:
/// people go on working beside it and close it, or press its button, when they like.
class Banner : public QFrame {
    Q_OBJECT
  public:
    enum class Severity { Info, Success, Warning, Error };

    /// Hidden until there is something to say.
    explicit Banner(QWidget* parent = nullptr);

    /// Shows `text`, below it `hint` (may be empty), and a button named `action` (none if empty). Each has three lines;
    /// the text of an error that needs six at most has those; a warning with a button is a question, which is shown
    /// whole.
    void showMessage(Severity severity, const QString& text, const QString& hint = {}, const QString& action = {});
    void dismiss();

    Severity severity() const { return m_severity; }
    QString text() const;
    QString hint() const;

  Q_SIGNALS:
    void actionTriggered();
    void dismissed();

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void refresh();

    Severity m_severity = Severity::Info;
    QLabel* m_icon;
    ShortLabel* m_text;
    ShortLabel* m_hint;
    QPushButton* m_action;
    QToolButton* m_close;
    QBoxLayout *m_row, *m_words;
    bool m_isNarrow = false;
};

}  // namespace sonde::widgets
