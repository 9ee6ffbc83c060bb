#include "ui/panels/outputs/output_pictures.h"

#include <algorithm>
#include <cmath>

#include "ui/panels/outputs/output_rows.h"
#include "ui/theme/scales.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

namespace outputs = session::outputs;

namespace {

QImage imageOf(const tensor::Picture& picture) {
    if (picture.rgb.empty()) return {};
    QImage image(picture.width, picture.height, QImage::Format_RGB32);
    const std::uint8_t* from = picture.rgb.data();
    for (int y = 0; y < picture.height; ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < picture.width; ++x, from += 3) line[x] = qRgb(from[0], from[1], from[2]);
    }
    return image;
}

QColor classColor(std::int64_t index) {
    return theme::setColors(colorOfClass(std::max<std::int64_t>(index, 0)), theme::Theme::instance().scheme()).stroke;
}

OutputPicture pictureOf(const outputs::ImagePixels& pixels) {
    const QImage image = imageOf(pixels.picture);
    return {image, image.size(), {}};
}

OutputPicture pictureOf(const outputs::Boxes& boxes) {
    constexpr double kMaxSide = 4'096;
    OutputPicture shown{imageOf(boxes.under), {}, {}};
    const double width = std::max(boxes.width, 1e-9), height = std::max(boxes.height, 1e-9);
    // Corners may be of any size where no picture gives one.
    const double scale = kMaxSide / std::max(width, height);
    shown.size = shown.image.isNull() ? QSize(std::max(1, static_cast<int>(width * scale)),
                                              std::max(1, static_cast<int>(height * scale)))
                                      : shown.image.size();
    for (const outputs::Boxes::Box& box : boxes.boxes) {
        QString text = box.index < 0 ? QString() : classText(box.index, box.name);
        if (!std::isnan(box.score))
            text += (text.isEmpty() ? QString() : QStringLiteral(" ")) + QString::number(box.score, 'f', 2);
        shown.marks.push_back(
            {QRectF(QPointF(box.left / width, box.top / height), QPointF(box.right / width, box.bottom / height))
                 .normalized(),
             classColor(box.index), text});
    }
    return shown;
}

/// The input in grey, and over it the colours of the classes.
OutputPicture pictureOf(const outputs::Masks& masks) {
    if (masks.columns < 1 || masks.rows < 1) return {};
    const QImage under = imageOf(masks.under);
    const QSize size = under.isNull() ? QSize(masks.columns, masks.rows) : under.size();
    QImage image(size, QImage::Format_RGB32);
    constexpr double kTint = 0.55;
    std::vector<QColor> colors;
    for (int i = 0; i < theme::kSetColors; ++i)
        colors.push_back(theme::setColors(i, theme::Theme::instance().scheme()).stroke);
    const QColor empty = theme::color(theme::ColorRole::PlotBackground);
    for (int y = 0; y < size.height(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        const int row = static_cast<int>(static_cast<qint64>(y) * masks.rows / size.height());
        for (int x = 0; x < size.width(); ++x) {
            const int column = static_cast<int>(static_cast<qint64>(x) * masks.columns / size.width());
            const std::uint16_t found =
                masks.classes[static_cast<std::size_t>(row) * static_cast<std::size_t>(masks.columns) +
                              static_cast<std::size_t>(column)];
            const int grey = under.isNull() ? -1 : qGray(under.pixel(x, y));
            const QRgb base = grey < 0 ? empty.rgb() : qRgb(grey, grey, grey);
            if (found == outputs::Masks::kNone) {
                line[x] = base;
                continue;
            }
            const QColor& tint = colors[static_cast<std::size_t>(colorOfClass(found))];
            const double part = under.isNull() ? 1 : kTint;
            const auto mixed = [part](int low, int high) { return static_cast<int>(low + part * (high - low)); };
            line[x] =
                qRgb(mixed(qRed(base), tint.red()), mixed(qGreen(base), tint.green()), mixed(qBlue(base), tint.blue()));
        }
    }
    return {image, size, {}};
}

template <typename Other>
OutputPicture pictureOf(const Other&) {
    return {};
}

}  // namespace

OutputPicture pictureOf(const outputs::Content& content) {
    return std::visit([](const auto& each) { return pictureOf(each); }, content);
}

}  // namespace sonde::panels
