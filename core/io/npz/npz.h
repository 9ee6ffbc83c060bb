#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/io/zip/zip_archive.h"
#include "core/tensor/tensor.h"
#include "core/tensor/type_info.h"

namespace sonde::io {

/// A numpy .npz file: a zip archive of .npy arrays, stored or deflated. Keys are the entries' names without ".npy"; of
/// entries of one name the last one counts, as for numpy. Arrays are read when asked for; stored ones are in the mapped
/// file. Thread-safe.
class NpzFile {
  public:
    static base::Result<NpzFile> open(const std::filesystem::path& path);

    const std::vector<std::string>& keys() const { return m_keys; }  ///< in the order of the archive
    bool has(std::string_view key) const;
    /// Error names the key and, if there is none such, what keys there are.
    base::Result<tensor::Tensor> read(std::string_view key) const;
    /// Element type and shape alone, without inflating the data: it may be far larger than the file. Errors: those of
    /// read(), but for the data.
    base::Result<tensor::TypeInfo> type(std::string_view key) const;

  private:
    const ZipEntry* entryOf(std::string_view key) const;
    base::Result<const ZipEntry*> existing(std::string_view key) const;
    std::string placeOf(std::string_view key) const;

    std::shared_ptr<const ZipArchive> m_archive;
    std::vector<std::string> m_keys;
    std::unordered_map<std::string, std::size_t> m_entryOf;  ///< by key: in the archive's entries
};

using NamedTensor = std::pair<std::string, tensor::Tensor>;

/// Writes arrays uncompressed in the order given; the same arrays give the same bytes.
base::Result<void> writeNpz(const std::filesystem::path& path, std::span<const NamedTensor> arrays);

}  // namespace sonde::io
