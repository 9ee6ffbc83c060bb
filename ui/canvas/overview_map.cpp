#include "ui/canvas/overview_map.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "ui/canvas/canvas_marks.h"
#include "ui/canvas/canvas_text.h"
#include "ui/canvas/canvas_view.h"
#include "ui/theme/serial_paint.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using theme::ColorRole;

namespace {

constexpr int kMaxLength = 190, kMinLength = 56;
constexpr double kMargin = 6;
constexpr double kMarkReach = 6;  ///< pixels beside a mark that still hit it

struct Mark {
    ItemFlags flag;
    ColorRole role;
};
/// The last is drawn on top, and hit first.
constexpr Mark kMapMarks[] = {
    {kMatch, ColorRole::SearchHit},      {kBookmarked, ColorRole::Accent}, {kWatched, ColorRole::WatchMark},
    {kEnd, ColorRole::EndMark},          {kBreak, ColorRole::ErrorMark},   {kCurrent, ColorRole::CurrentMark},
    {kBadValue, ColorRole::WarningMark}, {kDiffers, ColorRole::ErrorMark}, {kFailed, ColorRole::ErrorMark}};

}  // namespace

OverviewMap::OverviewMap(QWidget& parent, CanvasView& view, const CanvasMarks& marks, const CanvasText& text)
    : QWidget(&parent), m_view(view), m_marks(marks), m_text(text) {
    setAccessibleName(tr("Overview map"));
    setMouseTracking(true);
    connect(&view, &CanvasView::cameraChanged, this, qOverload<>(&QWidget::update));
    connect(&marks, &CanvasMarks::changed, this, qOverload<>(&QWidget::update));
}

QSize OverviewMap::sizeHint() const {
    const auto scene = m_view.scene();
    if (!scene || scene->bounds.width <= 0 || scene->bounds.height <= 0) return {kMaxLength, kMaxLength};
    const QSizeF size =
        QSizeF(scene->bounds.width, scene->bounds.height).scaled(kMaxLength, kMaxLength, Qt::KeepAspectRatio);
    return {std::max(kMinLength, qRound(size.width())), std::max(kMinLength, qRound(size.height()))};
}

QTransform OverviewMap::toMap() const {
    const auto scene = m_view.scene();
    if (!scene) return {};
    const QRectF all = toQt(scene->bounds);
    const double scale = std::min((width() - 2 * kMargin) / std::max(1.0, all.width()),
                                  (height() - 2 * kMargin) / std::max(1.0, all.height()));
    const QPointF origin = QPointF(width(), height()) / 2 - all.center() * scale;
    return QTransform(scale, 0, 0, scale, origin.x(), origin.y());
}

QRectF OverviewMap::viewRect() const { return toMap().mapRect(m_view.visible()); }

void OverviewMap::sceneChanged() {
    m_picture = {};
    update();
}

void OverviewMap::renderScene() {
    const double ratio = devicePixelRatioF();
    m_picture = QPixmap(size() * ratio);
    m_picture.setDevicePixelRatio(ratio);
    m_picture.fill(theme::color(ColorRole::MinimapBackground));
    const auto scene = m_view.scene();
    if (!scene) return;
    QPainter painter(&m_picture);
    const QTransform map = toMap();
    const QColor node = theme::color(ColorRole::MinimapNode);
    QColor box = node;
    box.setAlphaF(0.25F);
    for (const layout::SceneItem& item : scene->items) {
        if (item.what.kind == layout::ItemKind::Stub) continue;
        QRectF rect = map.mapRect(toQt(item.rect));
        rect.setSize(rect.size().expandedTo({1.0, 1.0}));
        if (item.what.open) theme::fillVeil(painter, rect.toAlignedRect(), box);
        else painter.fillRect(rect, node);
    }
}

void OverviewMap::renderMarks(QPainter& painter) const {
    const auto scene = m_view.scene();
    const QTransform map = toMap();
    painter.setPen(QPen(theme::color(ColorRole::MinimapBackground), 1));
    for (const Mark& mark : kMapMarks) {
        painter.setBrush(theme::color(mark.role));
        for (std::size_t i = 0; i < m_marks.now().flags.size(); ++i)
            if (m_marks.now().flags[i] & mark.flag)
                painter.drawEllipse(map.map(toQt(scene->items[i].rect).center()), 3.5, 3.5);
    }
}

void OverviewMap::paintEvent(QPaintEvent*) {
    if (m_picture.size() != size() * devicePixelRatioF()) renderScene();
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_picture);
    if (m_view.scene()) {
        const QRectF view = viewRect().intersected(QRectF(rect()));
        const QRect clear = view.toRect();
        for (const QRect& outside : QRegion(rect()).subtracted(clear))
            theme::fillVeil(painter, outside, theme::color(ColorRole::MinimapVeil));
        painter.setRenderHint(QPainter::Antialiasing);
        renderMarks(painter);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme::color(ColorRole::MinimapView), 1.5));
        painter.drawRect(view.adjusted(0.75, 0.75, -0.75, -0.75));
    }
    painter.setPen(theme::color(ColorRole::Border));
    painter.setBrush(Qt::NoBrush);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void OverviewMap::centreAt(QPointF pixel) {
    if (m_view.scene()) m_view.centreOn(toMap().inverted().map(pixel));
}

QPointF OverviewMap::markPlace(layout::ItemId item) const {
    return toMap().map(toQt(m_view.scene()->item(item).rect).center());
}

layout::ItemId OverviewMap::markAt(QPointF pixel) const {
    const auto scene = m_view.scene();
    layout::ItemId best;
    if (!scene) return best;
    double nearest = kMarkReach * kMarkReach;
    for (auto mark = std::rbegin(kMapMarks); mark != std::rend(kMapMarks) && !best; ++mark)
        for (std::size_t i = 0; i < m_marks.now().flags.size() && i < scene->items.size(); ++i) {
            if (!(m_marks.now().flags[i] & mark->flag)) continue;
            const QPointF away = markPlace(layout::ItemId(i)) - pixel;
            if (const double distance = QPointF::dotProduct(away, away); distance <= nearest) {
                nearest = distance;
                best = layout::ItemId(i);
            }
        }
    return best;
}

bool OverviewMap::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const layout::ItemId marked = markAt(static_cast<QHelpEvent*>(event)->pos());
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(),
                           marked ? m_text.spoken(marked).toHtmlEscaped()
                                  : tr("Click or drag to move the view; click a mark to go there"),
                           this);
        return true;
    }
    return QWidget::event(event);
}

void OverviewMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const layout::ItemId marked = markAt(event->position())) {
        const QRectF rect = toQt(m_view.scene()->item(marked).rect);
        Q_EMIT itemChosen(marked);
        m_view.centreOn(rect.center());
        return;
    }
    centreAt(event->position());
}

void OverviewMap::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) return centreAt(event->position());
    setCursor(markAt(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void OverviewMap::wheelEvent(QWheelEvent* event) {
    m_view.zoomBy(std::pow(1.0018, event->angleDelta().y()));
    event->accept();
}

}  // namespace sonde::canvas
