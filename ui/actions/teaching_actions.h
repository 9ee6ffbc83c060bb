#pragma once

#include "ui/actions/action_table.h"

namespace sonde::actions {

/// A part of the table: showing a model to others.
std::vector<ActionInfo> teachingActions();

}  // namespace sonde::actions
