#pragma once

#include <cstdint>

namespace sonde::ops {

/// A Scan with batches (up to version 8) numbers the iterations of each batch from a multiple of this on.
inline constexpr std::int64_t kScanBatchIterations = std::int64_t{1} << 20;

}  // namespace sonde::ops
