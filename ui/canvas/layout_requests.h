#pragma once

#include <QObject>
#include <QSizeF>
#include <QTimer>

#include <memory>
#include <set>
#include <string>

#include "ui/canvas/canvas_marks.h"
#include "ui/canvas/canvas_style.h"
#include "ui/canvas/scene_index.h"

namespace sonde::canvas {

/// A layout that is done, or a part of one, and what it was made of.
struct ComposedScene {
    std::shared_ptr<const SceneIndex> index;
    std::shared_ptr<const graph::InternalGraph> graph;
    CanvasStyle style;
};

/// Has what a canvas shows of the model laid out on a worker. A request replaces the one before it.
class LayoutRequests : public QObject {
    Q_OBJECT
  public:
    /// `state` is the canvas's, one of the context's. All must outlive it.
    LayoutRequests(context::CanvasState& state, CanvasMarks& marks, context::InspectorContext& context);
    ~LayoutRequests() override;

    /// How cards are drawn now: theme, settings and the user's labels.
    CanvasStyle style() const;
    /// Of the open model's scene with cards in that style.
    layout::SceneOptions options(const CanvasStyle& style) const;
    const std::shared_ptr<const TextMeasure>& measure() const { return m_measure; }
    bool isActive() const { return m_job.isActive(); }
    /// A layout takes so long that it has to be said.
    bool isLate() const { return m_isLate; }

    /// Whether columns are chosen anew for a picture that is not the first.
    enum class Columns {
        AsTheyAre,
        IfNeeded,  ///< where the whole could not be read otherwise
        IfEasier,  ///< where it could not be read with ease, as for a first picture
    };
    /// `room`: of the canvas, in pixels. The first picture of a model opens what can be read in it and may be drawn in
    /// columns, and so may another one that is to be fitted: the state is told.
    void request(QSizeF room, Columns columns = Columns::AsTheyAre);
    /// The least scale at which titles are read, in pixels per scene unit.
    double legibleScale() const;
    /// What was requested is not delivered any more.
    void abandon();
    /// With another document: the same, and its notes are told once more.
    void reset();
    /// The user's labels, or what they tell of a run, have changed.
    void rebuildLabels();
    /// Whether the user's labels tell anything of runs.
    bool labelsTellOfRuns() const;
    /// Whether what they tell has become stale since, or is no longer.
    bool areLabelsOutdated() const;
    /// The theme's text has another size.
    void remeasure();
    /// Takes the text sizes of another canvas, whose scene is shown from now on.
    void takeOver(const LayoutRequests& other) { m_measure = other.m_measure; }

  Q_SIGNALS:
    /// Parts of a large layout come first; `final` with the last one.
    void arrived(const sonde::canvas::ComposedScene& scene, bool final);
    /// A request has ended without a scene: the error, unless it was cancelled, is in the messages.
    void failed();
    /// isLate() has become true.
    void becameLate();

  private:
    struct Outcome;
    void deliver(Outcome outcome);
    void tellNotes(const layout::SceneLayout& scene);
    void endWaiting();

    context::CanvasState& m_state;
    CanvasMarks& m_marks;
    context::InspectorContext& m_context;
    context::Job m_job;
    std::uint64_t m_number = 0;  ///< of the request: parts of an older one are dropped
    std::shared_ptr<const TextMeasure> m_measure;
    std::shared_ptr<const CardLabels> m_labels;
    QTimer m_lateTimer;
    bool m_isLate = false;
    std::set<std::string> m_toldNotes;  ///< of this document, so that each is told once
};

}  // namespace sonde::canvas
