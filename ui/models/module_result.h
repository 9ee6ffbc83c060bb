#pragma once

#include "ui/context/open_model.h"
#include "ui/context/selection.h"

namespace sonde::models {

/// The value that a selection is about: the selected one, what the selected call of a module returns, or what the
/// Output is given. Invalid if there is none. Takes time by the size of the module, not of the model.
graph::NodeId resultOf(const context::OpenModel& opened, const context::Selection& selection);

}  // namespace sonde::models
