#pragma once

#include <QColor>
#include <QRect>

class QPainter;

namespace sonde::theme {

/// Painting that waits for no other thread.
///
/// Qt's raster engine hands every translucent fill of 96 spans (rows, or pieces of rows at anti-aliased rims) and more
/// to a thread pool and waits for it. Such a fill takes microseconds; a thread that is asleep, or whose processor is
/// busy, takes up to a hundred milliseconds to come round, and that is a frame that sticks.

/// Tells Qt to paint on the thread that asked. Before the first picture; Qt 6.4 does not listen to it.
void paintOnOneThread();

/// Fills a rectangle of device-independent pixels with a translucent colour, in pieces too low for the pool.
void fillVeil(QPainter& painter, const QRect& rect, const QColor& color);

}  // namespace sonde::theme
