#pragma once

#include <QAbstractScrollArea>

#include "core/session/weights/weights.h"

namespace sonde::panels {

/// Histograms of the layers below each other, all over one range: a row each, scaled by its own largest bin. The row
/// under the pointer, or that the arrow keys move to, is told in words.
class LayerHistogramsView : public QAbstractScrollArea {
    Q_OBJECT
  public:
    explicit LayerHistogramsView(QWidget* parent = nullptr);

    void setLayers(session::LayerHistograms layers);
    int count() const { return static_cast<int>(m_layers.layers.size()); }
    int currentRow() const { return m_current; }
    void setCurrentRow(int row);
    /// "layer1.0.conv1: 36,864 weights, 3 below, 1 above"; empty without a current row.
    QString rowText(int row) const;

  Q_SIGNALS:
    /// Double click, or Return.
    void activated(const QString& layer, int row);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    int rowHeight() const;
    int headHeight() const;
    int rowAt(int y) const;
    int labelWidth() const;
    void measureLabels();
    QRectF barsOf(int row) const;
    void paintHead(QPainter& painter) const;
    void paintRow(QPainter& painter, int row) const;
    void fitScrollBar();

    session::LayerHistograms m_layers;
    int m_labelWidth = 0;  ///< of the longest name
    int m_current = -1;
};

}  // namespace sonde::panels
