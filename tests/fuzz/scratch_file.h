#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <unistd.h>

namespace sonde::fuzz {

/// One file that is written again for each input, for readers that map files. Gone when the process ends well.
/// Set TMPDIR to a folder in memory (/dev/shm): tens of thousands of files a minute are written.
class ScratchFile {
  public:
    explicit ScratchFile(const char* suffix)
        : m_path(std::filesystem::temp_directory_path() / ("sonde-fuzz-" + std::to_string(getpid()) + suffix)) {}
    ~ScratchFile() {
        std::error_code ignored;
        std::filesystem::remove(m_path, ignored);
    }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    const std::filesystem::path& path() const { return m_path; }
    const std::filesystem::path& write(std::span<const std::uint8_t> bytes) const {
        std::ofstream file(m_path, std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        return m_path;
    }

  private:
    std::filesystem::path m_path;
};

}  // namespace sonde::fuzz
