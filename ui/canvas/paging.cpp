#include "ui/canvas/paging.h"

#include <QPagedPaintDevice>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace sonde::canvas {

namespace {

constexpr double kPageMargin = 24;  // of the picture, in units
constexpr double kShared = 12;      // of neighbouring pages, in units
constexpr double kFooter = 14;      // under the picture, in points
constexpr double kMaxPages = 2000;

/// A number of pages, as large as it may be.
double piecesOf(double length, double room) {
    if (length <= room) return 1;
    const double step = std::max(room - kShared, 1.0);
    return 1 + std::ceil((length - room) / step - 1e-9);
}

}  // namespace

QRectF pictureOf(const ScenePainter& painter) {
    return toQt(painter.index().scene().bounds).adjusted(-kPageMargin, -kPageMargin, kPageMargin, kPageMargin);
}

std::vector<PageLayout> pagesOf(const QRectF& picture, const QSizeF& room) {
    const auto columns = static_cast<int>(piecesOf(picture.width(), room.width())),
               rows = static_cast<int>(piecesOf(picture.height(), room.height()));
    const QSizeF step(room.width() - (columns > 1 ? kShared : 0), room.height() - (rows > 1 ? kShared : 0));
    std::vector<PageLayout> pages;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            pages.push_back(
                {QRectF(picture.topLeft() + QPointF(column * step.width(), row * step.height()), room), row, column});
    return pages;
}

namespace {

/// The pieces of an area and how large they are drawn, in points per unit.
struct Plan {
    std::vector<PageLayout> pages;
    double scale = 1;
    QSizeF page;  ///< what may be drawn on, in points
};

Plan planOf(const QRectF& area, const QSizeF& page, const Paging& paging) {
    const QSizeF room(page.width(), page.height() - kFooter);
    double scale = std::clamp(paging.scale, Paging::kMinScale, Paging::kMaxScale);
    const double whole = std::min({1.0, room.width() / area.width(), room.height() / area.height()});
    if (paging.onePage) scale = whole;
    // A graph of a hundred thousand nodes must not fill the printer's tray.
    const auto pages = [&] {
        return piecesOf(area.width(), room.width() / scale) * piecesOf(area.height(), room.height() / scale);
    };
    while (pages() > kMaxPages) scale *= 0.8;
    return {pagesOf(area, room / scale), scale, page};
}

/// The painter's units are points.
void paintSheet(QPainter& p, const ScenePainter& painter, const SceneMarks& marks, const QRectF& area, const Plan& plan,
                std::size_t number) {
    const QString title = QString::fromStdString(painter.items().graph().name);
    const PageLayout& page = plan.pages[number];
    p.save();
    const QSizeF drawn = page.area.intersected(area).size() * plan.scale;
    p.setClipRect(QRectF(QPointF(), drawn));
    p.fillRect(QRectF(QPointF(), drawn), painter.items().style().color(theme::ColorRole::Canvas));
    p.scale(plan.scale, plan.scale);
    p.translate(-page.area.topLeft());
    painter.paint(p, marks, page.area.intersected(area), 1.0);
    p.restore();
    const std::size_t count = plan.pages.size();
    const QString text = count > 1 ? QStringLiteral("%1 \u2014 page %2 of %3, row %4, column %5")
                                         .arg(title)
                                         .arg(number + 1)
                                         .arg(count)
                                         .arg(page.row + 1)
                                         .arg(page.column + 1)
                                   : title;
    const QFont font = canvasFont(TextRole::Small, 1.0);
    p.setFont(font);
    p.setPen(theme::color(theme::ColorRole::Text, theme::Scheme::Light));  // paper is white whatever the picture is
    p.drawText(QPointF(0, plan.page.height() - 3), text);
}

/// Tells how far one of several pages is, or how far the only one is.
void watch(const ScenePainter& painter, const Plan& plan, std::size_t number, const base::WorkContext& work) {
    const layout::SceneLayout& scene = painter.index().scene();
    if (plan.pages.size() > 1) work.report("Rendering", number, plan.pages.size());
    painter.steps().begin(work, plan.pages.size() > 1 ? 0 : scene.items.size() + 3 * scene.edges.size());
}

}  // namespace

int paintPages(QPagedPaintDevice& device, const ScenePainter& painter, const SceneMarks& marks, const QRectF& area,
               const Paging& paging, const base::WorkContext& work) {
    const Plan plan = planOf(area, device.pageLayout().paintRect(QPageLayout::Point).size(), paging);
    QPainter p(&device);
    for (std::size_t i = 0; i < plan.pages.size() && !work.cancelled(); ++i) {
        if (i > 0) device.newPage();
        watch(painter, plan, i, work);
        p.save();
        p.scale(device.logicalDpiX() / 72.0, device.logicalDpiY() / 72.0);
        paintSheet(p, painter, marks, area, plan, i);
        p.restore();
    }
    painter.steps().end();
    return static_cast<int>(plan.pages.size());
}

PagePictures pagePictures(const ScenePainter& painter, const SceneMarks& marks, const QRectF& area, const QSizeF& page,
                          const Paging& paging, const base::WorkContext& work) {
    constexpr std::size_t kMaxPreviews = 48;
    constexpr double kPixels = 24e6;  // of all pages together
    const Plan plan = planOf(area, page, paging);
    PagePictures made;
    made.pages = static_cast<int>(plan.pages.size());
    const std::size_t shown = std::min(plan.pages.size(), kMaxPreviews);
    const double density =
        std::min(2.0, std::sqrt(kPixels / (static_cast<double>(shown) * page.width() * page.height())));
    for (std::size_t i = 0; i < shown && !work.cancelled(); ++i) {
        QImage picture((page * density).toSize(), QImage::Format_ARGB32_Premultiplied);
        picture.fill(Qt::transparent);  // what is not painted is paper
        watch(painter, plan, i, work);
        QPainter p(&picture);
        p.scale(density, density);
        paintSheet(p, painter, marks, area, plan, i);
        p.end();
        made.pictures.push_back(std::move(picture));
    }
    painter.steps().end();
    return made;
}

}  // namespace sonde::canvas
