#include "core/io/npz/npz.h"

#include "core/io/npz/npy.h"
#include "core/tensor/mapped_source.h"

namespace sonde::io {

namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::size_t kKeysShown = 8;
constexpr std::uint64_t kMaxHead = 1 << 17;  ///< bytes before the data; numpy itself takes 10,000 at most

}  // namespace

base::Result<NpzFile> NpzFile::open(const std::filesystem::path& path) {
    NpzFile file;
    SONDE_ASSIGN(file.m_archive, ZipArchive::open(path));
    const std::vector<ZipEntry>& entries = file.m_archive->entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string_view name = entries[i].name;
        if (!name.ends_with(kSuffix)) continue;
        const std::string key(name.substr(0, name.size() - kSuffix.size()));
        if (file.m_entryOf.insert_or_assign(key, i).second) file.m_keys.push_back(key);
    }
    return file;
}

const ZipEntry* NpzFile::entryOf(std::string_view key) const {
    const auto found = m_entryOf.find(std::string(key));
    return found == m_entryOf.end() ? nullptr : &m_archive->entries()[found->second];
}

bool NpzFile::has(std::string_view key) const { return entryOf(key) != nullptr; }

base::Result<const ZipEntry*> NpzFile::existing(std::string_view key) const {
    if (const ZipEntry* const entry = entryOf(key)) return entry;
    std::string known;
    for (std::size_t i = 0; i < m_keys.size() && i < kKeysShown; ++i) known += (i ? ", " : "") + m_keys[i];
    if (m_keys.size() > kKeysShown) known += ", …";
    return base::unreadable("the file has no array '" + std::string(key) + "'", m_archive->file().path().string(),
                            "its arrays: " + known);
}

std::string NpzFile::placeOf(std::string_view key) const {
    return m_archive->file().path().string() + ", array " + std::string(key);
}

base::Result<tensor::Tensor> NpzFile::read(std::string_view key) const {
    SONDE_ASSIGN(const ZipEntry* const entry, existing(key));
    SONDE_ASSIGN(const SharedBytes data, m_archive->read(*entry));
    return readNpy(data.bytes, data.owner, placeOf(key));
}

base::Result<tensor::TypeInfo> NpzFile::type(std::string_view key) const {
    SONDE_ASSIGN(const ZipEntry* const entry, existing(key));
    SONDE_ASSIGN(const SharedBytes head, m_archive->readHead(*entry, kMaxHead));
    return readNpyType(head.bytes, placeOf(key));
}

base::Result<void> writeNpz(const std::filesystem::path& path, std::span<const NamedTensor> arrays) {
    std::vector<std::pair<std::string, std::vector<std::byte>>> entries;
    for (const auto& [key, tensor] : arrays) {
        SONDE_ASSIGN(std::vector<std::byte> bytes, npyBytes(tensor));
        if (auto changed = tensor::sourceError(tensor::Value(tensor), "a file that the values are read from"))
            return *changed;
        entries.emplace_back(key + std::string(kSuffix), std::move(bytes));
    }
    return writeZip(path, entries);
}

}  // namespace sonde::io
