#pragma once

#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>
#include <QWidget>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/layout/scene.h"
#include "ui/canvas/camera.h"
#include "ui/canvas/paging.h"
#include "ui/canvas/scene_painter.h"
#include "ui/canvas/tile_cache.h"
#include "ui/context/inspector_context.h"

class QMenu;
class QVariantAnimation;

namespace sonde::canvas {

class CanvasInteraction;
class CanvasOverlays;

/// The picture of the model: shows what its state says, and turns mouse and keys into verbs of that and of the context.
/// Nothing here takes long on the UI thread: layouts and thumbnails are made by jobs, painting is cut into frames.
class GraphCanvas : public QWidget {
    Q_OBJECT
  public:
    /// `number` is which of the context's canvases it is: the view is that one's.
    explicit GraphCanvas(context::InspectorContext& context, QWidget* parent = nullptr, int number = 0);
    ~GraphCanvas() override;

    /// Null until the first layout is there.
    std::shared_ptr<const layout::SceneLayout> scene() const;
    const Camera& camera() const { return m_camera; }
    /// Where on the widget an item, an expr's item or a scope's item is drawn; empty if it is not shown.
    QRectF itemRect(layout::ItemId item) const;
    QRectF rectOf(graph::ExprId expr) const;
    QRectF rectOf(graph::ScopeId scope) const;
    /// The item that has the keyboard's place, from which the arrows walk.
    layout::ItemId currentItem() const;
    CanvasStyle style() const;

    /// True when nothing is being laid out, animated, or left to be painted.
    bool isIdle() const;
    bool wheelZooms() const;
    bool overviewVisible() const;
    bool legendVisible() const;
    int number() const { return m_number; }
    /// The module path that stands over the canvas, outermost first.
    QStringList path() const;
    /// Shows what another canvas shows, at once and in the same place.
    void takeOver(const GraphCanvas& other);
    /// Whether there is a second canvas: the active one has a line around it, and both a button that closes.
    void setBeside(bool beside);

    /// What draws the scene; null until the first layout is there.
    const ScenePainter* painter() const { return m_painter.get(); }
    const SceneMarks& marks() const { return m_marks; }
    /// What the canvas shows of the model.
    context::CanvasState& state() const { return m_context.canvases().at(m_number); }
    /// While one scene turns into another, nothing can be pointed at.
    bool isChanging() const { return m_transition != nullptr; }

    // --- for its interaction ----------------------------------------------------------------------------------------
    void activate() { m_context.canvases().setActive(m_number); }
    void setCamera(const Camera& camera);
    /// The same with a flight there, which anything stops that moves the camera.
    void flyTo(const Camera& camera);
    void stopFlight();
    /// The item from which the keyboard goes on; without selecting it.
    void setCurrent(layout::ItemId item);
    void selectItem(layout::ItemId item);
    void toggleItem(layout::ItemId item);
    void showItem(layout::ItemId item);
    /// From a stub to its producer.
    void jump(layout::ItemId stub);
    context::Selection selectionOf(layout::ItemId item) const;
    /// The node that commands are about: of the selection, else of the current item.
    graph::NodeId currentNode() const;

    /// The module that is selected, or that the middle of the canvas shows.
    graph::ScopeId shownScope() const;

    /// What is not drawn: operations in closed modules, constants; "" if nothing.
    QString hiddenText() const;
    /// The picture as text: see sceneAsText().
    QString textTwin() const;
    /// The line of textTwin() that is of the current item (-1: none), and the reverse.
    int currentLine() const;
    void goToLine(int line);
    /// What a screen reader is told of an item, and of the place of the keyboard.
    QString spokenItem(layout::ItemId item) const;
    QString spokenCurrent() const { return spokenItem(currentItem()); }
    QString factsOf(layout::ItemId item) const;
    /// The items in view in the order of execution, boxes before what is in them.
    std::vector<layout::ItemId> visibleItems() const;
    /// None while one scene turns into another.
    layout::ItemId itemAt(QPointF pixel) const;
    /// Selects an item, as a click does.
    void setCurrentItem(layout::ItemId item);

    QSize sizeHint() const override { return {900, 700}; }
    QSize minimumSizeHint() const override { return {200, 150}; }

    /// What is drawn now, for exportScene() and the like on a worker. It stays as it is whatever happens here; no
    /// painter if there is no picture yet.
    struct Snapshot {
        std::shared_ptr<const sonde::canvas::ScenePainter> painter;
        sonde::canvas::SceneMarks marks;
        QRectF area;  ///< of the whole picture, or what the canvas shows
    };
    Snapshot snapshot() const;
    /// On a light ground whatever the theme.
    Snapshot snapshotForPaper(bool whole) const;

  public Q_SLOTS:
    void fit();
    void fitSelection();
    void zoomIn() { zoomBy(1.25); }
    void zoomOut() { zoomBy(1 / 1.25); }
    void zoomReset();
    void zoomBy(double factor);
    /// Scrolls (and zooms in if it would be too small to read) until it is seen; opens nothing. See
    /// Navigation::reveal() for what also opens.
    void ensureVisible(const sonde::context::Selection& selection);
    void reveal(sonde::graph::NodeId node) { m_context.navigation().reveal(m_context.navigation().selectionOf(node)); }
    void reveal(sonde::graph::ExprId expr) { m_context.navigation().reveal(m_context.navigation().selectionOf(expr)); }
    void reveal(sonde::graph::ScopeId scope) {
        m_context.navigation().reveal(m_context.navigation().selectionOf(scope));
    }
    void centreOn(QPointF scenePlace);

    /// Steps along edges and among siblings; the direction is that of the picture.
    void walkUp() { walk(0, -1); }
    void walkDown() { walk(0, 1); }
    void walkLeft() { walk(-1, 0); }
    void walkRight() { walk(1, 0); }
    /// Opens or closes the current item in place.
    void toggleCurrent();
    void expandAllInside() { setAllInside(true); }
    void collapseAllInside() { setAllInside(false); }
    /// Selects and closes the module around the current item.
    void leaveModule();
    void selectAll();
    void clearSelection();
    void copyName();
    void toggleWatch();
    void toggleEnd();
    /// From a stub to what makes its value, or the reverse.
    void followCurrent();

    void setDirection(sonde::layout::Direction direction) { state().setDirection(direction); }
    void setWheelZooms(bool zooms);
    void setOverviewVisible(bool visible);
    void setLegendVisible(bool visible);

    /// What the canvas shows, for the clipboard.
    QImage picture(double scale = 2.0) const;

  Q_SIGNALS:
    /// A new picture is complete.
    void layoutFinished();
    void cameraChanged();
    void sceneChanged();
    void marksChanged();
    /// The context menu is about to open: the window may add to it.
    void menuAboutToShow(QMenu* menu);
    void closeRequested();

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
    /// Something that is to stay where it is on the screen while the picture changes around it.
    struct Anchor {
        layout::ItemKey key;
        graph::ExprId expr;
        graph::ScopeId scope;
        QPointF corner;  ///< of the item, in pixels
        double scale = 1;
    };
    /// A scene and how it stands on the screen.
    struct Picture {
        std::shared_ptr<const SceneIndex> index;
        Camera camera;
    };
    struct Transition;
    struct Composed;

    // graph_canvas.cpp
    void connectContext();
    void begin();
    void requestLayout();
    void takeScene(Composed composed, bool final);
    void followSelectionInside();
    /// `next`: the picture that is about to be shown; what it leaves as it is comes first.
    std::optional<Anchor> chooseAnchor(const layout::SceneLayout* next = nullptr) const;
    std::optional<Anchor> anchorOf(layout::ItemId item) const;
    Anchor anchorIn(const Picture& picture, layout::ItemId item) const;
    void keepPicture(const Picture& before, bool final);
    layout::ItemId findAnchor(const Anchor& anchor) const;
    void restyle();
    void relabel();
    void clearScene();

    // canvas_marks.cpp
    void refreshMarks();
    void refreshPreviews();
    std::unordered_set<graph::ScopeId> watchedModules();
    std::vector<std::uint16_t> computeFlags() const;
    void findUntraced();
    void recolor();
    void findPassMarks();

    // canvas_paint.cpp
    void paintScene(QPainter& painter, const QRegion& exposed);
    void paintTransition(QPainter& painter);
    void paintOverlay(QPainter& painter);
    std::vector<layout::ItemId> selectedWithin(const QRectF& area) const;
    void paintNotice(QPainter& painter);
    void startTransition(std::shared_ptr<ScenePainter> before, const Camera& cameraBefore);

    // canvas_place.cpp
    void placeFirst();
    void placeAgain();
    void placeNew();
    void putAt(layout::ItemId item, QPointF offset, double scale);
    void fitWhatOpened(const layout::SceneLayout& before);
    void keepPlace();
    void followPlace();
    void rememberPlace();

    // canvas_navigate.cpp
    void walk(int dx, int dy);
    void setAllInside(bool open);
    layout::ItemId itemOf(const context::Selection& selection) const;
    void announce();

    // canvas_events.cpp
    QPointF scenePlace(QPointF pixel) const { return m_camera.toScene(pixel, size()); }
    QRectF itemRectIn(layout::ItemId item, QSize size) const;
    void bringIntoView(const QRectF& rect);
    std::vector<QRectF> covers() const;
    void uncover(Camera& camera, const QRectF& rect) const;

    context::InspectorContext& m_context;
    const int m_number;
    bool m_beside = false;
    context::Job m_layoutJob, m_previewJob;
    std::shared_ptr<const TextMeasure> m_measure;
    std::shared_ptr<const CardLabels> m_labels;
    std::shared_ptr<ScenePainter> m_painter;
    SceneMarks m_marks;
    std::unordered_map<graph::ScopeId, graph::NodeId>
        m_moduleOutputs;                    ///< of this document, as far as they were looked for
    std::vector<graph::ExprId> m_untraced;  ///< calls of modules that could not be traced
    std::vector<std::pair<graph::ExprId, std::uint16_t>> m_passFlags;  ///< what passes did, as ItemFlags
    TileCache m_tiles;
    Camera m_camera;
    bool m_tilesComplete = false;
    bool m_firstLayout = true;  ///< of this document: show it from its beginning
    std::uint64_t m_layoutNumber = 0;
    /// What was looked at when another document took the place of the one that was open: found again by its names.
    struct KeptPlace {
        QString location;
        std::string node, qualname;
        QPointF corner;
        double scale = 1;
    };
    std::optional<KeptPlace> m_keptPlace;
    QString m_shownLocation;  ///< of the model that the picture is of
    models::NodeMeasures m_measures;
    std::optional<Anchor> m_wantedAnchor;            ///< of the item that was just opened or closed
    std::optional<Picture> m_beforePartial;          ///< while parts of a layout are shown: the picture before them
    Camera m_partialCamera;                          ///< as these parts were placed
    std::optional<context::Selection> m_wantedView;  ///< to be shown once the layout is there
    bool m_refits = false;  ///< the layout that is under way opens or closes something of a fitted picture
    QTimer m_noticeTimer, m_idleTimer;
    QTimer m_placeTimer;  ///< until the place is written
    QTimer m_keepInView;  ///< runs while the window is being resized with the selection in view
    /// Where the camera was put by placeFirst() or fit().
    struct Home {
        Camera camera;
        bool fitted = false;
    };
    std::optional<Home> m_home;
    bool m_noticeShown = false;
    std::set<std::string> m_toldNotes;  ///< of this document, so that each is told once

    std::unique_ptr<Transition> m_transition;
    QPointer<QVariantAnimation> m_flight;
    Camera m_flightTarget;  ///< while there is a flight
    std::optional<layout::ItemKey> m_current;

    std::unique_ptr<CanvasInteraction> m_interaction;
    CanvasOverlays* m_overlays = nullptr;
};

}  // namespace sonde::canvas
