#include "ui/canvas/camera_moves.h"

#include <algorithm>
#include <optional>

namespace sonde::canvas {

Camera showing(Camera camera, const QRectF& rect, QSizeF size) {
    constexpr double kReadable = 0.5;
    if (camera.scale < kReadable) {
        camera.scale = 0.9;
        camera.centre = rect.center();
    }
    const double margin = 30 / camera.scale;
    const QRectF view = camera.visible(size).adjusted(margin, margin, -margin, -margin);
    if (rect.width() > view.width() || rect.height() > view.height()) {
        // Too large to be seen whole: its title, where it begins.
        if (!view.contains(rect.topLeft())) camera.centre += rect.topLeft() - view.topLeft();
    } else if (!view.contains(rect)) {
        // As little as needed; but what was far off the screen comes to its middle.
        if (!camera.visible(size).intersects(rect)) {
            camera.centre = rect.center();
        } else {
            const QPointF before = camera.centre;
            camera.centre = {
                before.x() + std::max(0.0, rect.right() - view.right()) - std::max(0.0, view.left() - rect.left()),
                before.y() + std::max(0.0, rect.bottom() - view.bottom()) - std::max(0.0, view.top() - rect.top())};
        }
    }
    return camera;
}

Camera keepingInView(Camera camera, const QRectF& rect, QSizeF size) {
    constexpr double kMargin = 30, kSome = 120;  // pixels
    const QRectF whole = camera.visible(size);
    const double margin = std::min({kMargin / camera.scale, whole.width() / 4, whole.height() / 4});
    const QRectF view = whole.adjusted(margin, margin, -margin, -margin);
    const double some = kSome / camera.scale;
    // What is larger than the view is seen if some of it is.
    const auto shift = [some](double from, double to, double low, double high) {
        if (to - from > high - low)
            return from > high - some ? from - (high - some) : to < low + some ? to - (low + some) : 0.0;
        return std::max(0.0, to - high) - std::max(0.0, low - from);
    };
    camera.centre += QPointF(shift(rect.left(), rect.right(), view.left(), view.right()),
                             shift(rect.top(), rect.bottom(), view.top(), view.bottom()));
    return camera;
}

Camera uncovering(Camera camera, const QRectF& rect, QSizeF size, const std::vector<QRectF>& covers) {
    constexpr double kGap = 8;
    const QRectF shown(camera.toPixel(rect.topLeft(), size), rect.size() * camera.scale), whole(QPointF(), size);
    const auto isFree = [&](const QRectF& at) {
        return whole.contains(at) &&
               std::none_of(covers.begin(), covers.end(), [&](const QRectF& cover) { return cover.intersects(at); });
    };
    if (isFree(shown) || !whole.contains(shown)) return camera;
    std::optional<QPointF> least;
    for (const QRectF& cover : covers) {
        if (!cover.intersects(shown)) continue;
        for (const QPointF by :
             {QPointF(cover.left() - kGap - shown.right(), 0), QPointF(cover.right() + kGap - shown.left(), 0),
              QPointF(0, cover.top() - kGap - shown.bottom()), QPointF(0, cover.bottom() + kGap - shown.top())}) {
            if (isFree(shown.translated(by)) && (!least || by.manhattanLength() < least->manhattanLength())) least = by;
        }
    }
    if (least) camera.centre -= *least / camera.scale;
    return camera;
}

}  // namespace sonde::canvas
