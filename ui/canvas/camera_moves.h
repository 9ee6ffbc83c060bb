#pragma once

#include <QRectF>

#include <vector>

#include "ui/canvas/camera.h"

namespace sonde::canvas {

/// The camera moved as little as needed to show `rect` (scene units) in a view of `size` pixels; what is far off the
/// screen comes to its middle, and it is zoomed in where the text would be too small to read. Of what is too large to
/// be seen whole, the corner where it begins.
Camera showing(Camera camera, const QRectF& rect, QSizeF size);

/// The camera at the same scale, moved as little as needed to show `rect`; of what is too large to be seen whole, some
/// of its beginning.
Camera keepingInView(Camera camera, const QRectF& rect, QSizeF size);

/// The camera moved as little as needed to have `rect`, which is in view, off the pixels that `covers` take; as it is
/// if that cannot be.
Camera uncovering(Camera camera, const QRectF& rect, QSizeF size, const std::vector<QRectF>& covers);

}  // namespace sonde::canvas
