#include "core/io/zip/zip_directory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace sonde::io {

namespace {

using base::Result;
using base::unreadable;
using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kRecord = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::uint64_t kLocalHeaderBytes = 30;
constexpr std::uint64_t kRecordBytes = 46;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kEnd64Bytes = 56;
constexpr std::uint64_t kLocatorBytes = 20;
constexpr std::uint64_t kMaxComment = 0xffff;
constexpr std::uint32_t kIn64Bits = 0xffffffff;  ///< of a size or place: it is in the extra field

static_assert(std::endian::native == std::endian::little, "zip archives store the lowest byte first");

/// A number whose bytes are known to be there.
template <typename T>
T at(Bytes bytes, std::uint64_t offset) {
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

bool fits(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
    return offset <= bytes.size() && size <= bytes.size() - offset;
}

/// Where the directory is and how many records it has.
struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t shift = 0;  ///< bytes before the archive proper: places in it count from there
    std::uint64_t count = 0;
    bool isWide = false;
};

/// The record at the end; a comment of up to 64 KiB may follow it.
std::optional<std::uint64_t> findEnd(Bytes archive) {
    if (archive.size() < kEndBytes) return std::nullopt;
    const std::uint64_t last = archive.size() - kEndBytes;
    const std::uint64_t first = last - std::min<std::uint64_t>(last, kMaxComment);
    for (std::uint64_t place = last + 1; place-- > first;) {
        if (at<std::uint32_t>(archive, place) == kEnd &&
            fits(archive, place + kEndBytes, at<std::uint16_t>(archive, place + 20)))
            return place;
    }
    return std::nullopt;
}

std::optional<Directory> locate(Bytes archive) {
    const std::optional<std::uint64_t> found = findEnd(archive);
    if (!found) return std::nullopt;
    std::uint64_t end = *found;
    Directory directory{at<std::uint32_t>(archive, end + 16), at<std::uint32_t>(archive, end + 12), 0,
                        at<std::uint16_t>(archive, end + 10), false};
    bool isSplit = at<std::uint16_t>(archive, end + 4) != 0 && at<std::uint16_t>(archive, end + 4) != 0xffff;
    if (end >= kLocatorBytes && at<std::uint32_t>(archive, end - kLocatorBytes) == kLocator64) {
        const auto wide = at<std::uint64_t>(archive, end - kLocatorBytes + 8);
        if (!fits(archive, wide, kEnd64Bytes) || at<std::uint32_t>(archive, wide) != kEnd64) return std::nullopt;
        end = wide;
        directory = {at<std::uint64_t>(archive, end + 48), at<std::uint64_t>(archive, end + 40), 0,
                     at<std::uint64_t>(archive, end + 32), true};
        isSplit = at<std::uint32_t>(archive, end + 16) != 0;
    }
    // The directory ends where its end record begins. What is left before it was put in front of the archive.
    if (isSplit || directory.size > end || directory.offset > end - directory.size) return std::nullopt;
    directory.shift = end - directory.size - directory.offset;
    directory.offset += directory.shift;
    return directory;
}

/// Sizes and place that are too large for the record are in its extra field (APPNOTE 4.5.3), in this order.
bool readWide(Bytes extra, ZipEntry& entry) {
    std::vector<std::uint64_t*> missing;
    for (std::uint64_t* value : {&entry.size, &entry.compressedSize, &entry.header}) {
        if (*value == kIn64Bits) missing.push_back(value);
    }
    while (!missing.empty() && extra.size() >= 4) {
        const std::uint64_t size = at<std::uint16_t>(extra, 2);
        if (!fits(extra, 4, size)) return false;
        if (at<std::uint16_t>(extra, 0) == 1) {
            if (size < missing.size() * 8) return false;
            for (std::size_t i = 0; i < missing.size(); ++i) *missing[i] = at<std::uint64_t>(extra, 4 + i * 8);
            return true;
        }
        extra = extra.subspan(4 + size);
    }
    // 0xffffffff may also be the number itself; the check against the archive's size decides.
    return true;
}

/// What an entry says must be possible. `most` is where the directory begins: data precedes it.
Result<void> check(const ZipEntry& entry, std::uint64_t most, const std::string& place) {
    const auto wrong = [&](const char* what) { return unreadable(what, place + ", entry " + entry.name); };
    if (entry.header > most || most - entry.header < kLocalHeaderBytes ||
        entry.compressedSize > most - entry.header - kLocalHeaderBytes ||
        (entry.stored && entry.size != entry.compressedSize)) {
        return wrong("the zip archive is damaged: an entry is larger than the file");
    }
    // Deflate makes at most 1032 bytes out of one (RFC 1951: 258 bytes from two bits and a bit).
    if (!entry.stored && entry.size / 1040 > entry.compressedSize)
        return wrong("the zip archive is damaged: an entry claims an impossible size");
    return {};
}

}  // namespace

Result<std::vector<ZipEntry>> readZipDirectory(Bytes archive, const std::string& place) {
    const std::optional<Directory> directory = locate(archive);
    if (!directory) return unreadable("this is not a zip archive, or its directory is cut off", place);
    const auto damaged = [&] { return unreadable("the zip archive's directory is damaged", place); };
    const Bytes records = archive.subspan(directory->offset, directory->size);
    std::vector<ZipEntry> entries;
    entries.reserve(std::min(directory->count, records.size() / kRecordBytes));
    std::uint64_t position = 0;
    while (fits(records, position, kRecordBytes) && at<std::uint32_t>(records, position) == kRecord) {
        const std::uint64_t nameSize = at<std::uint16_t>(records, position + 28);
        const std::uint64_t extraSize = at<std::uint16_t>(records, position + 30);
        const std::uint64_t commentSize = at<std::uint16_t>(records, position + 32);
        if (!fits(records, position + kRecordBytes, nameSize + extraSize + commentSize)) return damaged();
        ZipEntry entry;
        const char* name = reinterpret_cast<const char*>(records.data() + position + kRecordBytes);
        entry.name.assign(name, ::strnlen(name, nameSize));
        const auto flags = at<std::uint16_t>(records, position + 8);
        const auto method = at<std::uint16_t>(records, position + 10);
        if (flags & 1U) return unreadable("the zip archive is encrypted", place + ", entry " + entry.name);
        if (method != 0 && method != 8)
            return unreadable("the zip archive uses an unknown compression", place + ", entry " + entry.name);
        entry.stored = method == 0;
        entry.crc = at<std::uint32_t>(records, position + 16);
        entry.compressedSize = at<std::uint32_t>(records, position + 20);
        entry.size = at<std::uint32_t>(records, position + 24);
        entry.header = at<std::uint32_t>(records, position + 42);
        if (!readWide(records.subspan(position + kRecordBytes + nameSize, extraSize), entry)) {
            return unreadable("the zip archive's 64-bit directory is damaged", place + ", entry " + entry.name);
        }
        if (entry.header > archive.size()) return damaged();
        entry.header += directory->shift;
        SONDE_TRY(check(entry, directory->offset, place));
        entries.push_back(std::move(entry));
        position += kRecordBytes + nameSize + extraSize + commentSize;
    }
    // The count of the small form has 16 bits. A digital signature may follow the records (4.3.13).
    const std::uint64_t counted = directory->isWide ? entries.size() : entries.size() & 0xffffU;
    if (counted != directory->count) return damaged();
    return entries;
}

Result<std::uint64_t> zipDataOffset(Bytes archive, const ZipEntry& entry, const std::string& place) {
    const auto damaged = [&] {
        return unreadable("the zip archive is damaged: an entry has no header", place + ", entry " + entry.name);
    };
    if (!fits(archive, entry.header, kLocalHeaderBytes) || at<std::uint32_t>(archive, entry.header) != kLocalHeader)
        return damaged();
    const std::uint64_t offset = entry.header + kLocalHeaderBytes + at<std::uint16_t>(archive, entry.header + 26) +
                                 at<std::uint16_t>(archive, entry.header + 28);
    if (!fits(archive, offset, entry.compressedSize)) return damaged();
    return offset;
}

}  // namespace sonde::io
