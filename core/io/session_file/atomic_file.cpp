#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "core/io/session_file/session_file.h"

namespace sonde::io {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxAttempts = 1'000;  ///< names of files that an earlier process of this number has left

base::Error cannotWrite(const fs::path& path, int error) {
    return base::runError("the file cannot be written: " + std::generic_category().message(error), path.string());
}

/// A file of its own in the folder, with the permissions that any new file gets; -1: none can be made.
int makeTemporary(const fs::path& folder, std::string& name) {
    static std::atomic<unsigned> count{0};
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
        name = (folder / (".sonde-session-" + std::to_string(::getpid()) + '-' + std::to_string(count++))).string();
        const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

bool writeAll(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// A rename lasts once the folder is on the disk.
void syncFolder(const fs::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    ::fsync(descriptor);
    ::close(descriptor);
}

}  // namespace

base::Result<void> writeAtomically(const fs::path& path, std::string_view text) {
    std::error_code ignored;
    fs::path target = fs::weakly_canonical(path, ignored);
    if (ignored || target.empty()) target = path;
    struct stat before {};
    const bool isThere = ::stat(target.c_str(), &before) == 0;
    if (isThere && !S_ISREG(before.st_mode)) return base::runError("this is no regular file", path.string());
    // A file of this name could be put in its place all the same, but who took the rights away wants it to stay.
    const bool isWritable = !isThere || ((before.st_mode & 0222) != 0 && ::access(target.c_str(), W_OK) == 0);
    if (!isWritable) return cannotWrite(path, EACCES);
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    std::string name;
    const int descriptor = makeTemporary(folder, name);
    if (descriptor < 0) return cannotWrite(path, errno);
    // To keep its owner is up to the system: as a rule it is the same one.
    if (isThere && ::fchown(descriptor, before.st_uid, before.st_gid) != 0) errno = 0;
    const bool isWritten = (!isThere || ::fchmod(descriptor, before.st_mode & 07777) == 0) &&
                           writeAll(descriptor, text) && ::fsync(descriptor) == 0;
    int error = isWritten ? 0 : errno;
    if (::close(descriptor) != 0 && error == 0) error = errno;
    if (error == 0 && ::rename(name.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) {
        ::unlink(name.c_str());
        return cannotWrite(path, error);
    }
    syncFolder(folder);
    return {};
}

}  // namespace sonde::io
