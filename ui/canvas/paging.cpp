#include "ui/canvas/paging.h"

#include <QPagedPaintDevice>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace sonde::canvas {

namespace {

constexpr double kMargin = 24;         // of the picture, in units
constexpr double kShared = 12;         // of neighbouring pages, in units
constexpr double kFooter = 14;         // under the picture, in points
constexpr double kMostPages = 2000;

/// A number of pages, as large as it may be.
double piecesOf(double length, double room) {
    if (length <= room) return 1;
    const double step = std::max(room - kShared, 1.0);
    return 1 + std::ceil((length - room) / step - 1e-9);
}

}  // namespace

QRectF pictureOf(const ScenePainter& painter) {
    return toQt(painter.index().scene().bounds).adjusted(-kMargin, -kMargin, kMargin, kMargin);
}

std::vector<Sheet> sheetsOf(const QRectF& picture, const QSizeF& room) {
    const auto columns = static_cast<int>(piecesOf(picture.width(), room.width())), rows = static_cast<int>(piecesOf(picture.height(), room.height()));
    const QSizeF step(room.width() - (columns > 1 ? kShared : 0), room.height() - (rows > 1 ? kShared : 0));
    std::vector<Sheet> sheets;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            sheets.push_back({QRectF(picture.topLeft() + QPointF(column * step.width(), row * step.height()), room), row, column});
    return sheets;
}

int paintPages(QPagedPaintDevice& device, const ScenePainter& painter, const SceneMarks& marks, const QRectF& area, const Paging& paging) {
    const CanvasStyle& style = painter.items().style();
    const QSizeF page = device.pageLayout().paintRect(QPageLayout::Point).size();
    const QSizeF room(page.width(), page.height() - kFooter);
    double scale = std::clamp(paging.scale, Paging::kLeastScale, Paging::kLargestScale);
    const double whole = std::min({1.0, room.width() / area.width(), room.height() / area.height()});
    if (paging.onePage) scale = whole;
    // A graph of a hundred thousand nodes must not fill the printer's tray.
    const auto pages = [&] { return piecesOf(area.width(), room.width() / scale) * piecesOf(area.height(), room.height() / scale); };
    while (pages() > kMostPages) scale *= 0.8;
    const std::vector<Sheet> sheets = sheetsOf(area, room / scale);
    const QString title = QString::fromStdString(painter.items().graph().name);
    QPainter p(&device);
    for (std::size_t i = 0; i < sheets.size(); ++i) {
        if (i > 0) device.newPage();
        const Sheet& sheet = sheets[i];
        p.save();
        p.scale(device.logicalDpiX() / 72.0, device.logicalDpiY() / 72.0);
        p.save();
        const QSizeF drawn = sheet.area.intersected(area).size() * scale;
        p.setClipRect(QRectF(QPointF(), drawn));
        p.fillRect(QRectF(QPointF(), drawn), style.color(theme::ColorRole::Canvas));
        p.scale(scale, scale);
        p.translate(-sheet.area.topLeft());
        painter.paint(p, marks, sheet.area.intersected(area), 1.0);
        p.restore();
        QString text = sheets.size() > 1 ? QStringLiteral("%1 \u2014 page %2 of %3, row %4, column %5").arg(title).arg(i + 1).arg(sheets.size()).arg(sheet.row + 1).arg(sheet.column + 1)
                                         : title;
        QFont font = canvasFont(TextRole::Small, 1.0);
        p.setFont(font);
        p.setPen(theme::color(theme::ColorRole::Text, theme::Scheme::Light));  // paper is white whatever the picture is
        p.drawText(QPointF(0, page.height() - 3), text);
        p.restore();
    }
    return static_cast<int>(sheets.size());
}

}  // namespace sonde::canvas
