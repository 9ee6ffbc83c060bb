#pragma once

#include <cstddef>
#include <optional>

namespace sonde::base {

/// Bytes of whole pages of this range that are not in the memory of this process yet: reading them makes it grow. 0 if
/// the system does not tell (/proc/self/pagemap).
std::size_t absentBytes(const void* data, std::size_t sizeBytes);

/// Bytes of memory that this process has (VmRSS), and the most that it has had (VmHWM). Empty if the system does not
/// tell.
struct ResidentMemory {
    std::size_t now = 0, peak = 0;
};
std::optional<ResidentMemory> residentMemory();
/// From now on the peak counts anew, from what there is now (/proc/self/clear_refs). False if the system does not do
/// it.
bool resetResidentPeak();

}  // namespace sonde::base
