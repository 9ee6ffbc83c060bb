#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sonde::io {

/// How many samples of each channel the head of a WAV or AIFF file says that it has, which a file that was cut off has
/// not. None: the file is of another format or encoding, or was written by a program that did not know the length.
/// Sources: Microsoft's "Multimedia Programming Interface and Data Specifications 1.0", Apple's "AIFF 1.3".
std::optional<std::int64_t> declaredSamples(std::span<const std::byte> bytes);
/// Samples per second of a WAV file, as its head says it.
std::optional<std::int64_t> declaredRate(std::span<const std::byte> bytes);

}  // namespace sonde::io
