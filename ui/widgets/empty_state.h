#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace sonde::widgets {

/// What a panel shows when it has nothing to show: what would stand here, and a button to get there.
class EmptyState : public QWidget {
    Q_OBJECT
  public:
    explicit EmptyState(const QString& icon, const QString& title, const QString& text = {}, const QString& action = {},
                        QWidget* parent = nullptr);

    /// Where there is little room the picture is left out, and the sentence keeps its place.
    QSize minimumSizeHint() const override;

    void setContent(const QString& icon, const QString& title, const QString& text = {}, const QString& action = {});

  Q_SIGNALS:
    void actionTriggered();

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void refresh();
    void arrange();
    int heightWithoutIcon(int width) const;
    int sideFor(int width) const;
    void measureWords();

    QString m_iconName;
    QLabel* m_icon;
    QLabel* m_title;
    QLabel* m_text;
    QPushButton* m_action;
    int m_widestWord = 0;  ///< of title and text, in device-independent pixels
};

}  // namespace sonde::widgets
