#include "core/base/mapped_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
    // O_NONBLOCK: opening a pipe must not wait for its writer. It has no effect on regular files.
    const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (descriptor.number < 0) return cannotOpen(path, errno);
    struct stat status {};
    if (::fstat(descriptor.number, &status) != 0) return cannotOpen(path, errno);
    if (S_ISDIR(status.st_mode)) return unreadable("this is a folder, not a file", path.string());
    if (!S_ISREG(status.st_mode)) return unreadable("this is not a regular file", path.string());

    const std::shared_ptr<MappedFile> file(new MappedFile);
    file->m_path = path;
    file->m_sizeBytes = static_cast<std::size_t>(status.st_size);
    if (file->m_sizeBytes > 0) {
        void* data = ::mmap(nullptr, file->m_sizeBytes, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
        if (data == MAP_FAILED) return cannotOpen(path, errno);
        file->m_data = static_cast<const std::byte*>(data);
    }
    return std::shared_ptr<const MappedFile>(file);
}

MappedFile::~MappedFile() {
    if (m_data) ::munmap(const_cast<std::byte*>(m_data), m_sizeBytes);
}

}  // namespace sonde::base
