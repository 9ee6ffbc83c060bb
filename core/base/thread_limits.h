#pragma once

#include <cstddef>

namespace sonde::base {

/// Threads that a user may ask for: what today's largest machines have. Tens of thousands would end all work on one.
inline constexpr std::size_t kMaxThreads = 1024;

}  // namespace sonde::base
