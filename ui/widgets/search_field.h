#pragma once

#include <QWidget>

class QLabel;
class QLineEdit;
class QTimer;
class QToolButton;

namespace sonde::widgets {

/// A box to search or filter with: text, a counter of hits, previous and next. Return and F3 go on, Shift+Return and
/// Shift+F3 go back, Escape clears, and once more leaves.
class SearchField : public QWidget {
    Q_OBJECT
  public:
    explicit SearchField(QWidget* parent = nullptr);

    QString text() const;
    void setText(const QString& text);
    void setPlaceholderText(const QString& text);
    /// Whether there is a counter with previous and next; a plain filter has none. On at first.
    void setNavigable(bool navigable);
    /// "3 of 17"; `current` counts from 0, -1 means that none is current. `total` -1 hides the counter.
    void setHits(int current, int total);
    /// Puts the cursor into the field with the text selected.
    void activate();

    QLineEdit* lineEdit() const { return m_edit; }

  Q_SIGNALS:
    /// Sent once typing has paused for a moment.
    void textChanged(const QString& text);
    void nextRequested();
    void previousRequested();
    /// Escape in an empty field.
    void left();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void refresh();

    QLineEdit* m_edit;
    QLabel* m_counter;
    QToolButton* m_previous;
    QToolButton* m_next;
    QTimer* m_pause;
    QString m_sent;
    int m_current = -1;
    int m_total = -1;
    bool m_navigable = true;
};

}  // namespace sonde::widgets
