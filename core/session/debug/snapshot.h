#pragma once

#include <memory>
#include <vector>

#include "core/session/debug/place.h"

namespace sonde::session::debug {

/// What of a run has happened at a place.
struct Snapshot {
    /// Without values: which operations were done and for how long, which nodes are computed and bad, which branches
    /// were taken; why the operation at the place failed.
    std::shared_ptr<exec::Recording> recording;
    /// Which operation with nothing inside is at the place, from 1; 0 before the start, their count after the end.
    std::size_t position = 0;
    /// Count of all operations of the run; 0 while branches and loops leave it open.
    std::size_t total = 0;
    std::vector<std::int64_t> pass;  ///< iterations of the loops around the place, outermost first
};

/// Linear in the items before the place. Reads the run's trace: not while it runs.
Snapshot snapshotAt(const RecordedRun& run, const Place& place);

}  // namespace sonde::session::debug
