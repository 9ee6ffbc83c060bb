#pragma once

#include <QTimer>
#include <QWidget>

#include <memory>
#include <optional>
#include <utility>

#include "ui/canvas/canvas_interaction.h"
#include "ui/canvas/canvas_marks.h"
#include "ui/canvas/canvas_navigation.h"
#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_renderer.h"
#include "ui/canvas/canvas_snapshot.h"
#include "ui/canvas/canvas_text.h"
#include "ui/canvas/canvas_view.h"
#include "ui/canvas/layout_requests.h"
#include "ui/canvas/scene_placement.h"

namespace sonde::canvas {

/// The graph of the model on a widget. It owns the parts below and wires them, hands on events, and says how one scene
/// replaces another; what can be seen and done is the parts'. Nothing here takes long on the UI thread: layouts and
/// thumbnails are made by jobs, painting is cut into frames.
class GraphCanvas : public QWidget {
    Q_OBJECT
  public:
    /// `number` is which of the context's canvases it is: what it shows of the model is that one's.
    explicit GraphCanvas(context::InspectorContext& context, QWidget* parent = nullptr, int number = 0);
    ~GraphCanvas() override;

    int number() const { return m_number; }
    /// What the canvas shows of the model.
    context::CanvasState& state() const { return m_context.canvases().at(m_number); }
    /// The scene and the camera on it.
    CanvasView& view() { return m_view; }
    const CanvasView& view() const { return m_view; }
    const SceneMarks& marks() const { return m_marks.now(); }
    const CanvasText& text() const { return m_text; }
    ScenePlacement& placement() { return m_placement; }
    CanvasNavigation& navigation() { return m_navigation; }
    CanvasOverlays& overlays() { return m_overlays; }
    const CanvasOverlays& overlays() const { return m_overlays; }
    CanvasInteraction& interaction() { return m_interaction; }
    const CanvasInteraction& interaction() const { return m_interaction; }

    /// True when nothing is being laid out, animated, or left to be painted.
    bool isIdle() const;
    /// Shows what another canvas shows, at once and in the same place.
    void takeOver(const GraphCanvas& other);
    /// Whether there is a second canvas: the active one has a line around it, and both a button that closes.
    void setBeside(bool beside);
    /// Of canvases on several models: whether this one's context is the one in use.
    void setInUse(bool isInUse);

    QSize sizeHint() const override { return {900, 700}; }
    QSize minimumSizeHint() const override { return {200, 150}; }

    /// What is drawn now.
    CanvasSnapshot snapshot() const;
    /// On a light background whatever the theme.
    CanvasSnapshot snapshotForPaper(bool whole) const;
    /// What the canvas shows, for the clipboard.
    QImage picture(double scale = 2.0) const;

  Q_SIGNALS:
    /// A new scene is complete.
    void layoutFinished();
    void sceneChanged();

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

  private:
    void connectContext();
    void connectNavigation();
    void connectParts();
    void begin();
    void requestLayout();
    void requestLayout(LayoutRequests::Columns columns);
    LayoutRequests::Columns columnsOfWhole() const;
    void layOutChanged();
    void layOutFitted();
    void takeScene(const ComposedScene& composed, bool final);
    void clearScene();
    void restyle();
    void valuesChanged();
    void tellWholeView();
    void paintNotice(QPainter& painter);

    context::InspectorContext& m_context;
    const int m_number;
    bool m_isBeside = false;
    bool m_isInUse = true;
    QTimer m_beginning;      ///< runs until the first layout of a model is requested
    QSize m_windowSize;      ///< when the canvas got its size
    QPoint m_placeInWindow;  ///< the same
    /// Of the view as it was requested last.
    std::pair<layout::Wrapping, layout::Direction> m_shape{layout::Wrapping::Automatic, layout::Direction::TopDown};
    graph::NodeId m_followed;                    ///< where the debugged run was last
    std::optional<context::Selection> m_wanted;  ///< to be shown once the layout is there

    // Each knows those before it only.
    CanvasView m_view;
    CanvasMarks m_marks;
    CanvasText m_text;
    LayoutRequests m_layouts;
    CanvasOverlays m_overlays;
    ScenePlacement m_placement;
    CanvasNavigation m_navigation;
    CanvasInteraction m_interaction;
    CanvasRenderer m_renderer;
};

}  // namespace sonde::canvas
