#pragma once

#include <QObject>

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ui/canvas/canvas_view.h"
#include "ui/canvas/scene_marks.h"
#include "ui/context/inspector_context.h"
#include "ui/models/node_columns.h"

namespace sonde::canvas {

class SceneFlags;

/// Keeps the marks, the colours and the previews of what a view shows as the context has them. Previews are made on a
/// worker. Marks change with the context by themselves; a new scene needs retake().
class CanvasMarks : public QObject {
    Q_OBJECT
  public:
    /// Both must outlive it.
    CanvasMarks(const CanvasView& view, context::InspectorContext& context);
    ~CanvasMarks() override;

    const SceneMarks& now() const { return m_marks; }
    /// The same with colours that suit a style: a picture on paper is light in every theme.
    SceneMarks inScheme(const CanvasStyle& style, theme::Scheme scheme) const;
    /// Modules whose value, their output, is watched: closed, they show it as the node would.
    std::unordered_set<graph::ScopeId> watchedModules();
    /// Whether previews are being made.
    bool isActive() const { return m_previewJob.isActive(); }

    /// Another document is open, or a scene of another.
    void begin();
    void clear();
    /// Those of another canvas with the same scene.
    void takeOver(const CanvasMarks& other);
    /// The flags of a new scene; tells nobody.
    void retake() {
        static_cast<ItemMarks&>(m_marks) = computeFlags();
        m_marks.pins = computePins();
    }
    /// By the column that the user chose; none if colours are those of the categories.
    void recolor();
    /// Whether the colours are of a run that has become stale since they were made, or that is no longer.
    bool isColoringOutdated() const;
    void refresh();
    void refreshPreviews();
    void refreshPreview(graph::NodeId node);

  Q_SIGNALS:
    /// Flags of this part of the scene are others; null: of all of it. Before changed().
    void areaChanged(const QRectF& area);
    void changed();
    /// Previews of watched nodes are there; areaChanged() has told where.
    void previewsChanged();

  private:
    void connectContext();
    ItemMarks computeFlags() const;
    Pins computePins() const;
    void refreshPins();
    void markPoints(SceneFlags& flags) const;
    void markBreakpoints(SceneFlags& flags) const;
    void markBreakpoint(SceneFlags& flags, const context::Breakpoints::Point& point) const;
    void markValues(SceneFlags& flags) const;
    void markEdits(SceneFlags& flags) const;
    void markRun(SceneFlags& flags) const;
    void dimLeftOut(SceneFlags& flags) const;
    void findUntraced();
    void findPassMarks();

    const CanvasView& m_view;
    context::InspectorContext& m_context;
    context::Job m_previewJob;
    SceneMarks m_marks;
    models::NodeMeasures m_measures;
    /// Of this document, as far as they were looked for.
    std::unordered_map<graph::ScopeId, graph::NodeId> m_moduleOutputs;
    std::vector<graph::ExprId> m_untraced;                         ///< calls of modules that could not be traced
    std::vector<std::pair<graph::ExprId, ItemFlags>> m_passFlags;  ///< what passes did, as ItemFlags
};

}  // namespace sonde::canvas
