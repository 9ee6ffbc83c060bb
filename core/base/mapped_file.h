#pragma once

#include <atomic>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "core/base/mapping_guard.h"
#include "core/base/result.h"

namespace sonde::base {

/// A regular file mapped for reading. Tensors keep it alive by sharing it; pages are read when they are touched.
///
/// The file may change while it is mapped. Reading it is then still safe, but the bytes mean nothing: whoever publishes
/// what was made from them asks hasChanged() after reading and before publishing. Thread-safe.
class MappedFile {
  public:
    /// Error (Unreadable) that says why: no such file, a directory, no permission. An empty file maps to no bytes.
    /// A file that was written within the last few milliseconds is waited for: two writes within one tick of the
    /// kernel's clock have one time, and the second could not be told from the first.
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

    /// Looks at the disk: whether the path no longer leads to the file that was opened (it was deleted, or another one
    /// took its place), its size or a time of it (mtime, ctime) is another, or reading it failed. Once true, always
    /// true.
    bool hasChanged() const;
    /// hasChanged() without looking at the disk: what was found so far, and failed reads.
    bool isKnownChanged() const;
    /// The error for hasChanged(): "model file changed on disk" for the role "model file", or that it can no longer be
    /// read.
    Error changeError(std::string_view role) const;

    /// The mapped file that holds the address; null if there is none. Valid for as long as something keeps the memory.
    static const MappedFile* at(const void* address) { return MappingGuard::fileAt(address); }

  private:
    /// What tells one state of a file from another.
    struct Stamp {
        dev_t device;
        ino_t inode;
        off_t sizeBytes;
        timespec modified, changed;
    };

    MappedFile() = default;
    bool isAsOpened() const;

    const std::byte* m_data = nullptr;
    std::size_t m_sizeBytes = 0;
    std::filesystem::path m_path;      ///< as given
    std::filesystem::path m_location;  ///< absolute: the working directory may change
    Stamp m_stamp{};
    std::optional<MappingGuard> m_guard;  ///< none for an empty file
    mutable std::atomic<bool> m_changed{false};
};

/// The files that something was made from.
using MappedFiles = std::vector<std::shared_ptr<const MappedFile>>;

/// Looks at the disk; the error of the first that has changed (see MappedFile::changeError).
Result<void> checkUnchanged(const MappedFiles& files, std::string_view role);
/// Whether one is known to have changed, without looking at the disk.
bool anyKnownChanged(const MappedFiles& files);

/// While it lives, keeps every file that this thread maps. Scopes nest: the innermost has the file.
class MappedFilesScope {
  public:
    MappedFilesScope();
    ~MappedFilesScope();
    MappedFilesScope(const MappedFilesScope&) = delete;
    MappedFilesScope& operator=(const MappedFilesScope&) = delete;

    /// In the order of opening; a file that was opened twice is there twice.
    const MappedFiles& files() const { return m_files; }

  private:
    friend class MappedFile;

    MappedFiles m_files;
    MappedFilesScope* m_outer;
};

}  // namespace sonde::base
