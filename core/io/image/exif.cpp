#include "core/io/image/exif.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/file_bytes.h"

namespace sonde::io {

namespace {

using base::isTextAt;
using base::numberAt;
using Bytes = std::span<const std::byte>;

/// The part from `at` on, at most `size` bytes; empty beyond the end.
Bytes part(Bytes bytes, std::size_t at, std::size_t size) {
    return at < bytes.size() ? bytes.subspan(at, std::min(size, bytes.size() - at)) : Bytes();
}

/// Of the first directory of a TIFF structure, which is what Exif is.
int orientationOfTiff(Bytes tiff) {
    const std::endian order = isTextAt(tiff, 0, "II") ? std::endian::little : std::endian::big;
    if (order == std::endian::big && !isTextAt(tiff, 0, "MM")) return 1;
    constexpr std::size_t kEntryBytes = 12;
    constexpr std::uint64_t kOrientation = 274, kShort = 3;
    const std::size_t directory = numberAt(tiff, 4, 4, order);
    const std::size_t count = numberAt(tiff, directory, 2, order);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t entry = directory + 2 + i * kEntryBytes;
        if (entry >= tiff.size()) break;
        if (numberAt(tiff, entry, 2, order) != kOrientation) continue;
        if (numberAt(tiff, entry + 2, 2, order) != kShort) break;
        const std::uint64_t found = numberAt(tiff, entry + 8, 2, order);
        return found >= 1 && found <= 8 ? static_cast<int>(found) : 1;
    }
    return 1;
}

/// Segments up to the pixels.
int orientationOfJpeg(Bytes file) {
    constexpr std::uint64_t kFirst = 0xff, kExif = 0xe1, kScan = 0xda;
    constexpr std::string_view kHead("Exif\0\0", 6);
    for (std::size_t at = 2; at + 4 <= file.size();) {
        if (numberAt(file, at, 1, std::endian::big) != kFirst) break;
        const std::uint64_t marker = numberAt(file, at + 1, 1, std::endian::big);
        if (marker == kFirst) {  // filled up with these
            ++at;
            continue;
        }
        const std::size_t size = numberAt(file, at + 2, 2, std::endian::big);
        if (marker == kScan || size < 2) break;
        if (marker == kExif && isTextAt(file, at + 4, kHead))
            return orientationOfTiff(part(file, at + 4 + kHead.size(), size - 2 - std::min(size - 2, kHead.size())));
        at += 2 + size;
    }
    return 1;
}

/// Chunks of PNG (length, name, content, checksum) or WebP (name, length, content), after the first `at` bytes.
int orientationOfChunks(Bytes file, std::size_t at, std::string_view name, bool isPng) {
    while (at + 8 <= file.size()) {
        const std::size_t size =
            numberAt(file, at + (isPng ? 0 : 4), 4, isPng ? std::endian::big : std::endian::little);
        if (isTextAt(file, at + (isPng ? 4 : 0), name)) {
            constexpr std::string_view kHead("Exif\0\0", 6);  // some writers put it before it
            const Bytes content = part(file, at + 8, size);
            return orientationOfTiff(isTextAt(content, 0, kHead) ? content.subspan(kHead.size()) : content);
        }
        at += 8 + size + (isPng ? 4 : size % 2);
    }
    return 1;
}

}  // namespace

int exifOrientation(std::span<const std::byte> file) {
    switch (tensor::pictureFormat(file.first(std::min<std::size_t>(file.size(), 64)))) {
        case tensor::PictureFormat::Jpeg: return orientationOfJpeg(file);
        case tensor::PictureFormat::Png: return orientationOfChunks(file, 8, "eXIf", true);
        case tensor::PictureFormat::WebP: return orientationOfChunks(file, 12, "EXIF", false);
        default: return 1;
    }
}

tensor::Picture oriented(tensor::Picture picture, int orientation) {
    if (orientation <= 1 || orientation > 8) return picture;
    const bool isSwapped = orientation >= 5;
    const bool isFromRight = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool isFromBottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    tensor::Picture seen{isSwapped ? picture.height : picture.width, isSwapped ? picture.width : picture.height, {}};
    seen.rgb.reserve(picture.rgb.size());
    for (int y = 0; y < seen.height; ++y)
        for (int x = 0; x < seen.width; ++x) {
            const int column = isSwapped ? y : x, row = isSwapped ? x : y;
            const auto fromX = static_cast<std::size_t>(isFromRight ? picture.width - 1 - column : column);
            const auto fromY = static_cast<std::size_t>(isFromBottom ? picture.height - 1 - row : row);
            const std::uint8_t* const pixel =
                picture.rgb.data() + 3 * (fromY * static_cast<std::size_t>(picture.width) + fromX);
            seen.rgb.insert(seen.rgb.end(), pixel, pixel + 3);
        }
    return seen;
}

}  // namespace sonde::io
