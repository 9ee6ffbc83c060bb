#pragma once

#include <QFile>
#include <QString>

#include <cstdint>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sonde::test {

/// What may happen to a file that is open.
enum class FileChange { None, Truncate, Empty, Overwrite, Rename, Delete, ReadError };
constexpr int kFileChanges = 7;

/// Writes into a file as it is, from its first byte on; its size stays if `bytes` has it. System calls only: to be
/// called on any thread.
inline bool overwriteFile(const QString& path, const std::string& bytes) {
    const int file = ::open(path.toLocal8Bit().constData(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool good = ::pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    ::close(file);
    return good;
}

/// A new file of these bytes takes the place of whatever is at the path.
inline bool replaceFile(const QString& path, const std::string& bytes) {
    const QByteArray name = path.toLocal8Bit(), other = name + ".new";
    const int file = ::open(other.constData(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return false;
    const bool good = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    ::close(file);
    return good && ::rename(other.constData(), name.constData()) == 0;
}

/// From now on reading the mapped pages from `address` on fails as if the disk did (EIO is SIGBUS to who reads a
/// mapping), and the file is as before: a mapping of an empty file takes their place.
inline bool makeReadsFail(const void* address, std::size_t sizeBytes) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
    const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(address) + sizeBytes + page - 1) / page * page;
    const int empty = memfd_create("empty", MFD_CLOEXEC);
    if (empty < 0) return false;
    // Not mmap(): sanitizers take that for a write to the memory.
    const long mapped = syscall(SYS_mmap, begin, end - begin, PROT_READ, MAP_PRIVATE | MAP_FIXED, empty, 0);
    ::close(empty);
    return mapped != -1;
}

}  // namespace sonde::test
