#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde::document {

/// Bytes that an ELF file must have by its own tables: those that say where the loaded segments and the sections are,
/// the segments' content, and the tables themselves (System V ABI, "ELF Header", "Program Header"). Where the table of
/// segments is not in the file, at least that. 0: these bytes do not begin like a 64-bit little-endian ELF file.
///
/// The dynamic loader maps segments without looking at the size of the file: what is beyond its end is SIGBUS then.
std::uint64_t elfSizeBytes(std::span<const std::byte> file);

}  // namespace sonde::document
