#include "core/io/zip/zip_archive.h"

#include <algorithm>
#include <cstring>
#include <limits>

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
    if (unzOpenCurrentFile2(handle, nullptr, nullptr, 1) != UNZ_OK) {
        return unreadable("the zip archive is damaged", place + ", entry " + name);
    }
    ZipEntry entry;
    entry.offset = unzGetCurrentFileZStreamPos64(handle);
    unzCloseCurrentFile(handle);
    entry.compressedSize = info.compressed_size;
    entry.size = info.uncompressed_size;
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
