#include "core/session/debug/spill_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sonde::session::debug {

namespace {

std::vector<std::string> foldersFor(const std::string& folder) {
    if (!folder.empty()) return {folder};
    std::vector<std::string> folders;
    if (const char* const given = std::getenv("TMPDIR"); given && *given) folders.emplace_back(given);
    folders.emplace_back("/var/tmp");  // on disk, where /tmp may be in memory
    std::error_code error;
    if (const auto path = std::filesystem::temp_directory_path(error); !error) folders.push_back(path.string());
    return folders;
}

/// A new file that only its descriptor leads to; -1 if there can be none.
int openUnnamed(const std::string& folder) {
    std::string path = folder + "/sonde-values-" + std::string(6, 'X');  // what mkstemp() replaces
    const int file = ::mkstemp(path.data());                             // readable by this user alone
    if (file >= 0) ::unlink(path.c_str());
    return file;
}

}  // namespace

base::Result<SpillFile> SpillFile::create(std::size_t limit, const std::string& folder) {
    std::string tried;
    for (const std::string& each : foldersFor(folder)) {
        const int file = openUnnamed(each);
        if (file < 0) {
            tried = each + ": " + std::strerror(errno);
            continue;
        }
        struct statvfs space {};
        if (::fstatvfs(file, &space) == 0) {
            const auto free = static_cast<std::size_t>(space.f_bavail) * static_cast<std::size_t>(space.f_frsize);
            limit = std::min(limit, free / 2);
        }
        return SpillFile(file, limit);
    }
    return base::runError("no file for values of the run can be made", tried, "set TMPDIR to a folder with room");
}

SpillFile::~SpillFile() {
    if (m_file >= 0) ::close(m_file);
}

SpillFile::SpillFile(SpillFile&& other) noexcept
    : m_file(std::exchange(other.m_file, -1)), m_limit(other.m_limit), m_size(other.m_size) {}

SpillFile& SpillFile::operator=(SpillFile&& other) noexcept {
    std::swap(m_file, other.m_file);
    m_limit = other.m_limit;
    m_size = other.m_size;
    return *this;
}

std::optional<std::int64_t> SpillFile::write(std::span<const std::byte> bytes) {
    if (bytes.size() > m_limit - m_size) return std::nullopt;
    const auto offset = static_cast<std::int64_t>(m_size);
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t written =
            ::pwrite(m_file, bytes.data() + done, bytes.size() - done, offset + static_cast<off_t>(done));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            m_limit = m_size;  // the disk is full: what is there stays readable
            return std::nullopt;
        }
        done += static_cast<std::size_t>(written);
    }
    m_size += bytes.size();
    return offset;
}

base::Result<void> SpillFile::read(std::int64_t offset, std::span<std::byte> bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t got =
            ::pread(m_file, bytes.data() + done, bytes.size() - done, offset + static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return base::runError("a value of the run cannot be read back from disk");
        done += static_cast<std::size_t>(got);
    }
    return {};
}

}  // namespace sonde::session::debug
