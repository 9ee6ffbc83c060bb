#include "ui/canvas/previews.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/thumbnail.h"
#include "ui/theme/color_map.h"

namespace sonde::canvas {
namespace {

using analysis::Thumbnail;

constexpr std::size_t kEdge = 52;  ///< cells; the frame on a card has 56 units

QString numberText(double value) { return QString::number(value, 'g', 3).replace(QLatin1Char('-'), QChar(0x2212)); }

QString rangeText(double least, double largest) {
    return numberText(least) + QStringLiteral(" … ") + numberText(largest);
}

QImage mapImage(const Thumbnail& thumb, theme::Scheme scheme) {
    const bool diverging = thumb.minimum < 0 && thumb.maximum > 0;
    const theme::ColorMap* map = &theme::colorMaps().front();
    for (const theme::ColorMap& candidate : theme::colorMaps())
        if (candidate.diverging() == diverging) {
            map = &candidate;
            break;
        }
    const double reach = std::max(std::abs(thumb.minimum), std::abs(thumb.maximum));
    const double low = diverging ? -reach : thumb.minimum, high = diverging ? reach : thumb.maximum;
    const QRgb gap = theme::color(theme::ColorRole::PlotBackground, scheme).rgb();
    const QRgb bad = theme::color(theme::ColorRole::NanMark, scheme).rgb();
    QImage image(static_cast<int>(thumb.width), static_cast<int>(thumb.height), QImage::Format_RGB32);
    for (int y = 0; y < image.height(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < image.width(); ++x) {
            const double cell = thumb.cells[static_cast<std::size_t>(y) * thumb.width + static_cast<std::size_t>(x)];
            if (thumb.isGap(static_cast<std::size_t>(x), static_cast<std::size_t>(y))) line[x] = gap;
            else if (!std::isfinite(cell)) line[x] = bad;
            else line[x] = map->at(high > low ? (cell - low) / (high - low) : 0.5);
        }
    }
    return image;
}

QImage colorImage(const Thumbnail& thumb) {
    const std::size_t plane = thumb.width * thumb.height;
    const double width = thumb.maximum > thumb.minimum ? thumb.maximum - thumb.minimum : 1;
    const auto byte = [&](double v) {
        return std::isfinite(v) ? std::clamp(static_cast<int>(std::lround(255 * (v - thumb.minimum) / width)), 0, 255)
                                : 0;
    };
    QImage image(static_cast<int>(thumb.width), static_cast<int>(thumb.height), QImage::Format_RGB32);
    for (std::size_t y = 0; y < thumb.height; ++y)
        for (std::size_t x = 0; x < thumb.width; ++x) {
            const std::size_t at = y * thumb.width + x;
            image.setPixel(
                static_cast<int>(x), static_cast<int>(y),
                qRgb(byte(thumb.cells[at]), byte(thumb.cells[plane + at]), byte(thumb.cells[2 * plane + at])));
        }
    return image;
}

/// A row of numbers as bars from zero.
QImage lineImage(const Thumbnail& thumb, theme::Scheme scheme) {
    const int width = static_cast<int>(thumb.width), height = static_cast<int>(kEdge);
    QImage image(width, height, QImage::Format_RGB32);
    image.fill(theme::color(theme::ColorRole::PlotBackground, scheme));
    const QRgb bar = theme::color(theme::ColorRole::PlotBar, scheme).rgb();
    const QRgb bad = theme::color(theme::ColorRole::NanMark, scheme).rgb();
    const double low = std::min(0.0, thumb.minimum), high = std::max(0.0, thumb.maximum);
    const double span = high > low ? high - low : 1;
    const auto row = [&](double v) {
        return std::clamp(static_cast<int>((high - v) / span * (height - 1)), 0, height - 1);
    };
    for (int x = 0; x < width; ++x) {
        const double v = thumb.cells[static_cast<std::size_t>(x)];
        const bool finite = std::isfinite(v);
        const int from = finite ? std::min(row(0), row(v)) : 0, to = finite ? std::max(row(0), row(v)) : height - 1;
        for (int y = from; y <= to; ++y) image.setPixel(x, y, finite ? bar : bad);
    }
    // Few bars are drawn broad.
    return width * 2 < height ? image.scaled(width * (height / width), height) : image;
}

}  // namespace

Preview makePreview(const tensor::Value& value, theme::Scheme scheme, const std::stop_token& stop) {
    const Thumbnail thumb = analysis::thumbnail(value, kEdge, stop);
    Preview out;
    out.bad = thumb.hasBad;
    switch (thumb.kind) {
        case Thumbnail::Kind::None:
        case Thumbnail::Kind::Number: out.big = QString::fromStdString(thumb.text); return out;
        case Thumbnail::Kind::Line: out.image = lineImage(thumb, scheme); break;
        case Thumbnail::Kind::Color: out.image = colorImage(thumb); break;
        case Thumbnail::Kind::Map:
        case Thumbnail::Kind::Maps: out.image = mapImage(thumb, scheme); break;
    }
    out.range = rangeText(thumb.minimum, thumb.maximum);
    return out;
}

Preview makePreview(const session::WatchSummary& summary) {
    Preview out;
    if (!summary.stats) {
        out.big = QString::fromStdString(summary.type);
        return out;
    }
    const analysis::TensorStats& stats = *summary.stats;
    out.bad = stats.nanCount + stats.infCount > 0;
    if (stats.finiteCount() == 0) {
        out.big = stats.count == 0 ? QStringLiteral("no elements") : QStringLiteral("not finite");
        return out;
    }
    out.big = QStringLiteral("mean ") + numberText(stats.mean);
    out.range = rangeText(stats.minimum, stats.maximum);
    return out;
}

}  // namespace sonde::canvas
