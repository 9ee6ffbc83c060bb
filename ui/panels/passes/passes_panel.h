#pragma once

#include "ui/context/loader.h"
#include "ui/context/navigation.h"
#include "ui/context/open_model.h"
#include "ui/panels/panel.h"
#include "ui/panels/panel_info.h"

class QLabel;
class QListWidget;
class QPushButton;
class QToolButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace sonde::panels {

/// Changes of the graph: which passes are to be applied, and what each did: which nodes were removed and added, and
/// why. The graph can be seen before and after.
class PassesPanel : public Panel {
    Q_OBJECT
  public:
    PassesPanel(context::OpenModel& opened, context::Loader& loader, context::Navigation& navigation,
                QWidget* parent = nullptr);

  private:
    void rebuild();
    void fillReport();
    void apply();
    void choose(QTreeWidgetItem* item);

    context::OpenModel& m_opened;
    context::Loader& m_loader;
    context::Navigation& m_navigation;
    QListWidget* m_passes;
    QPushButton* m_apply;
    QPushButton* m_clear;
    QToolButton* m_before;
    QToolButton* m_after;
    QLabel* m_summary;
    QTreeWidget* m_report;
    std::shared_ptr<const document::Document> m_shown;  ///< whose report stands here
    bool m_filling = false;
};

PanelInfo passesPanel();

}  // namespace sonde::panels
