#pragma once

#include <QAbstractScrollArea>
#include <QTimer>

#include <optional>

#include "ui/panels/timeline/timeline_scene.h"

namespace sonde::panels {

/// The bars of a run, for mouse and keys. What it shows is given to it; where the user wants to go it tells. A click
/// goes to a step, dragging goes along the steps, of which only the newest is told; the wheel zooms or scrolls as on
/// the canvas; a double click zooms to a bar.
class TimelineView : public QAbstractScrollArea {
    Q_OBJECT
  public:
    explicit TimelineView(QWidget* parent = nullptr);

    /// Changes of the scene are made by `edit`. The timeline must live as long as it is shown.
    template <typename Edit>
    void change(const Edit& edit) {
        const double length = lengthShown();
        const ItemId place = m_scene.place;
        edit(m_scene);
        follow(length, place);
    }
    const TimelineScene& scene() const { return m_scene; }

    /// Its place is one that was not told yet.
    bool isAsking() const { return m_asked.has_value(); }

    TimelineScale scale() const { return m_window.scale; }
    void setScale(TimelineScale scale);
    void setWheelZooms(bool zooms) { m_wheelZooms = zooms; }
    bool isFitted() const { return m_isFitted; }
    void fit();
    /// Shows an item as wide as the view.
    void zoomTo(ItemId item);
    void zoom(double factor) { zoomAbout(factor, placeX()); }
    void ensureVisible(ItemId item);
    /// As a click on it does; nothing beyond the steps.
    void goTo(int item);

    /// In pixels of viewport(). None: an item of that row is not there.
    QRectF rectOf(ItemId item) const;
    ItemId itemAt(QPointF pixel) const;
    const TimelinePainted& painted() const { return m_painted; }
    /// What is current, in one line, for screen readers.
    QString placeText() const;

    QSize sizeHint() const override { return {400, 130}; }
    QSize minimumSizeHint() const override { return {120, 44}; }

  Q_SIGNALS:
    /// The newest of what was asked for since the event loop was idle last. May be one beyond the last step.
    void goToRequested(sonde::panels::ItemId item);
    /// To the next step at this level, which has not been done yet.
    void stepRequested();
    /// Return: an item is to be shown elsewhere.
    void selectRequested(sonde::panels::ItemId item);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    bool isEmpty() const { return !m_scene.timeline || m_scene.timeline->size() == 0; }
    double lengthShown() const;
    void measure();
    void follow(double lengthBefore, ItemId placeBefore);
    void setRange(double from, double perPixel);
    void zoomAbout(double factor, double x);
    void refreshScrollBars();
    double placeX() const;
    void ask(ItemId item);
    void askAt(QPointF pixel);
    void stepRight();
    void stepLeft();
    void announce();

    TimelineScene m_scene;
    TimelineWindow m_window;
    TimelinePainted m_painted;
    bool m_isFitted = true;
    bool m_wheelZooms = true;
    bool m_isSettingBars = false;
    int m_dragRow = -1;  ///< the row that a drag goes along; -1: the innermost items
    bool m_isDragging = false;
    std::optional<ItemId> m_asked;
    QTimer m_ask;
    ItemId m_announced = kNoItem;
};

}  // namespace sonde::panels
