#pragma once

#include <memory>
#include <optional>

#include "ui/context/bisection.h"
#include "ui/context/comparison.h"
#include "ui/context/debugger.h"
#include "ui/context/edits.h"
#include "ui/context/engine.h"
#include "ui/context/gradients.h"
#include "ui/context/inputs.h"
#include "ui/context/job.h"
#include "ui/context/messages.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/context/outputs.h"
#include "ui/context/runs.h"
#include "ui/context/second_model.h"
#include "ui/context/why.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QAction;
class QComboBox;
class QLabel;
class QSpinBox;
class QStackedWidget;
class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
class TallArea;
}  // namespace sonde::widgets

namespace sonde::panels {

class GradientBar;
class PairedValue;
struct ElementOverlay;
class TensorViewer;
class ValuePair;

/// Follows the selection and shows its value: what the last run kept, a weight, or an input. A value that the run
/// passed without keeping is asked for by itself; where there is none, the panel says why and offers to run.
class TensorViewerPanel : public Panel {
    Q_OBJECT
  public:
    TensorViewerPanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs,
                      context::Inputs& inputs, context::Messages& messages, context::Comparison& comparison,
                      context::Why& why, context::Gradients& gradients, context::Edits& edits,
                      context::Debugger& debugger, context::SecondModel& second, context::Bisection& bisection,
                      context::Engine& engine, context::Outputs& outputs, session::Session& session);

    TensorViewer* viewer() const { return m_viewer; }
    ValuePair* pair() const { return m_pair; }
    PairedValue* paired() const { return m_paired; }
    GradientBar* gradientBar() const { return m_gradient; }
    /// Chooses what is in the second pane; there only while there is one.
    QComboBox* besideBox() const { return m_beside; }
    /// The node whose value is meant: the selected one, a module's result, or what the Output expr returns.
    graph::NodeId node() const { return m_node; }
    /// Chooses the pass of the loop that the node is in; there only if there were several.
    QSpinBox* iterationBox() const { return m_iteration; }
    /// Chooses the value, the baseline or the difference; there only of a run with edits.
    QComboBox* shownBox() const { return m_shown; }
    /// Why what was typed into a cell was not taken; empty if it was.
    QString errorText() const;
    /// Commands `beside` and `panes`.
    base::Result<void> showBeside(const QString& what);
    base::Result<void> showPanes(const QString& how);
    /// Command `gradient`.
    base::Result<void> showGradientOf(const QString& what);
    /// Binds what the menus do with values.
    void join(const PanelHost& host);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void follow();
    void refresh();
    void showPage();
    void explain();
    void connectWhy();
    context::Why::Place placeOf(const std::vector<std::int64_t>& index) const;
    std::optional<std::size_t> shownIteration() const;
    void followHop();
    void refreshOverlay();
    void showMenu(const QPoint& place);
    void buildHeader();
    void connectGradients();
    void askGradient();
    bool showsGradient() const;
    void setGradientShown(bool on);
    std::shared_ptr<const ElementOverlay> gradientOverlay() const;
    void connectTokens(context::Outputs& outputs);
    void findTokens(const context::Outputs& outputs);
    void connectPair();
    void showPair();
    QString whyNoDifference() const;
    void arrangePair();
    void grow();
    void setTwoPanes(bool on);
    void pinNode();
    void showBisected(graph::NodeId node);
    void connectEdits();
    QString changeText() const;
    QString distanceText() const;
    void refreshShown();
    QString rangeText(int last) const;
    void offerIterations();
    void chooseIteration(int iteration);
    bool isBadIteration(int iteration) const;
    std::optional<int> firstBadIteration(int count) const;
    std::optional<int> differingIteration() const;
    std::optional<int> worthSeeing(int count) const;
    QString differenceText(const analysis::NodeDifference& found) const;

    context::OpenModel& m_opened;
    context::Navigation& m_navigation;
    context::Runs& m_runs;
    context::Messages& m_messages;
    context::Comparison& m_comparison;
    context::Why& m_why;
    context::Gradients& m_gradients;
    context::Edits& m_edits;
    context::Debugger& m_debugger;
    context::Bisection& m_bisection;
    session::Session& m_session;
    context::Job m_tokensJob;
    QString m_location;  ///< of the model whose values were looked at
    graph::NodeId m_node;
    graph::NodeId m_viewed;  ///< whose value is in the viewer
    graph::NodeId m_asked;   ///< requested from the context and not yet arrived
    QStackedWidget* m_stack;
    QWidget* m_page;
    widgets::ElidedLabel* m_title;
    widgets::ElidedLabel* m_change;  ///< how far it is from a reference and from the baseline
    QWidget* m_iterations;           ///< "Iteration 3 of 0–11"
    QSpinBox* m_iteration;
    QLabel* m_iterationCount;
    QComboBox* m_shown;  ///< value, baseline, difference
    QLabel* m_error;
    GradientBar* m_gradient;
    bool m_wantsGradient = false, m_viewsGradient = false;  ///< the gradient is seen in place of the value
    QComboBox* m_beside;
    QToolButton* m_twoPanes;
    ValuePair* m_pair;
    PairedValue* m_paired;
    graph::NodeId m_iterationOf;     ///< whose passes the box chooses from
    std::optional<int> m_differing;  ///< what differingIteration() was when the box was set
    TensorViewer* m_viewer;
    context::Why::Place m_hop;  ///< that was shown last
    QAction* m_whyAction = nullptr;
    bool m_hasGrown = false;  ///< once: how high it is after that is the user's
    actions::ActionRegistry* m_actions = nullptr;
    widgets::TallArea* m_place = nullptr;  ///< of all but the texts where there is no value
    QString m_broughtIntoView;             ///< what was in both panes when they were scrolled to
    widgets::EmptyState* m_empty;
};

PanelInfo tensorViewerPanel();

}  // namespace sonde::panels
