#include "core/document/elf_size.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <limits>

namespace sonde::document {

namespace {

/// A sum that does not wrap: an end that nothing reaches instead.
std::uint64_t endOf(std::uint64_t offset, std::uint64_t size) {
    constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();
    return size > kNowhere - offset ? kNowhere : offset + size;
}

}  // namespace

std::uint64_t elfSizeBytes(std::span<const std::byte> file) {
    Elf64_Ehdr header{};
    if (file.size() < sizeof header) return 0;
    std::memcpy(&header, file.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize < sizeof(Elf64_Phdr)) {
        return 0;
    }
    const std::uint64_t segmentsEnd = endOf(header.e_phoff, std::uint64_t{header.e_phentsize} * header.e_phnum);
    std::uint64_t end = std::max(segmentsEnd, std::uint64_t{sizeof header});
    if (header.e_shoff > 0)
        end = std::max(end, endOf(header.e_shoff, std::uint64_t{header.e_shentsize} * header.e_shnum));
    if (segmentsEnd > file.size()) return end;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        std::memcpy(&segment, file.data() + header.e_phoff + i * header.e_phentsize, sizeof segment);
        if (segment.p_type == PT_LOAD) end = std::max(end, endOf(segment.p_offset, segment.p_filesz));
    }
    return end;
}

}  // namespace sonde::document
