#pragma once

#include "ui/context/inputs.h"
#include "ui/context/loader.h"
#include "ui/context/open_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QStackedWidget;

namespace sonde::panels {

/// How the open model is traced: by which tracer, which classes stay single nodes, which parameters have fixed values,
/// whether decisions follow the inputs. Nothing changes until "Trace Again" is pressed.
class TracingPanel : public Panel {
    Q_OBJECT
  public:
    TracingPanel(context::OpenModel& opened, context::Loader& loader, context::Inputs& inputs,
                 QWidget* parent = nullptr);

  private:
    QWidget* buildForm();
    void rebuild();
    void fillLeaves();
    void fillConcrete();
    void showDescription();
    void showResult();
    void setToDefaults();
    document::OpenOptions chosen() const;
    void retrace();

    context::OpenModel& m_opened;
    context::Loader& m_loader;
    context::Inputs& m_inputs;
    QStackedWidget* m_pages;
    QComboBox* m_tracer;
    QLabel* m_description;
    QCheckBox* m_noLeaves;
    QListWidget* m_leaves;
    QCheckBox* m_register;
    QFormLayout* m_concrete;
    QCheckBox* m_follow;
    QCheckBox* m_flatten;
    QPushButton* m_retrace;
    QPushButton* m_defaults;
    QLabel* m_result;
};

PanelInfo tracingPanel();

}  // namespace sonde::panels
