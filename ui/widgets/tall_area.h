#pragma once

#include <QPointer>
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

    /// As high as the content needs to be, where a place around this one scrolls: of two places in each other that
    /// scroll the inner one would leave a strip to be seen.
    void setWhole(bool isWhole);

    /// Scrolls so that a part of the content is in view, from its top if it is higher than the place; again whenever
    /// the place has another size, or the content another height while nobody has scrolled, until another part is
    /// named.
    void keepInView(QWidget* part);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void fit();
    void scrollToPart();
    int neededHeight(int width) const;

    bool m_isWhole = false;
    int m_reached = 0;  ///< where the scroll bar was when the part was brought into view
    QPointer<QWidget> m_part;
};

}  // namespace sonde::widgets
