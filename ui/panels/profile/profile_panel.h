#pragma once

#include "core/analysis/profile/stored_profile.h"
#include "core/session/profile/profile_run.h"
#include "ui/context/edits.h"
#include "ui/context/job.h"
#include "ui/context/messages.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/profile.h"
#include "ui/context/runs.h"
#include "ui/context/used_edits.h"
#include "ui/models/node_table_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"
#include "ui/panels/profile/profile_plots.h"
#include "ui/panels/profile/profile_table_model.h"

class QListWidget;
class QTableView;
class QTabWidget;

namespace sonde::widgets {
class ElidedLabel;
class ProgressStrip;
}  // namespace sonde::widgets

namespace sonde::panels {

/// Where time and memory of a run go: nodes and modules in tables, the run as bars, memory over time with what the peak
/// is made of, and what operations reach of what the machine can. A row, bar or point leads to its node.
class ProfilePanel : public Panel {
    Q_OBJECT
  public:
    ProfilePanel(const session::Session& session, context::OpenModel& opened, context::Navigation& navigation,
                 context::Runs& runs, context::Messages& messages, context::Profile& shared, context::Edits& edits,
                 QWidget* parent = nullptr);
    void join(const PanelHost& host);

    /// Null before there is one.
    const std::shared_ptr<const analysis::RunProfile>& profile() const { return m_profile; }
    bool isRunning() const { return m_job.isActive(); }
    QString summary() const;
    QTabWidget* tabs() const { return m_tabs; }
    QTableView* nodes() const { return m_nodes; }
    ProfilePlot* plot(int tab) const;

    // Errors of all: there is no model, no profile yet, or it is being made (Usage).
    /// Runs the model again in the background, on inputs that a run has read: without one there is one before.
    base::Result<void> start();
    base::Result<void> save(const QString& file);
    base::Result<void> compareWith(const QString& file);
    /// "nodes", "modules", "timeline", "memory", "roofline", "other".
    base::Result<void> showTab(const QString& name);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void placeTop();
    void begin();
    void take(std::shared_ptr<const analysis::RunProfile> profile);
    void refresh();
    void summarise();
    void follow();
    void choose(graph::ExprId expr);
    void tell(const base::Result<void>& done);
    void askForFile(bool isSaved);

    const session::Session& m_session;
    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Runs& m_runs;
    context::Messages& m_messages;
    context::Profile& m_shared;  ///< what other views know of the profile
    context::Job m_job, m_files;
    std::shared_ptr<const analysis::RunProfile> m_profile;
    context::UsedEdits m_edits;  ///< of the profile
    std::shared_ptr<const analysis::ProfileComparison> m_compared;
    ProfileTableModel m_nodeModel, m_moduleModel;
    models::TableFilter m_nodeProxy, m_moduleProxy;
    widgets::ProgressStrip* m_progress;
    QWidget* m_top;  ///< summary and buttons
    widgets::ElidedLabel* m_summary;
    QTabWidget* m_tabs;
    QTableView* m_nodes;
    QTableView* m_modules;
    SpanPlot* m_spans;
    MemoryPlot* m_memory;
    RooflinePlot* m_roofline;
    QListWidget* m_alive;
    QListWidget* m_other;
    std::function<void()> m_raise;
    bool m_isFollowing = false;
    bool m_isWaiting = false;  ///< for a run, which reads the inputs
};

PanelInfo profilePanel();

}  // namespace sonde::panels
