#pragma once

#include "ui/context/messages.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/models/message_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QTreeView;

namespace sonde::panels {

/// Everything that was reported: findings about the file, errors of runs. A line that is about a node leads to it.
class LogPanel : public Panel {
    Q_OBJECT
  public:
    LogPanel(context::OpenModel& opened, context::Navigation& navigation, context::Messages& messages,
             QWidget* parent = nullptr);

  private:
    models::MessageModel m_model;
    QTreeView* m_view;
};

PanelInfo logPanel();

}  // namespace sonde::panels
