#pragma once

#include "core/io/inputs/input_info.h"
#include "core/session/input_spec.h"

namespace sonde::session {

/// What an input of a model gets when nothing is known of the user's wish: as for its type, but of a mask that hides
/// nothing.
InputSpec defaultSpec(const io::InputInfo& input);

}  // namespace sonde::session
