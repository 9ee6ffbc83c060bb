#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/base/result.h"

namespace sonde::session::debug {

/// Bytes on disk, in a file that has no name: nobody else can open it, and it is gone with the process, however that
/// ends.
class SpillFile {
  public:
    /// In `folder`, or, if that is empty, in $TMPDIR, else /var/tmp, else the system's folder for temporary files.
    /// Takes no more than `limit` bytes, nor more than half of what is free there.
    static base::Result<SpillFile> create(std::size_t limit, const std::string& folder = {});
    ~SpillFile();
    SpillFile(SpillFile&& other) noexcept;
    SpillFile& operator=(SpillFile&& other) noexcept;

    /// Where they are from now on; nothing if there is no room.
    std::optional<std::int64_t> write(std::span<const std::byte> bytes);
    base::Result<void> read(std::int64_t offset, std::span<std::byte> bytes) const;
    std::size_t sizeBytes() const { return m_size; }

  private:
    SpillFile(int file, std::size_t limit) : m_file(file), m_limit(limit) {}

    int m_file = -1;
    std::size_t m_limit = 0;
    std::size_t m_size = 0;
};

}  // namespace sonde::session::debug
