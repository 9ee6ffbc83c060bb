#pragma once

#include <stop_token>

#include "core/base/progress.h"

namespace sonde::app {

/// Ctrl+C asks the work that goes on to stop; a second one ends the process at once.
void installInterruptHandler();

/// Work that stops on Ctrl+C and tells its progress on standard error if that is a terminal.
base::WorkContext commandLineWork();

}  // namespace sonde::app
