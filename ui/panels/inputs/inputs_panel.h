#pragma once

#include <QPointer>

#include <functional>
#include <vector>

#include "ui/context/comparison.h"
#include "ui/context/inputs.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QVBoxLayout;
class QCheckBox;
class QPushButton;
class QScrollArea;

namespace sonde::context {
class Messages;
}

namespace sonde::panels {

class InputEditor;

/// What the model is run on: one editor for each input, and whether a change runs it again by itself.
class InputsPanel : public Panel {
    Q_OBJECT
  public:
    InputsPanel(context::OpenModel& opened, context::Runs& runs, context::Inputs& inputs,
                context::Comparison& comparison, context::Messages& messages, QWidget* parent = nullptr);
    /// Binds what the window does for the panel.
    void join(const PanelHost& host);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void rebuild();
    void refresh();
    void revealSoon();
    void reveal(InputEditor& editor);
    void giveTyped();
    void addEditors();
    /// The editor that has the focus, if it will do, else the first that will; null: none.
    InputEditor* editorFor(const std::function<bool(InputEditor&)>& willDo) const;
    void drawInput();
    void stepFile(int by);

    context::OpenModel& m_opened;
    context::Runs& m_runs;
    context::Inputs& m_inputs;
    context::Messages& m_messages;
    QScrollArea* m_area;
    QCheckBox* m_live;
    QPushButton* m_run;
    QVBoxLayout* m_column = nullptr;  ///< of the editors; null if there are none
    QPushButton* m_more = nullptr;    ///< adds some of those that are not shown yet
    std::vector<InputEditor*> m_editors;
    QPointer<InputEditor> m_refused;  ///< the last one that was
};

PanelInfo inputsPanel();

}  // namespace sonde::panels
