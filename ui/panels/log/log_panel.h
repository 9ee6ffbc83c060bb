#pragma once

#include <QWidget>

#include "ui/models/message_model.h"
#include "ui/panels/panel_info.h"

class QTreeView;

namespace sonde::panels {

/// Everything that was reported: findings about the file, errors of runs. A line that is about a node leads to it.
class LogPanel : public QWidget {
    Q_OBJECT
  public:
    explicit LogPanel(context::InspectorContext& context, QWidget* parent = nullptr);

  private:
    models::MessageModel m_model;
    QTreeView* m_view;
};

PanelInfo logPanel();

}  // namespace sonde::panels
