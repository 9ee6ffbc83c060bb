#pragma once

#include <QImage>
#include <QPageSize>
#include <QRectF>

#include <vector>

#include "ui/canvas/scene_painter.h"

class QPagedPaintDevice;

namespace sonde::canvas {

/// How a picture comes onto paper.
struct Paging {
    bool onePage = true;  ///< shrunk onto one page; else cut into as many as it needs
    bool landscape = false;
    double scale = 0.6;  ///< points per unit on several pages: names are then about 8 points high
    QPageSize::PageSizeId size = QPageSize::A4;

    static constexpr double kMinScale = 0.1, kMaxScale = 3;
};

/// A piece of the picture that comes onto one page.
struct PageLayout {
    QRectF area;  ///< of the scene
    int row = 0, column = 0;
};

/// The pieces row by row, for pages that have room for `room` units. Neighbours share a strip, to be pasted together.
std::vector<PageLayout> pagesOf(const QRectF& picture, const QSizeF& room);

/// The part of the scene that has something on it, with a margin.
QRectF pictureOf(const ScenePainter& painter);

/// Draws an area of a scene onto the pages of a printer or PDF file, vector and with text as text; every page says
/// which it is. Size, margins and orientation of the device are set already. Returns the number of pages.
int paintPages(QPagedPaintDevice& device, const ScenePainter& painter, const SceneMarks& marks, const QRectF& area,
               const Paging& paging, const base::WorkContext& work = {});

/// The same for a preview: the first pages as pictures, on any thread, and how many there are.
struct PagePictures {
    std::vector<QImage> pictures;
    int pages = 0;
};
/// `page`: what may be drawn on, in points.
PagePictures pagePictures(const ScenePainter& painter, const SceneMarks& marks, const QRectF& area, const QSizeF& page,
                          const Paging& paging, const base::WorkContext& work = {});

}  // namespace sonde::canvas
