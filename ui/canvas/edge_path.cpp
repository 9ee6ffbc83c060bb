#include "ui/canvas/edge_path.h"

#include <algorithm>
#include <array>

#include "ui/canvas/scene_index.h"

namespace sonde::canvas {
namespace {

using Cubic = std::array<QPointF, 4>;

/// Pieces are not cut smaller than this many times the area: what sticks out is the painter's to clip.
constexpr double kPiece = 2;
constexpr int kMaxDepth = 40;

QRectF hullOf(const Cubic& curve) {
    const auto [left, right] = std::minmax({curve[0].x(), curve[1].x(), curve[2].x(), curve[3].x()});
    const auto [top, bottom] = std::minmax({curve[0].y(), curve[1].y(), curve[2].y(), curve[3].y()});
    return {QPointF(left, top), QPointF(right, bottom)};
}

/// QRectF::intersects is false for a rectangle without width, which the hull of a straight line is.
bool meets(const QRectF& a, const QRectF& b) {
    return a.left() <= b.right() && b.left() <= a.right() && a.top() <= b.bottom() && b.top() <= a.bottom();
}

class Clipper {
  public:
    explicit Clipper(const QRectF& area) : m_area(area) {}

    void add(const Cubic& curve, int depth = 0) {
        const QRectF hull = hullOf(curve);
        if (!meets(hull, m_area)) {
            m_isDrawing = false;
        } else if (depth == kMaxDepth ||
                   (hull.width() <= kPiece * m_area.width() && hull.height() <= kPiece * m_area.height())) {
            if (!m_isDrawing) m_path.moveTo(curve[0]);
            m_path.cubicTo(curve[1], curve[2], curve[3]);
            m_isDrawing = true;
        } else {
            // de Casteljau, at the middle.
            const QPointF a = (curve[0] + curve[1]) / 2, b = (curve[1] + curve[2]) / 2, c = (curve[2] + curve[3]) / 2;
            const QPointF ab = (a + b) / 2, bc = (b + c) / 2, middle = (ab + bc) / 2;
            add({curve[0], a, ab, middle}, depth + 1);
            add({middle, bc, c, curve[3]}, depth + 1);
        }
    }

    QPainterPath take() { return std::move(m_path); }

  private:
    QRectF m_area;
    QPainterPath m_path;
    bool m_isDrawing = false;
};

}  // namespace

QPainterPath painterPath(const layout::Path& path, const QRectF& area) {
    QPainterPath whole;
    if (path.empty()) return whole;
    if (!area.isEmpty()) {
        Clipper clipper(area);
        for (std::size_t i = 0; i + 3 < path.points.size(); i += 3)
            clipper.add(
                {toQt(path.points[i]), toQt(path.points[i + 1]), toQt(path.points[i + 2]), toQt(path.points[i + 3])});
        return clipper.take();
    }
    whole.moveTo(toQt(path.start()));
    for (std::size_t i = 1; i + 2 < path.points.size(); i += 3)
        whole.cubicTo(toQt(path.points[i]), toQt(path.points[i + 1]), toQt(path.points[i + 2]));
    return whole;
}

}  // namespace sonde::canvas
