#pragma once

#include <QPainterPath>
#include <QRectF>

#include "core/layout/scene.h"

namespace sonde::canvas {

/// The curve of an edge. With an area (scene units, not empty) only what of it may be seen there: an edge of a hub may
/// be a million units long, and drawing all of its curve for a thousand of them takes minutes. Pieces begin and end
/// outside.
QPainterPath painterPath(const layout::Path& path, const QRectF& area = {});

}  // namespace sonde::canvas
