#include "core/io/inputs/recording_head.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "core/base/file_bytes.h"

namespace sonde::io {

namespace {

using base::isTextAt;
using base::numberAt;
using Bytes = std::span<const std::byte>;

struct Chunk {
    std::size_t at = 0;      ///< of its content
    std::uint64_t size = 0;  ///< that is declared
};

/// Of a file of chunks: a word of four letters, a size and the content each, at even places.
std::optional<Chunk> findChunk(Bytes bytes, std::string_view word, std::endian order) {
    constexpr std::size_t kFirst = 12, kHead = 8;
    for (std::size_t at = kFirst; bytes.size() >= kHead && at <= bytes.size() - kHead;) {
        const Chunk chunk{at + kHead, numberAt(bytes, at + 4, 4, order)};
        if (isTextAt(bytes, at, word)) return chunk;
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
    const auto format = findChunk(bytes, "fmt ", std::endian::little),
               data = findChunk(bytes, "data", std::endian::little);
    if (!format || !data || data->size >= kUnknown) return {};
    const std::uint64_t encoding = numberAt(bytes, format->at, 2, std::endian::little),
                        block = numberAt(bytes, format->at + 12, 2, std::endian::little);
    if (block == 0 || std::ranges::find(kUnpacked, encoding) == kUnpacked.end()) return {};
    return static_cast<std::int64_t>(data->size / block);
}

}  // namespace

std::optional<std::int64_t> declaredSamples(Bytes bytes) {
    if (isTextAt(bytes, 0, "RIFF") && isTextAt(bytes, 8, "WAVE")) return ofWav(bytes);
    if (!isTextAt(bytes, 0, "FORM")) return {};
    if (const auto common = findChunk(bytes, "COMM", std::endian::big))
        return static_cast<std::int64_t>(numberAt(bytes, common->at + 2, 4, std::endian::big));
    return {};
}

std::optional<std::int64_t> declaredRate(Bytes bytes) {
    if (!isTextAt(bytes, 0, "RIFF") || !isTextAt(bytes, 8, "WAVE")) return {};
    const auto format = findChunk(bytes, "fmt ", std::endian::little);
    if (!format || bytes.size() < format->at + 8) return {};
    return static_cast<std::int64_t>(numberAt(bytes, format->at + 4, 4, std::endian::little));
}

}  // namespace sonde::io
