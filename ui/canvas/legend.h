#pragma once

#include <QWidget>

#include <vector>

#include "core/layout/scene.h"
#include "ui/theme/color_role.h"

namespace sonde::canvas {

/// What the colours and marks of the picture mean: only those that it holds.
class Legend : public QWidget {
    Q_OBJECT
  public:
    explicit Legend(QWidget* parent);

    void setScene(const graph::InternalGraph* graph, const layout::SceneLayout* scene);
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    int lineHeight() const;
    std::vector<theme::OpCategory> m_categories;
};

}  // namespace sonde::canvas
