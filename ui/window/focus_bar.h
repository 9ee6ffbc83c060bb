#pragma once

#include <QFrame>

#include "ui/context/canvases.h"
#include "ui/context/open_model.h"

class QLabel;
class QSlider;
class QToolButton;

namespace sonde::window {

/// Says over the canvas that not everything is drawn, and why: what a cone is of, with its depth and directions, what
/// was isolated or hidden, and how many operations are left out. Shown only then.
class FocusBar : public QFrame {
    Q_OBJECT
  public:
    FocusBar(context::OpenModel& opened, context::Canvases& canvases, QWidget* parent);

    /// Lies on another canvas from now on.
    void attachTo(QWidget* canvas);
    QSlider* depthSlider() const { return m_depth; }
    QString text() const;
    /// How many operations the picture leaves out.
    void setLeftOut(std::size_t operations);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void refresh();
    void place();
    void cone();
    QString title() const;

    context::OpenModel& m_opened;
    context::Canvases& m_canvases;
    QLabel* m_title;
    QToolButton* m_up;
    QToolButton* m_down;
    QSlider* m_depth;
    QLabel* m_depthText;
    QLabel* m_count;
    bool m_refreshing = false;
};

}  // namespace sonde::window
