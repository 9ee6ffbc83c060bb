#pragma once

#include <QWidget>

#include <memory>
#include <vector>

#include "core/layout/scene.h"
#include "ui/canvas/coloring.h"
#include "ui/canvas/scene_marks.h"

namespace sonde::canvas {

/// What the colours and marks of the picture mean: only those that it holds.
class Legend : public QWidget {
    Q_OBJECT
  public:
    explicit Legend(QWidget* parent);

    /// `coloring` is null if colours are those of categories.
    void setScene(const graph::InternalGraph* graph, const layout::SceneLayout* scene,
                  std::shared_ptr<const Coloring> coloring);
    /// Which marks (ItemFlag) are in the picture.
    void setMarks(ItemFlags marks);
    /// In a small canvas: the colours alone.
    void setCompact(bool compact) { m_compact = compact; }
    QSize sizeHint() const override;
    /// What it says of the colouring, line by line.
    QStringList lines() const { return coloringLines(); }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    int lineHeight() const;
    QStringList coloringLines() const;
    std::vector<int> markRows() const;
    bool m_compact = false;
    ItemFlags m_marks = 0;
    std::shared_ptr<const Coloring> m_coloring;
    bool m_showsModules = false;  ///< some module is closed, and has a number
    bool m_showsUnknown = false;  ///< some item has nothing to be coloured by
    std::vector<theme::OpCategory> m_categories;
};

}  // namespace sonde::canvas
