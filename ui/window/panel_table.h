#pragma once

#include <vector>

#include "ui/panels/panel_info.h"

namespace sonde::window {

/// Every dock panel in the order of the menu. Adding one: its folder in ui/panels, and one line in panel_table.cpp.
const std::vector<panels::PanelInfo>& panelTable();

/// Hints of errors name what the panels offer (context::windowHint).
void addPanelAdvice();

}  // namespace sonde::window
