#pragma once

#include <QWidget>

class QVBoxLayout;

namespace sonde::window {

/// What the window shows when no model is open: where to drop a file, what was open last, models to begin with.
class StartPage : public QWidget {
    Q_OBJECT
  public:
    explicit StartPage(QWidget* parent = nullptr);
    /// Reads the recent files again.
    void refresh();

  Q_SIGNALS:
    void openRequested();
    void builtInRequested();
    void modelChosen(const QString& location);
    void sampleChosen(int index);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QVBoxLayout* m_recent;
    QWidget* m_recentBox;
};

}  // namespace sonde::window
