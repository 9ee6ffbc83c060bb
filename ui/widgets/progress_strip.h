#pragma once

#include <QWidget>

class QProgressBar;
class QTimer;
class QToolButton;

namespace sonde::widgets {

class ElidedLabel;

/// A line that tells how far a piece of work is, with a button to cancel it. Work that is done within a moment never
/// shows it, so that nothing flickers.
class ProgressStrip : public QWidget {
    Q_OBJECT
  public:
    explicit ProgressStrip(QWidget* parent = nullptr);

    /// Work has begun; the strip appears if it is still going on `delayMs` later.
    static constexpr int kDelayMs = 150;
    /// `stopTip`: what the button does, with its key; empty: it cancels.
    void start(const QString& what, int delayMs = kDelayMs, const QString& stopTip = {});
    /// `total` 0 means that nobody knows how much there is.
    void setProgress(const QString& what, qint64 done, qint64 total);
    /// Work has ended, however it did.
    void finish();
    bool isActive() const { return m_active; }

  Q_SIGNALS:
    void cancelRequested();

  private:
    ElidedLabel* m_label;
    QProgressBar* m_bar;
    QToolButton* m_cancel;
    QTimer* m_delay;
    bool m_active = false;
};

}  // namespace sonde::widgets
