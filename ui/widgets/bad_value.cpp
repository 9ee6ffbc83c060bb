#include "ui/widgets/bad_value.h"

#include <QImage>
#include <QPainter>

#include "ui/theme/theme.h"

namespace sonde::widgets {

BadInk badInk(BadValue value) {
    using theme::ColorRole;
    return {theme::color(value == BadValue::NaN ? ColorRole::NanMark : ColorRole::InfMark).rgb(),
            theme::color(ColorRole::MarkInk).rgb()};
}

void fillBad(QPainter& painter, const QRect& rect, BadValue value) {
    if (rect.isEmpty()) return;
    const BadInk colors = badInk(value);
    QImage image(rect.size(), QImage::Format_RGB32);
    for (int y = 0; y < image.height(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < image.width(); ++x) line[x] = badPixelIsInk(value, x, y) ? colors.ink : colors.background;
    }
    painter.drawImage(rect.topLeft(), image);
}

}  // namespace sonde::widgets
