// TIFF by libtiff, its first picture.

#include <cstring>
#include <memory>
#include <tiffio.h>

#include "core/tensor/picture/picture.h"

namespace sonde::tensor {

namespace {

/// The file in memory, as libtiff wants to see it.
struct Source {
    const std::byte* data;
    toff_t size;
    toff_t at = 0;
};

Source& sourceOf(thandle_t handle) { return *static_cast<Source*>(handle); }

tmsize_t readSome(thandle_t handle, void* to, tmsize_t count) {
    Source& source = sourceOf(handle);
    if (source.at >= source.size || count <= 0) return 0;
    const auto some = static_cast<tmsize_t>(std::min<toff_t>(static_cast<toff_t>(count), source.size - source.at));
    std::memcpy(to, source.data + source.at, static_cast<std::size_t>(some));
    source.at += static_cast<toff_t>(some);
    return some;
}

toff_t seek(thandle_t handle, toff_t offset, int whence) {
    Source& source = sourceOf(handle);
    source.at = offset + (whence == SEEK_CUR ? source.at : whence == SEEK_END ? source.size : 0);
    return source.at;
}

}  // namespace

base::Result<Picture> decodeTiff(std::span<const std::byte> bytes) {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    Source source{bytes.data(), bytes.size()};
    const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(
        TIFFClientOpen(
            "picture", "rm", &source, readSome, [](thandle_t, void*, tmsize_t) -> tmsize_t { return 0; }, seek,
            [](thandle_t) { return 0; }, [](thandle_t handle) { return sourceOf(handle).size; }, nullptr, nullptr),
        TIFFClose);
    std::uint32_t width = 0, height = 0;
    if (!tiff || !TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) ||
        !TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height))
        return damagedPicture("TIFF");
    SONDE_ASSIGN(Picture picture, emptyPicture(width, height));
    std::vector<std::uint32_t> pixels(static_cast<std::size_t>(width) * height);
    if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, pixels.data(), ORIENTATION_TOPLEFT, 1))
        return damagedPicture("TIFF");
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        picture.rgb[3 * i] = static_cast<std::uint8_t>(TIFFGetR(pixels[i]));
        picture.rgb[3 * i + 1] = static_cast<std::uint8_t>(TIFFGetG(pixels[i]));
        picture.rgb[3 * i + 2] = static_cast<std::uint8_t>(TIFFGetB(pixels[i]));
    }
    return picture;
}

}  // namespace sonde::tensor
