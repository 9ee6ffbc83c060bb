#pragma once

#include <cstddef>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/base/thread_pool.h"

namespace sonde::analysis {

/// What this machine reaches, measured: the two lines of a roofline.
struct MachineLimits {
    std::size_t threads = 0;
    double flopsPerSecond = 0;  ///< float32, of the engine's own matrix product [768, 768] x [768, 768]
    double bytesPerSecond = 0;  ///< read and written, a[i] = b[i] + s * c[i] over 3 arrays of 32 MiB (STREAM's triad)

    double ridge() const { return bytesPerSecond > 0 ? flopsPerSecond / bytesPerSecond : 0; }
    /// What can be reached at an intensity (FLOPs by byte): min(flopsPerSecond, intensity · bytesPerSecond).
    double at(double intensity) const;
};

/// Measures for about 0.2 s, the best of several tries, once for each number of threads in this process. Blocks.
/// Errors: Cancelled; no memory.
base::Result<MachineLimits> machineLimits(base::ThreadPool& pool, const base::WorkContext& work = {});

}  // namespace sonde::analysis
