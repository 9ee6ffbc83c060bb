#pragma once

#include <QFrame>

#include "ui/context/canvases.h"
#include "ui/context/open_model.h"

class QLabel;
class QSlider;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::window {

/// Says above the canvas that not everything is drawn, and why: what a cone is of, with its depth and directions, what
/// was isolated or hidden, and how many operations are left out. Shown only then, in a layout: it covers no node.
class FocusBar : public QFrame {
    Q_OBJECT
  public:
    FocusBar(context::OpenModel& opened, context::Canvases& canvases, QWidget* parent);

    /// The bar is about another canvas now.
    void refresh();
    QSlider* depthSlider() const { return m_depth; }
    QString text() const;
    /// How many operations the picture leaves out.
    void setLeftOut(std::size_t operations);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void cone();
    QString title() const;

    context::OpenModel& m_opened;
    context::Canvases& m_canvases;
    widgets::ElidedLabel* m_title;
    QToolButton* m_up;
    QToolButton* m_down;
    QSlider* m_depth;
    QLabel* m_depthText;
    QLabel* m_count;
    bool m_refreshing = false;
};

}  // namespace sonde::window
