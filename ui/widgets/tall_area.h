#pragma once

#include <QScrollArea>

namespace sonde::widgets {

/// A place for a column of controls that break into lines: as wide as the place, at least as high as they need at that
/// width, scrolled where the place is lower. A plain layout would cut them.
class TallArea : public QScrollArea {
    Q_OBJECT
  public:
    explicit TallArea(QWidget* content, QWidget* parent = nullptr);

    QSize sizeHint() const override { return widget()->sizeHint(); }
    QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void fit();
};

}  // namespace sonde::widgets
