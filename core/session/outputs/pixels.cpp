#include "core/session/outputs/pixels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/io/image/image.h"
#include "core/session/outputs/output_content.h"

namespace sonde::session::outputs {

namespace {

using tensor::Tensor;

/// One pixel's element in a contiguous tensor.
struct PixelPlace {
    const PictureShape& shape;
    std::int64_t first;

    std::int64_t operator()(std::int64_t row, std::int64_t column, std::int64_t channel) const {
        return first + (shape.isChannelsFirst ? (channel * shape.height + row) * shape.width + column
                                              : (row * shape.width + column) * shape.channels + channel);
    }
};

std::pair<double, double> rangeOf(const analysis::TensorStats& stats, tensor::DType dtype) {
    constexpr double kByte = 255;
    if (dtype == tensor::DType::UInt8) return {0, kByte};
    const auto isWithin = [&stats](double low, double high) {
        constexpr double kRoom = 1e-3;
        return stats.minimum >= low - kRoom * (high - low) && stats.maximum <= high + kRoom * (high - low);
    };
    if (isWithin(0, 1)) return {0, 1};
    if (isWithin(-1, 1)) return {-1, 1};
    if (stats.maximum > 1.5 && isWithin(0, kByte)) return {0, kByte};
    return stats.maximum > stats.minimum ? std::pair(stats.minimum, stats.maximum)
                                         : std::pair(stats.minimum - 1, stats.minimum + 1);
}

std::uint8_t byteOf(double part) {
    return std::isnan(part) ? std::uint8_t{0}
                            : static_cast<std::uint8_t>(std::lround(std::clamp(part, 0.0, 1.0) * 255));
}

/// `brightness(channel, number)` from 0 to 1; `order` says which channel of the tensor is red, green and blue.
template <typename Brightness>
base::Result<Pixels> painted(const Tensor& tensor, const PictureShape& shape, std::int64_t index,
                             const std::array<std::int64_t, 3>& order, Brightness brightness) {
    Pixels pixels;
    while ((shape.width / pixels.step) * (shape.height / pixels.step) > kMaxPixels) ++pixels.step;
    SONDE_ASSIGN(pixels.picture, tensor::emptyPicture((shape.width + pixels.step - 1) / pixels.step,
                                                      (shape.height + pixels.step - 1) / pixels.step));
    const PixelPlace place{shape, index * shape.channels * shape.height * shape.width};
    std::uint8_t* out = pixels.picture.rgb.data();
    for (std::int64_t row = 0; row < shape.height; row += pixels.step)
        for (std::int64_t column = 0; column < shape.width; column += pixels.step)
            for (const std::int64_t wanted : order) {
                const std::int64_t channel = shape.channels == 1 ? 0 : wanted;
                *out++ = byteOf(brightness(channel, tensor.toDouble(place(row, column, channel))));
            }
    return pixels;
}

}  // namespace

base::Result<Pixels> pixelsOf(const Tensor& tensor, const PictureShape& shape, std::int64_t index,
                              const analysis::TensorStats& stats) {
    const auto [low, high] = rangeOf(stats, tensor.dtype());
    SONDE_ASSIGN(Pixels pixels,
                 painted(tensor, shape, index, {0, 1, 2}, [low = low, high = high](std::int64_t, double number) {
                     return (number - low) / (high - low);
                 }));
    pixels.low = low;
    pixels.high = high;
    return pixels;
}

base::Result<Pixels> inputPixels(const InputFact& input, std::int64_t index) {
    const auto shape = pictureShape(input.tensor.shape());
    if (!shape) return base::usageError("the input is no picture", input.name);
    const std::int64_t sample = std::clamp<std::int64_t>(index, 0, shape->count - 1);
    const io::ImagePreset* const preset = input.preset.empty() ? nullptr : io::findImagePreset(input.preset);
    if (!preset) return pixelsOf(input.tensor, *shape, sample, analysis::tensorStats(input.tensor));
    const io::ImageOptions& options = preset->options;
    const std::array<std::int64_t, 3> order =
        options.rgb ? std::array<std::int64_t, 3>{0, 1, 2} : std::array<std::int64_t, 3>{2, 1, 0};
    return painted(input.tensor, *shape, sample, order, [&options](std::int64_t channel, double number) {
        const auto at = static_cast<std::size_t>(std::min<std::int64_t>(channel, 2));
        return (number * options.deviation[at] + options.mean[at]) / options.scale / 255;
    });
}

}  // namespace sonde::session::outputs
