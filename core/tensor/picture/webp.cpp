// WebP by libwebp.

#include <webp/decode.h>

#include "core/tensor/picture/picture.h"

namespace sonde::tensor {

base::Result<Picture> decodeWebP(std::span<const std::byte> bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    int width = 0, height = 0;
    if (!WebPGetInfo(data, bytes.size(), &width, &height)) return damagedPicture("WebP");
    SONDE_ASSIGN(Picture picture, emptyPicture(width, height));
    if (!WebPDecodeRGBInto(data, bytes.size(), picture.rgb.data(), picture.rgb.size(), width * 3))
        return damagedPicture("WebP");
    return picture;
}

}  // namespace sonde::tensor
