#pragma once

#include <cstdint>

namespace sonde::ops::kernels {

/// As many elements as are worth a call of Epilogue::apply, and still in the nearest cache when the last link reads
/// them: kernels hand over shorter rows and planes by the handful.
inline constexpr std::int64_t kEpiloguePiece = 4096;

}  // namespace sonde::ops::kernels
