#pragma once

#include "ui/actions/action_table.h"

namespace sonde::actions {

/// Parts of the table: showing a model to others, and lessons.
std::vector<ActionInfo> teachingActions();
std::vector<ActionInfo> lessonActions();

}  // namespace sonde::actions
