#include "ui/panels/tensor_viewer/plane_picture.h"

#include <algorithm>

#include "core/tensor/plane.h"
#include "ui/widgets/bad_value.h"

namespace sonde::panels {

QImage planePicture(const tensor::Tensor& plane, const widgets::ValueScale& scale, const theme::ColorMap& map) {
    constexpr std::int64_t kMaxThumbnail = 192;
    const std::int64_t rows = plane.dim(0), columns = plane.dim(1);
    const std::int64_t step = std::max<std::int64_t>(1, (std::max(rows, columns) + kMaxThumbnail - 1) / kMaxThumbnail);
    const auto read = tensor::planeReader(plane);
    QImage image(static_cast<int>((columns + step - 1) / step), static_cast<int>((rows + step - 1) / step),
                 QImage::Format_RGB32);
    for (int y = 0; y < image.height(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < image.width(); ++x) {
            const double value = read(y * step, x * step);
            const widgets::BadValue bad = widgets::badValueOf(value);
            line[x] = bad == widgets::BadValue::None ? map.at(scale.toUnit(value)) : widgets::badInk(bad).background;
        }
    }
    return image;
}

}  // namespace sonde::panels
