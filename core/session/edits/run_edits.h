#pragma once

#include "core/analysis/run_edits.h"
#include "core/session/edits/edits.h"

namespace sonde::session {

/// The edits that are switched on, as they are now, for runs on any thread.
analysis::RunEdits runEditsOf(const Edits& edits);

}  // namespace sonde::session
