#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "core/base/result.h"

namespace sonde::base {

/// A regular file mapped for reading. Tensors keep it alive by sharing it; pages are read when they are touched.
/// The file must not shrink while it is mapped. Thread-safe.
class MappedFile {
  public:
    /// Error (Unreadable) that says why: no such file, a directory, no permission. An empty file maps to no bytes.
    static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return {m_data, m_sizeBytes}; }
    std::size_t sizeBytes() const { return m_sizeBytes; }
    const std::filesystem::path& path() const { return m_path; }
    /// `sizeBytes` bytes from `offset`, or nothing if they are not all inside the file.
    std::span<const std::byte> window(std::size_t offset, std::size_t sizeBytes) const {
        if (offset > m_sizeBytes || sizeBytes > m_sizeBytes - offset) return {};
        return {m_data + offset, sizeBytes};
    }

  private:
    MappedFile() = default;

    const std::byte* m_data = nullptr;
    std::size_t m_sizeBytes = 0;
    std::filesystem::path m_path;
};

}  // namespace sonde::base
