#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::tensor {

/// A decoded picture: rows of RGB pixels, 8 bits each. Transparency is dropped, grey has three equal channels.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb;  ///< height * width * 3
};

enum class PictureFormat { Unknown, Jpeg, Png, Bmp, Gif, Psd, Pnm, WebP, Tiff, Jpeg2000 };

/// By the first bytes.
PictureFormat pictureFormat(std::span<const std::byte> head);

/// The formats by name, for messages.
inline constexpr std::string_view kPictureFormats = "JPEG, PNG, BMP, GIF, PSD, PNM, WebP, TIFF and JPEG 2000";

/// Decodes any of them (a GIF's or TIFF's first picture). Errors: no picture, a damaged one, more than 2^28 pixels; the
/// size is checked before memory for the pixels is taken.
base::Result<Picture> decodePicture(std::span<const std::byte> bytes);

// One for each library, called by decodePicture once the format is known.
base::Result<Picture> decodeJpeg(std::span<const std::byte> bytes);
base::Result<Picture> decodeWebP(std::span<const std::byte> bytes);
base::Result<Picture> decodeTiff(std::span<const std::byte> bytes);
base::Result<Picture> decodeJpeg2000(std::span<const std::byte> bytes);
base::Result<Picture> decodePnm(std::span<const std::byte> bytes);

/// Memory for width × height pixels, or why not.
base::Result<Picture> emptyPicture(std::int64_t width, std::int64_t height);
base::Error damagedPicture(std::string_view format);

}  // namespace sonde::tensor
