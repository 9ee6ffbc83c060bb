#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace sonde::io {

/// One file inside a zip archive.
struct ZipEntry {
    std::string name;
    std::uint64_t header = 0;  ///< where its local header starts in the archive; its data follows that
    std::uint64_t compressedSize = 0;
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    bool stored = false;  ///< not compressed: its data can be used where it lies
};

/// The directory of an archive (PKWARE APPNOTE 4.3.12 to 4.3.16, zip64 too), read in one go from its end. Every size
/// and place is checked: header and data of an entry fit into the archive, and a compressed one can have become that
/// small. Errors name `place`: no archive, damaged, encrypted, unknown compression, split over several files.
base::Result<std::vector<ZipEntry>> readZipDirectory(std::span<const std::byte> archive, const std::string& place);

/// Where an entry's data starts: after its local header, whose variable parts may differ from the directory's.
base::Result<std::uint64_t> zipDataOffset(std::span<const std::byte> archive, const ZipEntry& entry,
                                          const std::string& place);

}  // namespace sonde::io
