#include "ui/window/panel_table.h"

#include "ui/panels/bisection/bisection_panel.h"
#include "ui/panels/breakpoints/breakpoints_panel.h"
#include "ui/panels/comparison/comparison_panel.h"
#include "ui/panels/differences/differences_panel.h"
#include "ui/panels/edits/edits_panel.h"
#include "ui/panels/findings/findings_panel.h"
#include "ui/panels/inputs/inputs_panel.h"
#include "ui/panels/instances/instances_panel.h"
#include "ui/panels/lesson/lesson_panel.h"
#include "ui/panels/log/log_panel.h"
#include "ui/panels/module_tree/module_tree_panel.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/panels/node_table/node_table_panel.h"
#include "ui/panels/operators/operators_panel.h"
#include "ui/panels/outputs/outputs_panel.h"
#include "ui/panels/passes/passes_panel.h"
#include "ui/panels/precision/precision_panel.h"
#include "ui/panels/problems/problems_panel.h"
#include "ui/panels/profile/profile_panel.h"
#include "ui/panels/summary/summary_panel.h"
#include "ui/panels/sweep/sweep_panel.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/test_cases/test_cases_panel.h"
#include "ui/panels/timeline/timeline_panel.h"
#include "ui/panels/tracing/tracing_panel.h"
#include "ui/panels/watch_list/watch_list_panel.h"
#include "ui/panels/weights/weights_panel.h"
#include "ui/panels/why/why_panel.h"

namespace sonde::window {

const std::vector<panels::PanelInfo>& panelTable() {
    static const std::vector<panels::PanelInfo> table{
        panels::moduleTreePanel(),   panels::summaryPanel(),   panels::inputsPanel(),      panels::nodeDetailsPanel(),
        panels::tensorViewerPanel(), panels::watchListPanel(), panels::nodeTablePanel(),   panels::operatorsPanel(),
        panels::instancesPanel(),    panels::problemsPanel(),  panels::comparisonPanel(),  panels::testCasesPanel(),
        panels::logPanel(),          panels::tracingPanel(),   panels::passesPanel(),      panels::timelinePanel(),
        panels::breakpointsPanel(),  panels::whyPanel(),       panels::editsPanel(),       panels::profilePanel(),
        panels::findingsPanel(),     panels::weightsPanel(),   panels::differencesPanel(), panels::sweepPanel(),
        panels::bisectionPanel(),    panels::precisionPanel(), panels::outputsPanel(),     panels::lessonPanel(),
    };
    return table;
}

void addPanelAdvice() {
    for (const panels::PanelInfo& info : panelTable()) context::addAdvice(info.advice);
}

}  // namespace sonde::window
