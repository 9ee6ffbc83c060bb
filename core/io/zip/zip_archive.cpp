#include "core/io/zip/zip_archive.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <zlib.h>

#include "core/tensor/storage.h"

namespace sonde::io {

namespace {

using base::Error;
using base::Result;
using base::unreadable;

/// minizip reads through these from the mapped bytes.
struct Cursor {
    std::span<const std::byte> bytes;
    std::uint64_t position = 0;
};

voidpf openCursor(voidpf opaque, const void*, int) { return opaque; }

uLong readCursor(voidpf, voidpf stream, void* buffer, uLong size) {
    Cursor& cursor = *static_cast<Cursor*>(stream);
    const std::uint64_t left = cursor.bytes.size() - std::min<std::uint64_t>(cursor.position, cursor.bytes.size());
    const uLong count = static_cast<uLong>(std::min<std::uint64_t>(size, left));
    if (count > 0) std::memcpy(buffer, cursor.bytes.data() + cursor.position, count);
    cursor.position += count;
    return count;
}

ZPOS64_T tellCursor(voidpf, voidpf stream) { return static_cast<Cursor*>(stream)->position; }

long seekCursor(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
    Cursor& cursor = *static_cast<Cursor*>(stream);
    std::uint64_t from = 0;
    if (origin == ZLIB_FILEFUNC_SEEK_CUR) from = cursor.position;
    if (origin == ZLIB_FILEFUNC_SEEK_END) from = cursor.bytes.size();
    // A position before the start or behind the end is one that the archive makes up.
    const std::uint64_t target = from + offset;
    if (target > cursor.bytes.size()) return -1;
    cursor.position = target;
    return 0;
}

int closeCursor(voidpf, voidpf) { return 0; }
int cursorError(voidpf, voidpf) { return 0; }

struct Unzip {
    unzFile handle = nullptr;
    ~Unzip() {
        if (handle) unzClose(handle);
    }
};

constexpr std::uint32_t kIn64Bits = 0xffffffff;  ///< of a size or place: it stands in the extra field

/// A number of `bytes` bytes at a place of the file, lowest first; nothing beyond its end.
std::optional<std::uint64_t> numberAt(std::span<const std::byte> file, std::uint64_t at, std::uint64_t bytes) {
    if (at > file.size() || bytes > file.size() - at) return std::nullopt;
    std::uint64_t value = 0;
    for (std::uint64_t i = bytes; i-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(file[at + i]);
    return value;
}

/// Sizes and place of data from the directory record at `record` (APPNOTE 4.3.12 and 4.5.3) and the local header that it
/// names. minizip compares 64-bit `unsigned long`s with 32-bit marks and so leaves them at 0xffffffff.
bool readZip64(std::span<const std::byte> file, std::uint64_t record, ZipEntry& entry) {
    const auto nameSize = numberAt(file, record + 28, 2), extraSize = numberAt(file, record + 30, 2), place = numberAt(file, record + 42, 4);
    if (!nameSize || !extraSize || !place) return false;
    std::uint64_t header = *place;
    std::uint64_t at = record + 46 + *nameSize;
    const std::uint64_t end = at + *extraSize;
    while (at + 4 <= end) {
        const auto id = numberAt(file, at, 2), size = numberAt(file, at + 2, 2);
        if (!id || !size) return false;
        at += 4;
        std::uint64_t field = at;
        for (std::uint64_t* value : {&entry.size, &entry.compressedSize, &header}) {
            if (*id != 1 || *value != kIn64Bits || field + 8 > at + *size) continue;
            const auto wide = numberAt(file, field, 8);
            if (!wide) return false;
            *value = *wide;
            field += 8;
        }
        at += *size;
    }
    const auto localName = numberAt(file, header + 26, 2), localExtra = numberAt(file, header + 28, 2);
    if (header > file.size() || !localName || !localExtra || numberAt(file, header, 4) != 0x04034b50U) return false;
    entry.offset = header + 30 + *localName + *localExtra;
    return true;
}

/// Reads name, sizes and place of the entry that `handle` stands at.
Result<ZipEntry> currentEntry(unzFile handle, const base::MappedFile& file) {
    const std::string place = file.path().string();
    unz_file_info64 info{};
    if (unzGetCurrentFileInfo64(handle, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK) {
        return unreadable("the zip archive's directory is damaged", place);
    }
    std::string name(info.size_filename, '\0');
    if (unzGetCurrentFileInfo64(handle, nullptr, name.data(), info.size_filename, nullptr, 0, nullptr, 0) != UNZ_OK) {
        return unreadable("the zip archive's directory is damaged", place);
    }
    name.resize(std::min(name.size(), std::strlen(name.c_str())));
    if (info.flag & 1u) return unreadable("the zip archive is encrypted", place + ", entry " + name);
    if (info.compression_method != 0 && info.compression_method != Z_DEFLATED) {
        return unreadable("the zip archive uses an unknown compression", place + ", entry " + name);
    }
    ZipEntry entry;
    entry.compressedSize = info.compressed_size;
    entry.size = info.uncompressed_size;
    const std::uint64_t record = unzGetOffset64(handle);
    const bool wide = info.compressed_size == kIn64Bits || info.uncompressed_size == kIn64Bits || numberAt(file.bytes(), record + 42, 4) == kIn64Bits;
    if (wide && !readZip64(file.bytes(), record, entry)) return unreadable("the zip archive's 64-bit directory is damaged", place + ", entry " + name);
    if (!wide) {
        if (unzOpenCurrentFile2(handle, nullptr, nullptr, 1) != UNZ_OK) {
            return unreadable("the zip archive is damaged", place + ", entry " + name);
        }
        entry.offset = unzGetCurrentFileZStreamPos64(handle);
        unzCloseCurrentFile(handle);
    }
    entry.crc = static_cast<std::uint32_t>(info.crc);
    entry.stored = info.compression_method == 0;
    const std::uint64_t fileSize = file.sizeBytes();
    if (entry.offset > fileSize || entry.compressedSize > fileSize - entry.offset ||
        (entry.stored && entry.size != entry.compressedSize)) {
        return unreadable("the zip archive is damaged: an entry is larger than the file", place + ", entry " + name);
    }
    // Deflate makes at most 1032 bytes out of one (RFC 1951: 258 bytes from two bits and a bit).
    if (!entry.stored && entry.size / 1040 > entry.compressedSize) {
        return unreadable("the zip archive is damaged: an entry claims an impossible size", place + ", entry " + name);
    }
    entry.name = std::move(name);
    return entry;
}

/// Inflates raw deflate data into exactly `size` bytes.
bool inflateAll(std::span<const std::byte> data, std::byte* out, std::uint64_t size) {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
    constexpr std::uint64_t kChunk = std::numeric_limits<uInt>::max() / 2;
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        const auto give = static_cast<uInt>(std::min<std::uint64_t>(kChunk, data.size() - read));
        const auto take = static_cast<uInt>(std::min<std::uint64_t>(kChunk, size - written));
        stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data() + read));
        stream.avail_in = give;
        // An empty entry still needs somewhere to point at.
        Bytef nowhere = 0;
        stream.next_out = size > 0 ? reinterpret_cast<Bytef*>(out + written) : &nowhere;
        stream.avail_out = take;
        status = inflate(&stream, Z_NO_FLUSH);
        read += give - stream.avail_in;
        written += take - stream.avail_out;
        if (status == Z_OK && give == stream.avail_in && take == stream.avail_out) break;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && written == size;
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<std::shared_ptr<const ZipArchive>> ZipArchive::open(const std::filesystem::path& path) {
    SONDE_ASSIGN(std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    return open(std::move(file));
}

Result<std::shared_ptr<const ZipArchive>> ZipArchive::open(std::shared_ptr<const base::MappedFile> file) {
    Cursor cursor{file->bytes()};
    zlib_filefunc64_def functions{openCursor,  readCursor,  nullptr,     tellCursor,
                                  seekCursor,  closeCursor, cursorError, &cursor};
    const Unzip unzip{unzOpen2_64("", &functions)};
    if (!unzip.handle) return unreadable("this is not a zip archive, or its directory is cut off", file->path().string());

    const std::shared_ptr<ZipArchive> archive(new ZipArchive);
    archive->m_file = file;
    // Each entry takes at least 46 bytes of directory, so a directory that loops ends here.
    const std::size_t most = file->sizeBytes() / 46;
    for (int status = unzGoToFirstFile(unzip.handle); status != UNZ_END_OF_LIST_OF_FILE;
         status = unzGoToNextFile(unzip.handle)) {
        if (status != UNZ_OK || archive->m_entries.size() >= most) {
            // minizip reports an archive with no entries at all as a damaged one.
            unz_global_info64 global{};
            if (archive->m_entries.empty() && unzGetGlobalInfo64(unzip.handle, &global) == UNZ_OK &&
                global.number_entry == 0) {
                break;
            }
            return unreadable("the zip archive's directory is damaged", file->path().string());
        }
        SONDE_ASSIGN(ZipEntry entry, currentEntry(unzip.handle, *file));
        archive->m_index.emplace(entry.name, archive->m_entries.size());
        archive->m_entries.push_back(std::move(entry));
    }
    return std::shared_ptr<const ZipArchive>(archive);
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
    const auto found = m_index.find(std::string(name));
    return found == m_index.end() ? nullptr : &m_entries[found->second];
}

Result<SharedBytes> ZipArchive::read(const ZipEntry& entry, bool verify) const {
    const std::string place = m_file->path().string() + ", entry " + entry.name;
    const std::span<const std::byte> data = m_file->window(entry.offset, entry.compressedSize);
    SharedBytes result{data, m_file};
    if (!entry.stored) {
        auto storage = tensor::Storage::allocate(entry.size);
        if (!storage) return unreadable(storage.error().what, place);
        if (!inflateAll(data, (*storage)->mutableData(), entry.size)) {
            return unreadable("the compressed data is damaged", place);
        }
        result = SharedBytes{{(*storage)->data(), (*storage)->sizeBytes()}, *storage};
    }
    if (verify && checksum(result.bytes) != entry.crc) return unreadable("the checksum does not agree: the data is damaged", place);
    return result;
}

Result<void> writeZip(const std::filesystem::path& path,
                      std::span<const std::pair<std::string, std::vector<std::byte>>> entries) {
    const auto failure = [&path] { return base::runError("the file cannot be written", path.string()); };
    zipFile zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
    if (!zip) return failure();
    bool good = true;
    for (const auto& [name, data] : entries) {
        zip_fileinfo info{};  // all times zero: the same entries give the same bytes
        info.tmz_date.tm_year = 1980;
        info.tmz_date.tm_mday = 1;
        const bool large = data.size() >= std::numeric_limits<std::uint32_t>::max();
        good = zipOpenNewFileInZip64(zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, 0, 0, large) == ZIP_OK;
        constexpr std::size_t kChunk = std::size_t{1} << 30;
        for (std::size_t done = 0; good && done < data.size(); done += kChunk) {
            const auto count = static_cast<unsigned>(std::min(kChunk, data.size() - done));
            good = zipWriteInFileInZip(zip, data.data() + done, count) == ZIP_OK;
        }
        good = good && zipCloseFileInZip(zip) == ZIP_OK;
        if (!good) break;
    }
    if (zipClose(zip, nullptr) != ZIP_OK) good = false;
    if (!good) return failure();
    return {};
}

}  // namespace sonde::io
