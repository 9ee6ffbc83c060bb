#pragma once

#include <QScrollArea>

class QLabel;

namespace sonde::widgets {

/// A text that breaks into lines: as high as it needs to be up to a limit, scrolled beyond.
class CappedArea : public QScrollArea {
    Q_OBJECT
  public:
    explicit CappedArea(QLabel* text, QWidget* parent = nullptr);

    /// In pixels.
    void setMaxTextHeight(int height);
    /// The text is another one.
    void refit();

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override { return {0, heightForWidth(width())}; }
    QSize minimumSizeHint() const override { return {0, 0}; }

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    int textHeight(int width) const;
    void fit();

    QLabel* m_text;
    int m_maxHeight = QWIDGETSIZE_MAX;
};

}  // namespace sonde::widgets
