#pragma once

#include <QObject>

#include <optional>
#include <vector>

#include "core/layout/view_state.h"
#include "ui/context/focus.h"
#include "ui/context/navigation.h"
#include "ui/context/place.h"

namespace sonde::context {

class Messages;

/// What one canvas shows of the model: which modules are open, what is left out, where it looks. Verbs about the
/// selection take the window's. Belongs to the UI thread.
class CanvasState : public QObject {
    Q_OBJECT
  public:
    CanvasState(OpenModel& model, Navigation& navigation, Messages& messages, int number);

    const layout::ViewState& view() const { return m_view; }
    /// Where it looked when it was last told; of a document that was just opened, in the session before.
    const Place& place() const { return m_place; }
    bool isExpanded(ScopeId scope) const;
    bool folds() const { return m_view.foldFrom > 0; }
    /// The run of repeated blocks that something is in (Outline::runs()), or Outline::kNoRun.
    std::uint32_t runOf(const Selection& selection) const;
    const Focus& focus() const { return m_focus; }
    /// Whether anything was hidden by hand, besides what the focus leaves out.
    bool hidesAny() const;

    /// Nothing is remembered of the model and nobody has changed the view: the first picture opens what can be read.
    bool isFirst() const { return m_isFirst; }
    /// By the canvas: what that picture opens; tells nobody.
    void begin(layout::ViewState view);
    /// By the context, for another document; tells nobody. Without a view it is the first.
    void reset(std::optional<layout::ViewState> view = {}, const Place& place = {});
    /// By the context: begins with what the other shows; tells nobody.
    void takeOver(const CanvasState& other);

  public Q_SLOTS:
    void setExpanded(sonde::graph::ScopeId scope, bool expanded);
    void setExpanded(sonde::graph::ExprId expr, bool expanded);
    /// Opens or closes a module and everything in it.
    void setExpandedRecursively(sonde::graph::ScopeId scope, bool expanded);
    /// Opens exactly the modules less than `depth` levels below the top; 0 closes all.
    void expandToDepth(int depth);
    /// Opens everything that hides it, and shows it if it was left out.
    void open(const sonde::context::Selection& selection);
    void setView(const sonde::layout::ViewState& view) { changeView(view); }
    void setDirection(sonde::layout::Direction direction);
    void setShowsConstants(bool shown);
    void setFoldsShapes(bool folded);
    /// Tells where the canvas looks, to be remembered.
    void keepPlace(const sonde::context::Place& place);

    /// Draws only what the selection needs, what needs it, or both; `depth` edges far, 0: however far.
    void focusCone(bool upstream, bool downstream, int depth);
    void focusConeOfSelection(bool upstream, bool downstream);
    /// Draws only the paths between the first selected node and the others; false if there are none.
    bool focusPaths();
    void isolateSelection();
    void hideSelection();
    /// Hides every operation like the selected one.
    void hideOperator();
    void showEverything();

    void setFolds(bool folds);
    void setRunFolded(std::uint32_t run, bool folded);
    void showInstance(std::uint32_t run, std::uint32_t instance);
    /// Shows the next (1) or previous (-1) instance of the run around the selection.
    void stepInstance(int step);

  Q_SIGNALS:
    /// What is to be drawn is other than before: a new layout is needed.
    void viewChanged();
    void focusChanged();

  private:
    void changeView(layout::ViewState view);
    void setFocus(Focus focus);
    std::vector<bool> focused();
    void applyFocus();

    OpenModel& m_model;
    Navigation& m_navigation;
    Messages& m_messages;
    const int m_number;
    layout::ViewState m_view;
    Place m_place;
    Focus m_focus;
    bool m_isFirst = false;
    std::vector<bool> m_hidden;  ///< by ExprId: hidden by hand; may be shorter
};

}  // namespace sonde::context
