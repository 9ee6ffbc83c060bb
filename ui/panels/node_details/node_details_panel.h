#pragma once

#include <QMap>

#include "ui/context/comparison.h"
#include "ui/context/inputs.h"
#include "ui/context/navigation.h"
#include "ui/context/notes.h"
#include "ui/context/open_model.h"
#include "ui/context/points.h"
#include "ui/context/problems.h"
#include "ui/context/runs.h"
#include "ui/models/node_stats.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace sonde::widgets {
class CollapsibleSection;
class ElidedLabel;
class KeyValueGrid;
}  // namespace sonde::widgets

namespace sonde::panels {

class NoteEdit;

/// Everything that is known of what is selected. Every name of another thing is a link to it.
class NodeDetailsPanel : public Panel {
    Q_OBJECT
  public:
    NodeDetailsPanel(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                     context::Runs& runs, context::Inputs& inputs, context::Problems& problems,
                     context::Comparison& comparison, context::Notes& notes, QWidget* parent = nullptr);
    /// Binds what the window does for the panel.
    void join(const PanelHost& host);
    /// Everything that the panel says, "key<TAB>value" lines.
    QString text() const;

  private:
    void rebuild();
    void refreshValue();
    void refreshMarks();
    void editNote();
    void showNode(const context::Selection& selection);
    void showModule(const context::Selection& selection);
    widgets::KeyValueGrid* makeGrid();
    widgets::KeyValueGrid* section(const QString& title, const QString& key, int count = -1);
    void addBadValues(widgets::KeyValueGrid* grid, graph::NodeId node);
    void addFailure(widgets::KeyValueGrid* grid, graph::ExprId expr, const exec::Failure& failure);
    void addStored(widgets::KeyValueGrid* grid, std::size_t module);
    void addDifference(widgets::KeyValueGrid* grid, graph::NodeId node);
    void addOperation(const graph::Expr& expr);
    void addLayer(const graph::Expr& expr);
    void addLayers(graph::ScopeId scope);
    void addAttributes(const graph::Expr& expr);
    void addInputs(const graph::Expr& expr);
    void addOutputs(const graph::Expr& expr);
    void addConsumers(const graph::Node& node);
    void addOrigin(const graph::Expr& expr);
    void addNodeLink(widgets::KeyValueGrid* grid, const QString& key, graph::NodeId node);

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Points& m_points;
    context::Runs& m_runs;
    context::Problems& m_problems;
    context::Comparison& m_comparison;
    models::NodeStats m_stats;
    widgets::ElidedLabel* m_title;
    widgets::ElidedLabel* m_subtitle;
    QToolButton* m_watch;
    QToolButton* m_end;
    QWidget* m_header;
    NoteEdit* m_note;
    QScrollArea* m_area;
    QVBoxLayout* m_column = nullptr;
    widgets::CollapsibleSection* m_valueSection = nullptr;
    QList<widgets::KeyValueGrid*> m_grids;
    QMap<QString, bool> m_closed;  ///< sections as last seen here, by their keys
};

PanelInfo nodeDetailsPanel();

}  // namespace sonde::panels
