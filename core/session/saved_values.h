#pragma once

#include "core/analysis/reference_keys.h"
#include "core/session/session.h"

namespace sonde::session {

/// What the last run was given, returned and kept, by the keys of a reference file: in.NAME of every input, out.NAME of
/// what it came to, node.NAME of watched and end nodes (inside loops of every iteration, see analysis::KeyedValue). All
/// of it is of that run, whatever was given since. Empty before the first run.
analysis::KeyedTensors savedValues(const Session& session);

}  // namespace sonde::session
