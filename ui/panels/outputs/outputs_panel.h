#pragma once

#include <functional>
#include <string>

#include "core/session/outputs/show_outputs.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QComboBox;
class QSpinBox;
class QStackedWidget;
class QToolButton;

namespace sonde::context {
class Edits;
class InspectorContext;
class Navigation;
class Outputs;
}  // namespace sonde::context
namespace sonde::widgets {
class ElidedLabel;
class LinkLabel;
class TallArea;
class WrappedLabel;
}  // namespace sonde::widgets

namespace sonde::panels {

class BoxOptions;
class OutputView;

/// The outputs of the last run, one at a time, each in the form that suits it or that was chosen. Comes with a run.
class OutputsPanel : public Panel {
    Q_OBJECT
  public:
    explicit OutputsPanel(context::InspectorContext& context, QWidget* parent = nullptr);
    void join(const PanelHost& host);

    OutputView* view() const { return m_view; }
    QComboBox* outputBox() const { return m_output; }
    QComboBox* formBox() const { return m_form; }
    /// What is above the view: of weights, of labels, of what is left out.
    QString notes() const;
    /// For a talk: the view in large letters, the notes in as many lines as they take.
    void setLarge(bool large);

    /// Shows this one. Nothing if there is no such output.
    void showOutput(const std::string& name);
    /// Command of scripts: "[OUTPUT=]FORM[:OPTIONS]" as on the command line. Error (Usage): as of parseChoice(); there
    /// is no such output.
    base::Result<void> choose(const QString& text);

  private:
    void refresh();
    void showCurrent();
    void showNotes(const QString& notes);
    void showControls(const session::outputs::ShownOutput& shown);
    const session::outputs::ShownOutput* current() const;
    /// What is chosen for the current output, with this change.
    void change(const std::function<void(session::outputs::Choice&)>& how);
    void askForFile(const QString& title, std::string session::outputs::Choice::*file);

    context::Outputs& m_outputs;
    context::Navigation& m_navigation;
    context::Edits& m_edits;
    std::string m_name;  ///< of the output that is shown
    QStackedWidget* m_stack;
    QComboBox *m_output, *m_form;
    QSpinBox *m_sample, *m_top;
    QToolButton *m_labels, *m_vocabulary, *m_noNames;
    widgets::LinkLabel* m_type;
    widgets::ElidedLabel *m_notes, *m_summary;
    widgets::WrappedLabel* m_largeNotes;  ///< the notes in place of m_notes, if the view is large
    BoxOptions* m_boxes;
    OutputView* m_view;
    widgets::TallArea* m_place;
    std::string m_scrolledTo;  ///< the output and its form whose rows were brought into view
    bool m_isShowing = false, m_isLarge = false;
};

PanelInfo outputsPanel();

}  // namespace sonde::panels
