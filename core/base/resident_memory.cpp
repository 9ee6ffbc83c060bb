#include "core/base/resident_memory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <unistd.h>

namespace sonde::base {

std::size_t absentBytes(const void* data, std::size_t sizeBytes) {
    const int file = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0 || sizeBytes == 0) {
        if (file >= 0) ::close(file);
        return 0;
    }
    // Of a page the entry has a bit that tells whether it is in memory: Documentation/admin-guide/mm/pagemap.rst.
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
    const auto pageSize = static_cast<std::uintptr_t>(::sysconf(_SC_PAGE_SIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(data) / pageSize;
    const auto end = (reinterpret_cast<std::uintptr_t>(data) + sizeBytes + pageSize - 1) / pageSize;
    std::array<std::uint64_t, 512> entries{};
    std::size_t absent = 0;
    for (std::uintptr_t page = begin; page < end;) {
        const auto wanted = std::min<std::size_t>(entries.size(), end - page);
        const auto got =
            ::pread(file, entries.data(), wanted * sizeof(entries[0]), static_cast<off_t>(page * sizeof(entries[0])));
        if (got < static_cast<ssize_t>(sizeof(entries[0]))) break;
        const auto count = static_cast<std::size_t>(got) / sizeof(entries[0]);
        absent += static_cast<std::size_t>(std::count_if(entries.begin(),
                                                         entries.begin() + static_cast<std::ptrdiff_t>(count),
                                                         [](std::uint64_t entry) { return (entry & kPresent) == 0; }));
        page += count;
    }
    ::close(file);
    return absent * pageSize;
}

std::optional<ResidentMemory> residentMemory() {
    std::ifstream status("/proc/self/status");
    ResidentMemory memory;
    bool hasNow = false, hasPeak = false;
    for (std::string line; std::getline(status, line);) {
        const auto kibibytes = [&line](std::size_t from) { return std::stoull(line.substr(from)) << 10; };
        if (line.starts_with("VmRSS:")) memory.now = kibibytes(6), hasNow = true;
        if (line.starts_with("VmHWM:")) memory.peak = kibibytes(6), hasPeak = true;
    }
    if (!hasNow || !hasPeak) return std::nullopt;
    return memory;
}

bool resetResidentPeak() {
    std::ofstream file("/proc/self/clear_refs");
    file << "5";  // the peak alone: Documentation/filesystems/proc.rst
    file.close();
    return bool(file);
}

}  // namespace sonde::base
