#pragma once

#include <QHash>
#include <QImage>
#include <QPainter>

#include <chrono>
#include <functional>

#include "ui/canvas/camera.h"

namespace sonde::canvas {

/// Keeps what was painted of a scene as square pictures, so that panning is copying and zooming shows the last picture
/// scaled until the sharp one is painted. Painting is done piece by piece within a time budget for each frame.
class TileCache {
  public:
    /// Paints the part `area` of the scene; the painter's coordinates are scene units.
    using Render = std::function<void(QPainter&, const QRectF& area, double scale)>;

    /// Tiles are to be painted anew; until then the old ones are shown. `keepOld` false: the old ones show something
    /// else altogether and are dropped.
    void invalidate(bool keepOld = true);
    /// The same for a part of the scene.
    void invalidate(const QRectF& area);

    /// Paints the view, of it what is `exposed` (device-independent pixels). Returns false if tiles are missing still:
    /// paint again soon. A frame always makes progress.
    bool paint(QPainter& painter, const QRegion& exposed, const Camera& camera, QSize size, double pixelRatio,
               const QColor& background, const Render& render, std::chrono::microseconds budget);

    /// Paints one tile around the view that is not there yet, so that the next step of a pan is only copying. False if
    /// all are there.
    bool prepareAround(const Camera& camera, QSize size, double pixelRatio, const QColor& background,
                       const Render& render);

    std::size_t tileCount() const { return static_cast<std::size_t>(m_tiles.size() + m_old.size()); }

  private:
    struct Key {
        int x = 0, y = 0;
        bool operator==(const Key&) const = default;
        friend size_t qHash(const Key& key, size_t seed = 0) { return qHashMulti(seed, key.x, key.y); }
    };
    struct Grid {
        int left, top, right, bottom;
    };

    Grid gridOf(const QRectF& area, double scale) const;
    void useScale(double scale);
    void renderTile(Key key, const QColor& background, const Render& render);
    void paintOld(QPainter& painter, const QPointF& origin, const QSizeF& pixels);
    void paintTiles(QPainter& painter, const Grid& grid, const QPointF& origin) const;
    void trim(const Grid& keep);

    static constexpr int kTile = 256;  ///< device pixels
    QHash<Key, QImage> m_tiles;
    QHash<Key, QImage> m_old;
    double m_scale = 0;  ///< device pixels per scene unit
    double m_oldScale = 0;
    double m_pixelRatio = 1;
};

}  // namespace sonde::canvas
