#include "core/exec/recompute_options.h"

#include <algorithm>
#include <string>
#include <thread>

namespace sonde::exec {

namespace {

base::Error badOption(const char* name, const char* rule) {
    return base::usageError(std::string(name) + " must be " + rule);
}

}  // namespace

int SublinearOptions::defaultWorkers() {
    return std::max(static_cast<int>(std::thread::hardware_concurrency() / 2), 1);
}

base::Result<void> SublinearOptions::check() const {
    if (threshNrTry < 0) return badOption("thresh_nr_try", "0 or more");
    if (geneticNrIter < 0) return badOption("genetic_nr_iter", "0 or more");
    if (geneticPoolSize < 0) return badOption("genetic_pool_size", "0 or more");
    if (lbMemoryMb < 0) return badOption("lb_memory_mb", "0 or more");
    if (numWorker < 1) return badOption("num_worker", "1 or more");
    return {};
}

base::Result<void> DtrOptions::check() const {
    if (evictionThreshold <= 0) return badOption("eviction_threshold", "above 0");
    if (evicteeMinimumSize < 0) return badOption("evictee_minimum_size", "0 or more");
    if (!(recompMemoryFactor >= 0)) return badOption("recomp_memory_factor", "0 or more");
    if (!(recompTimeFactor >= 0)) return badOption("recomp_time_factor", "0 or more");
    return {};
}

}  // namespace sonde::exec
