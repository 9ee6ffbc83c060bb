#pragma once

#include <QFrame>

#include "ui/context/inspector_context.h"

class QLabel;
class QSlider;
class QToolButton;

namespace sonde::window {

/// Says over the canvas that not everything is drawn, and why: what a cone is of, with its depth and directions, what
/// was isolated or hidden, and how many operations are left out. Shown only then.
class FocusBar : public QFrame {
    Q_OBJECT
  public:
    explicit FocusBar(context::InspectorContext& context, QWidget* parent);

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

    context::InspectorContext& m_context;
    QLabel* m_title;
    QToolButton* m_up;
    QToolButton* m_down;
    QSlider* m_depth;
    QLabel* m_depthText;
    QLabel* m_count;
    bool m_refreshing = false;
};

}  // namespace sonde::window
