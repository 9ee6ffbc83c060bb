#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/io/zip/zip_directory.h"

namespace sonde::io {

/// Bytes and what keeps them alive: the mapped archive, or a buffer of their own.
struct SharedBytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
};

/// A zip archive over a mapped file (PKWARE APPNOTE; zip64 too). Every size and place is checked against the file.
/// Thread-safe to read.
class ZipArchive {
  public:
    /// Reads the directory. Error if the file is not a zip archive or if an entry is outside of it.
    static base::Result<std::shared_ptr<const ZipArchive>> open(const std::filesystem::path& path);
    static base::Result<std::shared_ptr<const ZipArchive>> open(std::shared_ptr<const base::MappedFile> file);

    const std::vector<ZipEntry>& entries() const { return m_entries; }
    const ZipEntry* find(std::string_view name) const;
    /// The entry's data: where it lies if it is stored, else inflated. `verify` compares the checksum, which reads all
    /// pages. Errors: damaged data, more memory than the limit.
    base::Result<SharedBytes> read(const ZipEntry& entry, bool verify = true) const;
    /// Its first `size` bytes, or all if there are less; the checksum is not compared. Error: damaged data.
    base::Result<SharedBytes> readHead(const ZipEntry& entry, std::uint64_t size) const;
    const base::MappedFile& file() const { return *m_file; }

  private:
    ZipArchive() = default;

    std::shared_ptr<const base::MappedFile> m_file;
    std::vector<ZipEntry> m_entries;
    std::unordered_map<std::string_view, std::size_t> m_index;  ///< views of the entries' names
};

/// Writes stored entries one after the other; the same entries give the same bytes (no time, no user).
base::Result<void> writeZip(const std::filesystem::path& path,
                            std::span<const std::pair<std::string, std::vector<std::byte>>> entries);

}  // namespace sonde::io
