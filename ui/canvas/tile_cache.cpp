#include "ui/canvas/tile_cache.h"

#include <cmath>

namespace sonde::canvas {

void TileCache::invalidate(bool keepOld) {
    if (!keepOld) {
        m_old.clear();
    } else if (!m_tiles.isEmpty()) {
        if (m_oldScale != m_scale) m_old.clear();
        for (auto it = m_tiles.cbegin(); it != m_tiles.cend(); ++it) m_old.insert(it.key(), it.value());
        m_oldScale = m_scale;
    }
    m_tiles.clear();
}

void TileCache::invalidate(const QRectF& area) {
    const Grid grid = gridOf(area, m_scale);
    if (m_oldScale != m_scale) {
        m_old.clear();
        m_oldScale = m_scale;
    }
    for (auto it = m_tiles.begin(); it != m_tiles.end();) {
        const Key key = it.key();
        if (key.x >= grid.left && key.x <= grid.right && key.y >= grid.top && key.y <= grid.bottom) {
            m_old.insert(key, it.value());
            it = m_tiles.erase(it);
        } else {
            ++it;
        }
    }
}

TileCache::Grid TileCache::gridOf(const QRectF& area, double scale) const {
    const auto cell = [scale](double at) {
        return static_cast<int>(std::floor(std::clamp(at * scale, -1e9, 1e9) / kTile));
    };
    return {cell(area.left()), cell(area.top()), cell(area.right()), cell(area.bottom())};
}

void TileCache::useScale(double scale) {
    if (scale == m_scale) return;
    // What is there of the last scale serves until the new one is painted, unless it is less than what was there
    // before.
    if (m_tiles.size() >= m_old.size() || m_old.isEmpty()) {
        m_old = m_tiles;
        m_oldScale = m_scale;
    }
    m_tiles.clear();
    m_scale = scale;
}

void TileCache::renderTile(Key key, const QColor& background, const Render& render) {
    QImage tile(kTile, kTile, QImage::Format_RGB32);
    tile.fill(background);
    QPainter painter(&tile);
    painter.translate(-static_cast<double>(key.x) * kTile, -static_cast<double>(key.y) * kTile);
    painter.scale(m_scale, m_scale);
    const double edge = kTile / m_scale;
    // Detail goes by what the eye sees, so it does not change with the density of the screen.
    render(painter, QRectF(key.x * edge, key.y * edge, edge, edge), m_scale / m_pixelRatio);
    painter.end();
    m_tiles.insert(key, tile);
}

void TileCache::paintOld(QPainter& painter, const QPointF& origin, const QSizeF& pixels) {
    if (m_old.isEmpty() || m_oldScale <= 0) return;
    const double factor = m_scale / m_oldScale, edge = kTile * factor;
    const QRectF view(QPointF(0, 0), pixels);
    // Corners are rounded, so that neighbours meet without a seam.
    const auto place = [&](double cell, double from) { return std::round(cell * edge + from); };
    for (auto it = m_old.cbegin(); it != m_old.cend(); ++it) {
        const QRectF target(QPointF(place(it.key().x, origin.x()), place(it.key().y, origin.y())),
                            QPointF(place(it.key().x + 1, origin.x()), place(it.key().y + 1, origin.y())));
        if (target.intersects(view)) painter.drawImage(target, it.value());
    }
}

void TileCache::paintTiles(QPainter& painter, const Grid& grid, const QPointF& origin) const {
    for (int y = grid.top; y <= grid.bottom; ++y) {
        for (int x = grid.left; x <= grid.right; ++x) {
            const auto tile = m_tiles.constFind({x, y});
            if (tile != m_tiles.cend())
                painter.drawImage(QPointF(x * static_cast<double>(kTile), y * static_cast<double>(kTile)) + origin,
                                  *tile);
        }
    }
}

void TileCache::trim(const Grid& keep) {
    // Tiles further away than one view are given up; a view is at most a few dozen.
    const int width = keep.right - keep.left + 1, height = keep.bottom - keep.top + 1;
    if (m_tiles.size() <= 6 * static_cast<qsizetype>(width + 2) * (height + 2)) return;
    m_tiles.removeIf([&](const std::pair<const Key&, QImage&> entry) {
        return entry.first.x < keep.left - width || entry.first.x > keep.right + width ||
               entry.first.y < keep.top - height || entry.first.y > keep.bottom + height;
    });
}

bool TileCache::paint(QPainter& painter, const QRegion& exposed, const Camera& camera, QSize size, double pixelRatio,
                      const QColor& background, const Render& render, std::chrono::microseconds budget) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + budget;
    m_pixelRatio = pixelRatio;
    useScale(camera.scale * pixelRatio);
    const Grid grid = gridOf(camera.visible(size), m_scale);
    const QSizeF pixels = QSizeF(size) * pixelRatio;
    const QPointF exact = camera.toPixel({0, 0}, size) * pixelRatio;
    const QPointF origin(std::round(exact.x()), std::round(exact.y()));

    // From the middle outwards: that is where one looks.
    std::vector<Key> missing;
    for (int y = grid.top; y <= grid.bottom; ++y)
        for (int x = grid.left; x <= grid.right; ++x)
            if (!m_tiles.contains({x, y})) missing.push_back({x, y});
    const auto distance = [&](Key key) {
        return std::abs(2 * key.x - grid.left - grid.right) + std::abs(2 * key.y - grid.top - grid.bottom);
    };
    std::sort(missing.begin(), missing.end(), [&](Key a, Key b) { return distance(a) < distance(b); });
    std::size_t done = 0;
    while (done < missing.size() && (done == 0 || Clock::now() < end)) renderTile(missing[done++], background, render);

    // Rectangle by rectangle: into a region of several, Qt copies pictures span by span on threads that it waits for.
    for (const QRect& part : exposed) {
        painter.save();
        painter.setClipRect(part);
        painter.scale(1 / pixelRatio, 1 / pixelRatio);
        if (done < missing.size()) {
            painter.fillRect(QRectF(QPointF(0, 0), pixels), background);
            paintOld(painter, origin, pixels);
        }
        paintTiles(painter, grid, origin);
        painter.restore();
    }
    if (done == missing.size()) m_old.clear();
    trim(grid);
    return done == missing.size();
}

bool TileCache::prepareAround(const Camera& camera, QSize size, double pixelRatio, const QColor& background,
                              const Render& render) {
    if (m_scale != camera.scale * pixelRatio) return false;
    const Grid grid = gridOf(camera.visible(size), m_scale);
    for (int y = grid.top - 1; y <= grid.bottom + 1; ++y) {
        for (int x = grid.left - 1; x <= grid.right + 1; ++x) {
            if (m_tiles.contains({x, y})) continue;
            renderTile({x, y}, background, render);
            return true;
        }
    }
    return false;
}

}  // namespace sonde::canvas
