#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/result.h"

namespace sonde::exec {

/// How checkpoints are looked for; names and defaults are MegEngine's (dump.md, "Less memory").
struct SublinearOptions {
    int threshNrTry = 10;              ///< cuts of the program into segments that are tried
    int geneticNrIter = 0;             ///< rounds of a genetic search from there on
    int geneticPoolSize = 20;          ///< sets of dropped values that live on from round to round
    std::int64_t lbMemoryMb = 0;       ///< a peak that is low enough, in MiB
    int numWorker = defaultWorkers();  ///< threads of the search

    /// Half of the processors, at least 1.
    static int defaultWorkers();
    /// Usage error: a negative number, or no thread.
    base::Result<void> check() const;
};

/// Memory that a run may take, and what goes first; names and defaults are MegEngine's (dump.md, "Less memory").
struct DtrOptions {
    std::int64_t evictionThreshold = 0;                       ///< bytes of values; above 0
    std::int64_t evicteeMinimumSize = std::int64_t{1} << 20;  ///< smaller values stay
    double recompMemoryFactor = 1;                            ///< exponent of the size
    double recompTimeFactor = 1;                              ///< exponent of the time to compute it again

    /// Usage error: a threshold that is not above 0, or a negative number.
    base::Result<void> check() const;
};

/// A search ends where more than so many times the steps would have to run.
inline constexpr std::size_t kMaxRepetition = 8;

}  // namespace sonde::exec
