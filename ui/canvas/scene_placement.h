#pragma once

#include <QObject>
#include <QTimer>

#include <optional>
#include <string>

#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_view.h"
#include "ui/canvas/scene_anchor.h"
#include "ui/context/inspector_context.h"

namespace sonde::canvas {

/// Where the camera is put when the scene or the size of the widget changes: at first, so that what was looked at
/// stays where it is, again after the model was read again, and in the next session.
class ScenePlacement : public QObject {
    Q_OBJECT
  public:
    /// `state` is the canvas's, one of the context's, and is told the place. All must outlive it.
    ScenePlacement(CanvasView& view, const CanvasOverlays& overlays, context::CanvasState& state,
                   const context::InspectorContext& context);

    /// Shows the whole scene, also when the size of the widget changes.
    void fit();
    /// The whole is shown, or about to be.
    bool isFitted() const { return isHome() && m_home->fitted; }
    /// With which the whole is in view.
    Camera fitted() const;
    double fittedScale() const { return fitted().scale; }
    /// The item stays where it is on the screen when the next scene comes, whatever is in the middle.
    void hold(layout::ItemId item);
    void release() { m_held.reset(); }
    bool isHolding() const { return m_held.has_value(); }
    /// Whether no complete scene of this document was shown yet.
    bool isFirst() const { return m_isFirst; }
    /// Whether the camera is about to follow a change of size.
    bool isActive() const { return m_keepInView.isActive() || m_settles.isActive(); }

    /// A layout is requested: parts of the former count no more.
    void layoutRequested() { m_beforeParts.reset(); }
    /// What is known of the view before `next` replaces its scene.
    struct Before {
        ShownScene shown;  ///< no index: there was no scene
        std::optional<SceneAnchor> anchor;
        bool isFitted = false;
    };
    Before before(const layout::SceneLayout& next) const;
    /// Puts the camera onto the scene that replaced it, without a signal. `mayFit`: a view that was fitted may be
    /// fitted anew.
    void place(const Before& before, bool final, bool mayFit);

    /// The widget of the view had another size, in pixels, because its window has: what was in the middle stays there,
    /// also while the panels around it get their sizes.
    void windowResized(QSize before);
    /// The same because of what is beside it in the window. It went by `moved` on the screen, the scene does not: what
    /// the user looks at stays under the mouse, and as it was once the room is free again.
    void neighboursResized(QSize before, QPointF moved);
    /// Another canvas is about to take a part of the room, or to leave it: a view that nobody has moved is placed into
    /// what there is then, as in a window of another size.
    void roomIsShared() {
        if (isHome()) m_settles.start();
    }

    /// For the same document when it has been read again.
    void keepForReload();
    void forgetReload() { m_kept.reset(); }
    /// Another document: nothing of this one counts.
    void reset();
    void takeOver(const ScenePlacement& other);

  public Q_SLOTS:
    /// The place is written soon, so that it is known in the next session.
    void rememberSoon();

  Q_SIGNALS:
    /// fit() was asked for.
    void fitAsked();

  private:
    std::optional<SceneAnchor> chooseAnchor(const layout::SceneLayout* next = nullptr) const;
    ShownScene shown() const;
    void placeFirst();
    void placeNew();
    void putAt(layout::ItemId item, QPointF offset, double scale);
    void fitWhatOpened(const layout::SceneLayout& before);
    void keepParts(const ShownScene& before, bool final);
    void placeAgain();
    QRectF placeOfCurrent(double scale) const;
    bool showsCurrent(const Camera& camera) const;
    void keepInView();
    void keepSoon(QSize before);
    void remember();
    /// Nobody has moved the camera since it was put there.
    bool isHome() const {
        return m_home && (m_home->camera == m_view.camera() || (m_aside && m_aside->now == m_view.camera()));
    }
    QPointF middle() const { return QPointF(m_view.size().width(), m_view.size().height()) / 2.0; }

    /// What was looked at when another document took the place of the one that was open: found again by its names.
    struct Kept {
        QString location;
        std::string node, qualname;
        QPointF corner;
        double scale = 1;
    };
    /// Where the camera was put by placeFirst() or fit().
    struct Home {
        Camera camera;
        bool fitted = false;
    };

    /// What was seen before panels came.
    struct Aside {
        Camera before;
        QSize size;
        QPointF moved;  ///< since, on the screen
        Camera now;     ///< as it was left
    };

    CanvasView& m_view;
    const CanvasOverlays& m_overlays;
    context::CanvasState& m_state;
    const context::InspectorContext& m_context;
    bool m_isFirst = true;
    std::optional<Home> m_home;
    std::optional<Aside> m_aside;
    bool m_isUsed = false;  ///< the user has selected something or has run the model since the first scene
    std::optional<Kept> m_kept;
    QString m_shownLocation;                  ///< of the model that the scene is of
    std::optional<SceneAnchor> m_held;        ///< of the item that was just opened or closed
    std::optional<ShownScene> m_beforeParts;  ///< while parts of a layout are shown: the view before them
    Camera m_partsCamera;                     ///< as these parts were placed
    bool m_refits = false;                    ///< the layout that arrives opens or closes something of a fitted view
    QTimer m_rememberTimer;
    QTimer m_settles;     ///< runs after the window was resized: panels still get their sizes in it
    QTimer m_keepInView;  ///< runs while the window is being resized with the selection in view
};

}  // namespace sonde::canvas
