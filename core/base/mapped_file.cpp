#include "core/base/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sonde::base {

namespace {

Error cannotOpen(const std::filesystem::path& path, int code) {
    if (code == ENOENT || code == ENOTDIR) return unreadable("no such file", path.string(), "check the path");
    return unreadable(std::string("the file cannot be opened: ") + std::strerror(code), path.string());
}

/// Closes a descriptor at the end of its scope; a mapping outlives it.
struct Descriptor {
    int number = -1;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

bool operator==(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

/// The file's state once no further write can have the time of its last one. Files get the time of the kernel's coarse
/// clock, which ticks every few milliseconds; times from far ahead are another machine's, and not waited for.
int statSettled(int descriptor, struct stat& status) {
    constexpr int kMaxWaits = 20;
    constexpr std::int64_t kFarAhead = 100'000'000;
    constexpr timespec kPause{0, 1'000'000};
    for (int wait = 0;; ++wait) {
        timespec now{};
        ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
        if (::fstat(descriptor, &status) != 0) return -1;
        const std::int64_t ahead =
            std::max(nanoseconds(status.st_ctim), nanoseconds(status.st_mtim)) - nanoseconds(now);
        if (ahead < 0 || ahead > kFarAhead || wait == kMaxWaits || !S_ISREG(status.st_mode)) return 0;
        ::nanosleep(&kPause, nullptr);
    }
}

/// The innermost scope of this thread: files are mapped by readers many calls below whoever opens a model.
thread_local MappedFilesScope* tScope = nullptr;

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
    // O_NONBLOCK: opening a pipe must not wait for its writer. It has no effect on regular files.
    const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (descriptor.number < 0) return cannotOpen(path, errno);
    struct stat status {};
    if (statSettled(descriptor.number, status) != 0) return cannotOpen(path, errno);
    if (S_ISDIR(status.st_mode)) return unreadable("this is a folder, not a file", path.string());
    if (!S_ISREG(status.st_mode)) return unreadable("this is not a regular file", path.string());

    const std::shared_ptr<MappedFile> file(new MappedFile);
    std::error_code code;
    file->m_path = path;
    file->m_location = std::filesystem::absolute(path, code);
    if (code) return unreadable("the file cannot be opened: " + code.message(), path.string());
    file->m_stamp = {status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
    file->m_sizeBytes = static_cast<std::size_t>(status.st_size);
    if (file->m_sizeBytes > 0) {
        void* data = ::mmap(nullptr, file->m_sizeBytes, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
        if (data == MAP_FAILED) return cannotOpen(path, errno);
        file->m_data = static_cast<const std::byte*>(data);
        file->m_guard.emplace(file->m_data, file->m_sizeBytes, file.get());
    }
    if (tScope) tScope->m_files.push_back(file);
    return std::shared_ptr<const MappedFile>(file);
}

MappedFile::~MappedFile() {
    m_guard.reset();
    if (m_data) ::munmap(const_cast<std::byte*>(m_data), m_sizeBytes);
}

/// By path: that also finds another file in its place. As long as this one is mapped no other can have its inode
/// number.
bool MappedFile::isAsOpened() const {
    struct stat now {};
    if (::stat(m_location.c_str(), &now) != 0) return false;
    return now.st_dev == m_stamp.device && now.st_ino == m_stamp.inode && now.st_size == m_stamp.sizeBytes &&
           now.st_mtim == m_stamp.modified && now.st_ctim == m_stamp.changed;
}

bool MappedFile::isKnownChanged() const { return m_changed.load() || (m_guard && m_guard->readFailed()); }

bool MappedFile::hasChanged() const {
    if (isKnownChanged()) return true;
    if (isAsOpened()) return isKnownChanged();  // a read may have failed meanwhile
    m_changed.store(true);
    return true;
}

Error MappedFile::changeError(std::string_view role) const {
    const bool isReadError = !m_changed.load() && isAsOpened();
    return unreadable(std::string(role) + (isReadError ? " can no longer be read from disk" : " changed on disk"),
                      m_path.string(), "run the command again; it then reads the new file");
}

Result<void> checkUnchanged(const MappedFiles& files, std::string_view role) {
    for (const auto& file : files) {
        if (file->hasChanged()) return file->changeError(role);
    }
    return {};
}

bool anyKnownChanged(const MappedFiles& files) {
    return std::any_of(files.begin(), files.end(), [](const auto& file) { return file->isKnownChanged(); });
}

MappedFilesScope::MappedFilesScope() : m_outer(std::exchange(tScope, this)) {}
MappedFilesScope::~MappedFilesScope() { tScope = m_outer; }

}  // namespace sonde::base
