#pragma once

#include <QWidget>

#include "ui/context/gradients.h"

class QLabel;
class QToolButton;

namespace sonde::widgets {
class ProgressStrip;
}

namespace sonde::panels {

/// Above a value: how much an element changes with those of the value, with progress while it is found out. There only
/// while a saliency is asked for.
class GradientBar : public QWidget {
    Q_OBJECT
  public:
    explicit GradientBar(context::Gradients& gradients, QWidget* parent = nullptr);

    /// What it says of the value of a node; an invalid one: of none.
    void setNode(graph::NodeId node);
    QString text() const;
    /// Shows the gradient in place of the value.
    QToolButton* showButton() const { return m_show; }

  private:
    void refresh();
    QString textOf(const context::Gradients::Gradient& gradient) const;

    context::Gradients& m_gradients;
    graph::NodeId m_node;
    QLabel* m_text;
    QToolButton* m_show;
    QToolButton* m_close;
    widgets::ProgressStrip* m_progress;
};

}  // namespace sonde::panels
