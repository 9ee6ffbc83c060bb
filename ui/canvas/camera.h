#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <QTransform>

#include <algorithm>
#include <cmath>

namespace sonde::canvas {

/// Beside a scene that is fitted, in pixels.
inline constexpr double kFitMargin = 24;

/// What part of a scene a view of `size` device-independent pixels shows.
struct Camera {
    QPointF centre;      ///< scene units
    double scale = 1.0;  ///< device-independent pixels per scene unit

    static constexpr double kMinScale = 0.004;
    static constexpr double kMaxScale = 8.0;

    bool operator==(const Camera&) const = default;
    QPointF toScene(QPointF pixel, QSizeF size) const {
        return centre + (pixel - QPointF(size.width(), size.height()) / 2) / scale;
    }
    QPointF toPixel(QPointF place, QSizeF size) const {
        return (place - centre) * scale + QPointF(size.width(), size.height()) / 2;
    }
    QRectF visible(QSizeF size) const { return {toScene({0, 0}, size), size / scale}; }
    QTransform transform(QSizeF size) const {
        const QPointF origin = toPixel({0, 0}, size);
        return QTransform(scale, 0, 0, scale, origin.x(), origin.y());
    }

    /// Zooms so that what is under `pixel` stays there.
    void zoomAbout(QPointF pixel, QSizeF size, double factor) {
        const QPointF fixed = toScene(pixel, size);
        scale = std::clamp(scale * factor, kMinScale, kMaxScale);
        centre = fixed - (pixel - QPointF(size.width(), size.height()) / 2) / scale;
    }
    /// The camera that shows all of `area` with a margin, no larger than `largest`.
    static Camera fitting(const QRectF& area, QSizeF size, double margin, double largest) {
        Camera camera;
        camera.centre = area.center();
        const double width = std::max(1.0, size.width() - 2 * margin),
                     height = std::max(1.0, size.height() - 2 * margin);
        camera.scale = std::clamp(std::min(width / std::max(1.0, area.width()), height / std::max(1.0, area.height())),
                                  kMinScale, largest);
        return camera;
    }
    static Camera between(const Camera& a, const Camera& b, double t) {
        // Scales multiply: half way between 1 and 4 is 2.
        const double scale = a.scale * std::pow(b.scale / a.scale, t);
        return {a.centre + (b.centre - a.centre) * t, scale};
    }
};

}  // namespace sonde::canvas
