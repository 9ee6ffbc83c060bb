#include "core/io/inputs/recording_head.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace sonde::io {

namespace {

using Bytes = std::span<const std::byte>;

/// An unsigned number of `count` bytes; 0 beyond the end.
std::uint64_t numberAt(Bytes bytes, std::size_t at, std::size_t count, bool isBigEndian) {
    if (at > bytes.size() || bytes.size() - at < count) return 0;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < count; ++i)
        number = number << 8 | std::to_integer<std::uint64_t>(bytes[at + (isBigEndian ? i : count - 1 - i)]);
    return number;
}

bool isWordAt(Bytes bytes, std::size_t at, std::string_view word) {
    return at <= bytes.size() && bytes.size() - at >= word.size() &&
           std::memcmp(bytes.data() + at, word.data(), word.size()) == 0;
}

struct Chunk {
    std::size_t at = 0;      ///< of its content
    std::uint64_t size = 0;  ///< that is declared
};

/// Of a file of chunks: a word of four letters, a size and the content each, at even places.
std::optional<Chunk> findChunk(Bytes bytes, std::string_view word, bool isBigEndian) {
    constexpr std::size_t kFirst = 12, kHead = 8;
    for (std::size_t at = kFirst; bytes.size() >= kHead && at <= bytes.size() - kHead;) {
        const Chunk chunk{at + kHead, numberAt(bytes, at + 4, 4, isBigEndian)};
        if (isWordAt(bytes, at, word)) return chunk;
        const std::uint64_t step = kHead + chunk.size + chunk.size % 2;
        if (step > bytes.size() - at) break;
        at += static_cast<std::size_t>(step);
    }
    return {};
}

std::optional<std::int64_t> ofWav(Bytes bytes) {
    // Encodings of which a block is a sample of each channel: integers, floats, A-law, mu-law, and what names its
    // encoding elsewhere, which is one of these.
    constexpr std::array<std::uint64_t, 5> kUnpacked{1, 3, 6, 7, 0xfffe};
    // Programs that write to a pipe leave the largest number there, or one near the largest that is signed.
    constexpr std::uint64_t kUnknown = 0x7ff00000;
    const auto format = findChunk(bytes, "fmt ", false), data = findChunk(bytes, "data", false);
    if (!format || !data || data->size >= kUnknown) return {};
    const std::uint64_t encoding = numberAt(bytes, format->at, 2, false),
                        block = numberAt(bytes, format->at + 12, 2, false);
    if (block == 0 || std::ranges::find(kUnpacked, encoding) == kUnpacked.end()) return {};
    return static_cast<std::int64_t>(data->size / block);
}

}  // namespace

std::optional<std::int64_t> declaredSamples(Bytes bytes) {
    if (isWordAt(bytes, 0, "RIFF") && isWordAt(bytes, 8, "WAVE")) return ofWav(bytes);
    if (!isWordAt(bytes, 0, "FORM")) return {};
    if (const auto common = findChunk(bytes, "COMM", true))
        return static_cast<std::int64_t>(numberAt(bytes, common->at + 2, 4, true));
    return {};
}

std::optional<std::int64_t> declaredRate(Bytes bytes) {
    if (!isWordAt(bytes, 0, "RIFF") || !isWordAt(bytes, 8, "WAVE")) return {};
    const auto format = findChunk(bytes, "fmt ", false);
    if (!format || bytes.size() < format->at + 8) return {};
    return static_cast<std::int64_t>(numberAt(bytes, format->at + 4, 4, false));
}

}  // namespace sonde::io
