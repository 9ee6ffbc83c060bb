#include "core/io/image/image.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/mapped_file.h"
#include "core/io/image/exif.h"
#include "core/io/image/image_size.h"
#include "core/tensor/exact_cast.h"
#include "core/tensor/picture/picture.h"

namespace sonde::io {

namespace {

using base::Result;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;
// Mean and deviation of ImageNet's training images, red first (torchvision's models use them).
constexpr std::array<double, 3> kImageNetMean{0.485, 0.456, 0.406};
constexpr std::array<double, 3> kImageNetDeviation{0.229, 0.224, 0.225};

/// How the axes of an input mean a picture.
struct Layout {
    bool channelsFirst = true;
    bool batch = true;
    std::int64_t channels = 3;
    std::int64_t height = 0;
    std::int64_t width = 0;
};

std::optional<Layout> layoutOf(const TypeInfo& type, const Image& image) {
    Layout layout{true, true, 3, image.height, image.width};
    if (!type.shape) return layout;
    std::vector<std::int64_t> dims;
    for (const Dim& dim : *type.shape) dims.push_back(dim.value);
    layout.batch = dims.size() != 3;
    if (!layout.batch) dims.insert(dims.begin(), 1);
    if (dims.size() != 4) return std::nullopt;
    const auto isChannels = [](std::int64_t dimSize) { return dimSize == 1 || dimSize == 3; };
    layout.channelsFirst = isChannels(dims[1]) || (dims[1] < 0 && !isChannels(dims[3]));
    if (!layout.channelsFirst && !isChannels(dims[3])) return std::nullopt;
    const std::int64_t channels = layout.channelsFirst ? dims[1] : dims[3];
    const std::int64_t height = layout.channelsFirst ? dims[2] : dims[1];
    const std::int64_t width = layout.channelsFirst ? dims[3] : dims[2];
    if (channels > 0) layout.channels = channels;
    if (height > 0) layout.height = height;
    if (width > 0) layout.width = width;
    return layout;
}

/// Pixels that were scaled are no integers any more, and 255 is none of int8.
Result<Tensor> exactly(const Tensor& pixels, const TypeInfo& type) {
    SONDE_ASSIGN(Tensor converted, pixels.cast(type.dtype));
    if (tensor::isComplex(type.dtype) || type.dtype == DType::String) return converted;
    const auto lost = tensor::firstLost(pixels, converted);
    if (!lost) return converted;
    const bool isScaled = lost->loss == tensor::Loss::Fraction || pixels.toDouble(lost->index) < 0;
    return base::usageError("the image conversion gives " + pixels.elementText(lost->index) + ", " +
                                tensor::lossText(lost->loss, type.dtype) + ", but the input is " + type.text(),
                            {},
                            isScaled ? "choose the conversion bgr or rgb, which keeps pixels from 0 to 255"
                                     : "give a .npy file with values of " + std::string(name(type.dtype)));
}

}  // namespace

std::span<const ImagePreset> imagePresets() {
    static const std::array<ImagePreset, 5> presets{{
        {"bgr", "BGR, x (0 to 255)", {}},
        {"rgb", "RGB, x (0 to 255)", {true, true, 1, {0, 0, 0}, {1, 1, 1}}},
        {"unit", "RGB, x / 255", {true, true, 1 / 255.0, {0, 0, 0}, {1, 1, 1}}},
        {"imagenet", "RGB, ImageNet mean/std", {true, true, 1 / 255.0, kImageNetMean, kImageNetDeviation}},
        {"signed", "BGR, x / 127.5 − 1", {true, false, 1 / 255.0, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}},
    }};
    return presets;
}

const ImagePreset* findImagePreset(std::string_view id) {
    for (const ImagePreset& preset : imagePresets()) {
        if (preset.id == id) return &preset;
    }
    return nullptr;
}

Result<Image> readImage(const std::filesystem::path& path) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    auto image = tensor::decodePicture(file->bytes());
    if (!image) return std::move(image.error().at(path.string()));
    return oriented(std::move(*image), exifOrientation(file->bytes()));
}

bool looksLikeImage(std::span<const std::byte> head) {
    return tensor::pictureFormat(head) != tensor::PictureFormat::Unknown;
}

Image resized(const Image& image, int width, int height) {
    if (width == image.width && height == image.height) return image;
    Image result{width, height,
                 std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3)};
    struct Tap {
        std::size_t low, high;
        double weight;  ///< of high
    };
    const auto taps = [](int from, int to) {
        std::vector<Tap> list(static_cast<std::size_t>(to));
        for (int i = 0; i < to; ++i) {
            const double at = std::clamp((i + 0.5) * from / to - 0.5, 0.0, from - 1.0);
            const auto low = static_cast<std::size_t>(at);
            list[static_cast<std::size_t>(i)] = {
                low, std::min<std::size_t>(low + 1, static_cast<std::size_t>(from - 1)), at - static_cast<double>(low)};
        }
        return list;
    };
    const std::vector<Tap> columns = taps(image.width, width);
    const std::vector<Tap> rows = taps(image.height, height);
    std::uint8_t* out = result.rgb.data();
    for (const Tap& y : rows) {
        const std::uint8_t* upper = image.rgb.data() + y.low * static_cast<std::size_t>(image.width) * 3;
        const std::uint8_t* lower = image.rgb.data() + y.high * static_cast<std::size_t>(image.width) * 3;
        for (const Tap& x : columns) {
            for (std::size_t c = 0; c < 3; ++c) {
                const double top = upper[x.low * 3 + c] * (1 - x.weight) + upper[x.high * 3 + c] * x.weight;
                const double bottom = lower[x.low * 3 + c] * (1 - x.weight) + lower[x.high * 3 + c] * x.weight;
                *out++ = static_cast<std::uint8_t>(std::lround(top * (1 - y.weight) + bottom * y.weight));
            }
        }
    }
    return result;
}

std::optional<ImageSize> imageSize(const TypeInfo& type) {
    const auto layout = layoutOf(type, {224, 224, {}});
    if (!layout) return std::nullopt;
    return ImageSize{layout->height, layout->width};
}

Result<Tensor> imageTensor(const Image& source, const TypeInfo& type, const ImageOptions& options) {
    const std::optional<Layout> layout = layoutOf(type, source);
    if (!layout) {
        return base::usageError("can not infer input format from shape: the input " + type.text() + " is not an image",
                                {},
                                "an image fits [N,C,H,W] or [N,H,W,C] with 1 or 3 channels; use a .npy file instead");
    }
    if (layout->width > 1 << 20 || layout->height > 1 << 20 || layout->width * layout->height > kMaxPixels) {
        return base::usageError("the input " + type.text() + " is too large for an image");
    }
    const bool fits = layout->width == source.width && layout->height == source.height;
    if (!fits && !options.resize) {
        return base::usageError("image is " + std::to_string(source.width) + "×" + std::to_string(source.height) +
                                    " (width × height) but the input expects " + std::to_string(layout->width) + "×" +
                                    std::to_string(layout->height),
                                {}, "resize it");
    }
    const Image image = resized(source, static_cast<int>(layout->width), static_cast<int>(layout->height));
    const Shape shape = layout->channelsFirst ? Shape{1, layout->channels, layout->height, layout->width}
                                              : Shape{1, layout->height, layout->width, layout->channels};
    SONDE_ASSIGN(Tensor tensor, Tensor::allocate(DType::Float32, shape));
    float* out = tensor.mutableData<float>();
    const std::size_t pixels = image.rgb.size() / 3;
    const auto channels = static_cast<std::size_t>(layout->channels);
    for (std::size_t i = 0; i < pixels; ++i) {
        const std::uint8_t* rgb = image.rgb.data() + 3 * i;
        for (std::size_t c = 0; c < channels; ++c) {
            // Luminance of ITU-R BT.601, rounded as 8-bit pictures have it.
            const double pixel = channels == 1 ? std::round(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2])
                                               : static_cast<double>(rgb[options.rgb ? c : 2 - c]);
            out[layout->channelsFirst ? c * pixels + i : i * channels + c] =
                static_cast<float>((pixel * options.scale - options.mean[c]) / options.deviation[c]);
        }
    }
    if (!layout->batch) {
        SONDE_ASSIGN(tensor, tensor.reshaped(Shape{shape[1], shape[2], shape[3]}));
    }
    return type.dtype == DType::Undefined ? Result<Tensor>(tensor) : exactly(tensor, type);
}

}  // namespace sonde::io
