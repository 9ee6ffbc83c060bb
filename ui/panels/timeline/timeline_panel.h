#pragma once

#include "core/session/debug/breakpoint_items.h"
#include "ui/context/debugger.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"
#include "ui/panels/timeline/timeline_view.h"

class QToolButton;

namespace sonde::context {
class Lessons;
}

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::panels {

/// The steps of the run that is debugged, along the bottom of the window: a click or key goes to one, and what reads
/// and writes the selected value is marked. Below it, how the values of the run are kept.
class TimelinePanel : public Panel {
    Q_OBJECT
  public:
    TimelinePanel(const session::Session& session, context::OpenModel& opened, context::Navigation& navigation,
                  context::Debugger& debugger, const context::Lessons& lessons, QWidget* parent = nullptr);
    void join(const PanelHost& host);

    TimelineView* view() const { return m_view; }
    /// "conv1: ▲ reads 2 · ▼ writes 1"; "Values: 12 MiB of 1 GiB in memory".
    QString accessText() const;
    QString keptText() const;
    /// To a step, once the run stops.
    void goTo(ItemId item);
    /// The same to a step that there may not be, which is refused once that is known: Debugger::refused().
    void goToStep(ItemId step);

  private:
    const session::debug::Timeline& timeline() const { return m_session.debugger().timeline(); }
    void follow();
    void followBreakpoints();
    void followSelection();
    void selectIn(TimelineScene& scene);
    void fillAccesses(TimelineScene& scene);
    void show(ItemId item);
    void tell();

    const session::Session& m_session;
    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Debugger& m_debugger;
    const context::Lessons& m_lessons;
    TimelineView* m_view;
    QToolButton* m_byTime;
    QToolButton* m_fit;
    widgets::ElidedLabel* m_accesses;
    widgets::ElidedLabel* m_kept;
    session::debug::Accesses m_exprs;  ///< of the selected value
    session::debug::BreakpointItems m_points;
    std::size_t m_known = 0;          ///< items of the timeline that were looked at for both
    std::size_t m_number = 0;         ///< of the run, see Timeline::number()
    std::optional<ItemId> m_waiting;  ///< where to go once the run stops
    bool m_isShowing = false;
};

PanelInfo timelinePanel();

}  // namespace sonde::panels
