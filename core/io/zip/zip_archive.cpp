#include "core/io/zip/zip_archive.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <minizip/zip.h>
#include <zlib.h>

#include "core/tensor/storage.h"

namespace sonde::io {

namespace {

using base::Result;
using base::unreadable;

struct Inflated {
    std::uint64_t size = 0;
    bool isEnd = false;  ///< that was all
    bool isDamaged = false;
};

/// Inflates raw deflate data, `size` bytes at most.
Inflated inflateUpTo(std::span<const std::byte> data, std::byte* out, std::uint64_t size) {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return {0, false, true};
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
    return {written, status == Z_STREAM_END, status != Z_STREAM_END && status != Z_OK && status != Z_BUF_ERROR};
}

/// Exactly `size` bytes.
bool inflateAll(std::span<const std::byte> data, std::byte* out, std::uint64_t size) {
    const Inflated done = inflateUpTo(data, out, size);
    return done.isEnd && done.size == size;
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
    const std::shared_ptr<ZipArchive> archive(new ZipArchive);
    archive->m_file = std::move(file);
    SONDE_ASSIGN(archive->m_entries, readZipDirectory(archive->m_file->bytes(), archive->m_file->path().string()));
    archive->m_index.reserve(archive->m_entries.size());
    for (std::size_t i = 0; i < archive->m_entries.size(); ++i) archive->m_index.emplace(archive->m_entries[i].name, i);
    return std::shared_ptr<const ZipArchive>(archive);
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
    const auto found = m_index.find(name);
    return found == m_index.end() ? nullptr : &m_entries[found->second];
}

Result<SharedBytes> ZipArchive::read(const ZipEntry& entry, bool verify) const {
    const auto place = [&] { return m_file->path().string() + ", entry " + entry.name; };
    SONDE_ASSIGN(const std::uint64_t offset, zipDataOffset(m_file->bytes(), entry, m_file->path().string()));
    const std::span<const std::byte> data = m_file->window(offset, entry.compressedSize);
    SharedBytes result{data, m_file};
    if (!entry.stored) {
        auto storage = tensor::Storage::allocate(entry.size);
        if (!storage) return unreadable(storage.error().what, place());
        if (!inflateAll(data, (*storage)->mutableData(), entry.size)) {
            return unreadable("the compressed data is damaged", place());
        }
        result = SharedBytes{{(*storage)->data(), (*storage)->sizeBytes()}, *storage};
    }
    if (verify && checksum(result.bytes) != entry.crc)
        return unreadable("the checksum does not agree: the data is damaged", place());
    return result;
}

Result<SharedBytes> ZipArchive::readHead(const ZipEntry& entry, std::uint64_t size) const {
    SONDE_ASSIGN(const std::uint64_t offset, zipDataOffset(m_file->bytes(), entry, m_file->path().string()));
    const std::span<const std::byte> data = m_file->window(offset, entry.compressedSize);
    const std::uint64_t count = std::min(size, entry.size);
    if (entry.stored) return SharedBytes{data.first(std::min<std::uint64_t>(count, data.size())), m_file};
    SONDE_ASSIGN(const auto storage, tensor::Storage::allocate(count));
    const Inflated done = inflateUpTo(data, storage->mutableData(), count);
    if (done.isDamaged || done.size < count)
        return unreadable("the compressed data is damaged", m_file->path().string() + ", entry " + entry.name);
    return SharedBytes{{storage->data(), count}, storage};
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
