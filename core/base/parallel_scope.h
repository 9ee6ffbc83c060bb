#pragma once

namespace sonde::base {

/// Whether the calling thread is inside of a loop's body of some ThreadPool: loops that it begins run in place, so
/// there is nothing to gain from cutting work into shares.
bool insideParallelLoop();

}  // namespace sonde::base
