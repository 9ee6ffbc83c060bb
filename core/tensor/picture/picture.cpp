#include "core/tensor/picture/picture.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <zlib.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_STDIO
#define STBI_NO_FAILURE_STRINGS
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_ONLY_PSD
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace sonde::tensor {

namespace {

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;

std::uint32_t bigEndian(std::span<const std::byte> bytes) {
    std::uint32_t number = 0;
    for (const std::byte each : bytes.first(4)) number = number << 8 | std::to_integer<std::uint32_t>(each);
    return number;
}

/// Whether the chunks that make the picture have their checksums (PNG specification, 5.3), which the decoder does not
/// look at. Chunks that are cut off, and other formats, are the decoder's matter.
bool hasItsChecksums(std::span<const std::byte> bytes) {
    constexpr std::size_t kSignature = 8, kAround = 12;  // length and type before the data, the checksum behind
    constexpr auto kIsAncillary = std::byte{0x20};
    if (pictureFormat(bytes) != PictureFormat::Png) return true;
    for (std::size_t at = kSignature; at <= bytes.size() && bytes.size() - at >= kAround;) {
        const std::uint32_t length = bigEndian(bytes.subspan(at));
        if (length > bytes.size() - at - kAround) break;
        const auto counted = bytes.subspan(at + 4, std::size_t{4} + length);
        const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(counted.data()), counted.size());
        if (sum != bigEndian(bytes.subspan(at + 8 + length)) && (counted[0] & kIsAncillary) == std::byte{0})
            return false;
        at += kAround + length;
    }
    return true;
}

base::Result<Picture> decodeSmall(std::span<const std::byte> bytes) {
    if (!hasItsChecksums(bytes)) return base::unreadable("the image (PNG) is damaged: a checksum in it is another one");
    const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
    const int size = static_cast<int>(bytes.size());
    int width = 0, height = 0, channels = 0;
    if (!stbi_info_from_memory(data, size, &width, &height, &channels)) return damagedPicture("PNG, BMP, GIF or PSD");
    SONDE_ASSIGN(Picture picture, emptyPicture(width, height));
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_memory(data, size, &width, &height, &channels, 3), stbi_image_free);
    if (!pixels || width != picture.width || height != picture.height) return damagedPicture("PNG, BMP, GIF or PSD");
    std::memcpy(picture.rgb.data(), pixels.get(), picture.rgb.size());
    return picture;
}

}  // namespace

PictureFormat pictureFormat(std::span<const std::byte> head) {
    const auto has = [&head](std::size_t at, std::string_view magic) {
        return head.size() >= at + magic.size() && std::memcmp(head.data() + at, magic.data(), magic.size()) == 0;
    };
    if (has(0, "\xff\xd8\xff")) return PictureFormat::Jpeg;
    if (has(0, "\x89PNG")) return PictureFormat::Png;
    if (has(0, "BM")) return PictureFormat::Bmp;
    if (has(0, "GIF8")) return PictureFormat::Gif;
    if (has(0, "8BPS")) return PictureFormat::Psd;
    if (has(0, "RIFF") && has(8, "WEBP")) return PictureFormat::WebP;
    if (has(0, std::string_view("II*\0", 4)) || has(0, std::string_view("MM\0*", 4))) return PictureFormat::Tiff;
    // The box file (JP2) and the bare code stream of JPEG 2000.
    if (has(0, std::string_view("\0\0\0\x0cjP  ", 8)) || has(0, "\xff\x4f\xff\x51")) return PictureFormat::Jpeg2000;
    const bool isPnm = has(0, "P") && head.size() > 2 && std::to_integer<char>(head[1]) >= '1' &&
                       std::to_integer<char>(head[1]) <= '6' &&
                       std::strchr(" \t\r\n#", std::to_integer<char>(head[2])) && std::to_integer<char>(head[2]) != 0;
    return isPnm ? PictureFormat::Pnm : PictureFormat::Unknown;
}

base::Error damagedPicture(std::string_view format) {
    return base::unreadable("the image (" + std::string(format) + ") is damaged or unsupported");
}

base::Result<Picture> emptyPicture(std::int64_t width, std::int64_t height) {
    if (width < 1 || height < 1 || width > kMaxPixels || height > kMaxPixels || width * height > kMaxPixels) {
        return base::unreadable("the image is too large: " + std::to_string(width) + "x" + std::to_string(height));
    }
    Picture picture{static_cast<int>(width), static_cast<int>(height), {}};
    try {
        picture.rgb.resize(static_cast<std::size_t>(width * height) * 3);
    } catch (const std::bad_alloc&) {
        return base::unreadable("there is not enough memory for an image of " + std::to_string(width) + "x" +
                                std::to_string(height));
    }
    return picture;
}

base::Result<Picture> decodePicture(std::span<const std::byte> bytes) {
    if (bytes.size() > 0x7fffffff)
        return base::unreadable("the image is too large: " + std::to_string(bytes.size()) + " bytes");
    switch (pictureFormat(bytes)) {
        case PictureFormat::Jpeg: return decodeJpeg(bytes);
        case PictureFormat::WebP: return decodeWebP(bytes);
        case PictureFormat::Tiff: return decodeTiff(bytes);
        case PictureFormat::Jpeg2000: return decodeJpeg2000(bytes);
        case PictureFormat::Pnm: return decodePnm(bytes);
        case PictureFormat::Unknown: break;
        default: return decodeSmall(bytes);
    }
    return base::unreadable("this is not an image", {}, std::string(kPictureFormats) + " can be read");
}

}  // namespace sonde::tensor
