#include "ui/widgets/heat_map_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <limits>
#include <vector>

#include "ui/theme/theme.h"
#include "ui/widgets/number_text.h"

namespace sonde::widgets {
namespace {

constexpr double kMaxCell = 160.0;
constexpr double kMaxContent = 1.0e9;  // pixels; scroll bars count in int
constexpr double kZoomStep = 1.25;
/// A field this many times longer than wide has its cells stretched, so that a vector is a band and not a hair.
constexpr double kMaxRatio = 16.0;

double aspectOf(qint64 rows, qint64 columns) {
    if (rows <= 0 || columns <= 0) return 1.0;
    const double r = static_cast<double>(rows), c = static_cast<double>(columns);
    if (c > kMaxRatio * r) return c / (kMaxRatio * r);
    if (r > kMaxRatio * c) return kMaxRatio * c / r;
    return 1.0;
}

}  // namespace

HeatMapView::HeatMapView(QWidget* parent) : QAbstractScrollArea(parent), m_map(&theme::colorMaps().front()) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    viewport()->setCursor(Qt::CrossCursor);
    setAccessibleName(tr("Heat map"));
    setMinimumSize(120, 80);
    connect(&theme::Theme::instance(), &theme::Theme::changed, viewport(), [this] { viewport()->update(); });
    for (QScrollBar* bar : {horizontalScrollBar(), verticalScrollBar()})
        connect(bar, &QScrollBar::valueChanged, this, &HeatMapView::moved);
}

void HeatMapView::setField(qint64 rows, qint64 columns, Field at) {
    m_colors = {};
    m_at = std::move(at);
    reset(rows, columns);
}

void HeatMapView::setColors(qint64 rows, qint64 columns, Colors colors, Field at) {
    m_colors = std::move(colors);
    m_at = std::move(at);
    reset(rows, columns);
}

void HeatMapView::setImage(const QImage& image) {
    setColors(image.height(), image.width(),
              [opaque = image.convertToFormat(QImage::Format_RGB32)](qint64 row, qint64 column) {
                  return reinterpret_cast<const QRgb*>(opaque.constScanLine(static_cast<int>(row)))[column];
              });
}

void HeatMapView::clear() {
    m_colors = {};
    m_at = {};
    reset(0, 0);
}

void HeatMapView::reset(qint64 rows, qint64 columns) {
    const bool sameShape = rows == m_rows && columns == m_columns;
    m_rows = std::max<qint64>(rows, 0);
    m_columns = std::max<qint64>(columns, 0);
    m_aspect = aspectOf(rows, columns);
    setAccessibleDescription(tr("%1 rows, %2 columns").arg(countText(m_rows), countText(m_columns)));
    // A new slice of the same shape keeps place and zoom, so that slices can be compared.
    if (!sameShape) {
        m_cursorRow = m_cursorColumn = m_hoverRow = m_hoverColumn = -1;
        fit();
    } else if (m_hoverRow >= 0) {
        Q_EMIT cellHovered(m_hoverRow, m_hoverColumn, valueAt(m_hoverRow, m_hoverColumn));
    }
    viewport()->update();
}

void HeatMapView::setScale(const ValueScale& scale) {
    m_scale = scale;
    viewport()->update();
}

void HeatMapView::setColorMap(const theme::ColorMap& map) {
    m_map = &map;
    viewport()->update();
}

void HeatMapView::setMarkedCells(std::vector<std::pair<qint64, qint64>> cells) {
    m_marked = std::move(cells);
    std::sort(m_marked.begin(), m_marked.end());
    viewport()->update();
}

void HeatMapView::setOverlay(std::optional<FieldOverlay> overlay) {
    m_overlay = std::move(overlay);
    viewport()->update();
}

bool HeatMapView::goToMark(bool forward) {
    if (m_marked.empty()) return false;
    const std::pair<qint64, qint64> here = cursor();
    auto next = forward ? std::upper_bound(m_marked.begin(), m_marked.end(), here)
                        : std::lower_bound(m_marked.begin(), m_marked.end(), here);
    if (forward && next == m_marked.end()) next = m_marked.begin();
    if (!forward) next = std::prev(next == m_marked.begin() ? m_marked.end() : next);
    setCursorCell(next->first, next->second);
    return true;
}

double HeatMapView::valueAt(qint64 row, qint64 column) const {
    if (!m_at || row < 0 || column < 0 || row >= m_rows || column >= m_columns)
        return std::numeric_limits<double>::quiet_NaN();
    return m_at(row, column);
}

double HeatMapView::fittingZoom() const {
    if (m_rows == 0 || m_columns == 0) return 1.0;
    const double w = viewport()->width(), h = viewport()->height();
    const double zoom = std::min(w / static_cast<double>(m_columns), h / (static_cast<double>(m_rows) * m_aspect));
    return std::min(zoom, kMaxCell / 2);
}

HeatMapView::Place HeatMapView::place() const {
    return {m_zoom, {horizontalScrollBar()->value(), verticalScrollBar()->value()}, m_fitted};
}

void HeatMapView::setPlace(const Place& place) {
    if (place.isFitted) return isFitted() ? void() : fit();
    if (place == this->place()) return;
    setZoom(place.zoom, {0, 0});
    horizontalScrollBar()->setValue(place.scroll.x());
    verticalScrollBar()->setValue(place.scroll.y());
}

void HeatMapView::fit() {
    m_fitted = true;
    m_zoom = fittingZoom();
    updateScrollBars();
    viewport()->update();
    Q_EMIT moved();
}

void HeatMapView::setZoom(double zoom, QPointF anchor) {
    const double longest = std::max(static_cast<double>(m_columns), static_cast<double>(m_rows) * m_aspect);
    zoom = std::min({zoom, std::max(kMaxCell, fittingZoom()), kMaxContent / std::max(longest, 1.0)});
    zoom = std::max(zoom, std::min(fittingZoom(), 1.0) / 4);
    const QPointF inCells = (anchor - origin()) / m_zoom;
    m_fitted = false;
    m_zoom = zoom;
    updateScrollBars();
    horizontalScrollBar()->setValue(qRound(inCells.x() * zoom - anchor.x()));
    verticalScrollBar()->setValue(qRound(inCells.y() * zoom - anchor.y()));
    viewport()->update();
    Q_EMIT moved();
}

void HeatMapView::updateScrollBars() {
    const auto set = [](QScrollBar* bar, double content, int page) {
        bar->setRange(0, std::max(0, static_cast<int>(std::floor(content + 0.01)) - page));
        bar->setPageStep(page);
        bar->setSingleStep(std::max(1, page / 10));
    };
    set(horizontalScrollBar(), static_cast<double>(m_columns) * m_zoom, viewport()->width());
    set(verticalScrollBar(), static_cast<double>(m_rows) * cellHeight(), viewport()->height());
}

QPointF HeatMapView::origin() const {
    // What is smaller than the view is in its middle.
    const double w = static_cast<double>(m_columns) * m_zoom, h = static_cast<double>(m_rows) * cellHeight();
    const double x =
        w < viewport()->width() ? std::floor((viewport()->width() - w) / 2) : -horizontalScrollBar()->value();
    const double y =
        h < viewport()->height() ? std::floor((viewport()->height() - h) / 2) : -verticalScrollBar()->value();
    return {x, y};
}

std::pair<qint64, qint64> HeatMapView::cellAt(QPointF point) const {
    const QPointF inside = point - origin();
    const double column = std::floor(inside.x() / m_zoom), row = std::floor(inside.y() / cellHeight());
    if (column < 0 || row < 0 || column >= static_cast<double>(m_columns) || row >= static_cast<double>(m_rows))
        return {-1, -1};
    return {static_cast<qint64>(row), static_cast<qint64>(column)};
}

QRectF HeatMapView::cellRect(qint64 row, qint64 column) const {
    return {origin() + QPointF(static_cast<double>(column) * m_zoom, static_cast<double>(row) * cellHeight()),
            QSizeF(m_zoom, cellHeight())};
}

void HeatMapView::setCursorCell(qint64 row, qint64 column) {
    if (m_rows == 0 || m_columns == 0) return;
    m_cursorRow = std::clamp<qint64>(row, 0, m_rows - 1);
    m_cursorColumn = std::clamp<qint64>(column, 0, m_columns - 1);
    const QRectF cell = cellRect(m_cursorRow, m_cursorColumn);
    const QRectF view(viewport()->rect());
    const auto reveal = [](QScrollBar* bar, double first, double last, double size) {
        if (first < 0) bar->setValue(bar->value() + static_cast<int>(std::floor(first)));
        else if (last > size) bar->setValue(bar->value() + static_cast<int>(std::ceil(last - size)));
    };
    reveal(horizontalScrollBar(), cell.left(), cell.right(), view.width());
    reveal(verticalScrollBar(), cell.top(), cell.bottom(), view.height());
    hover(m_cursorRow, m_cursorColumn);
    viewport()->update();
}

void HeatMapView::hover(qint64 row, qint64 column) {
    if (row == m_hoverRow && column == m_hoverColumn) return;
    m_hoverRow = row;
    m_hoverColumn = column;
    const double value = valueAt(row, column);
    if (row >= 0) setAccessibleDescription(tr("row %1, column %2: %3").arg(row).arg(column).arg(numberText(value)));
    Q_EMIT cellHovered(row, column, value);
}

void HeatMapView::resizeEvent(QResizeEvent*) {
    if (m_fitted) fit();
    else updateScrollBars();
}

void HeatMapView::wheelEvent(QWheelEvent* event) {
    const double steps = event->angleDelta().y() / 120.0;
    if (steps != 0) setZoom(m_zoom * std::pow(kZoomStep, steps), event->position());
    event->accept();
}

void HeatMapView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton && event->button() != Qt::RightButton) return;
    m_pressed = event->button() == Qt::LeftButton;
    m_dragged = false;
    m_pressedAt = event->position();
    m_scrollAtPress = {horizontalScrollBar()->value(), verticalScrollBar()->value()};
}

void HeatMapView::mouseMoveEvent(QMouseEvent* event) {
    if (m_pressed && (event->buttons() & Qt::LeftButton)) {
        const QPointF moved = event->position() - m_pressedAt;
        if (moved.manhattanLength() > 4) m_dragged = true;
        if (m_dragged) {
            horizontalScrollBar()->setValue(m_scrollAtPress.x() - qRound(moved.x()));
            verticalScrollBar()->setValue(m_scrollAtPress.y() - qRound(moved.y()));
        }
    }
    const auto [row, column] = cellAt(event->position());
    hover(row, column);
}

void HeatMapView::mouseReleaseEvent(QMouseEvent* event) {
    const bool click = !m_dragged && (event->button() == Qt::LeftButton || event->button() == Qt::RightButton);
    m_pressed = m_dragged = false;
    if (!click) return;
    const auto [row, column] = cellAt(event->position());
    if (row < 0) return;
    setCursorCell(row, column);
    Q_EMIT cellPicked(row, column, valueAt(row, column));
}

void HeatMapView::mouseDoubleClickEvent(QMouseEvent*) { fit(); }

void HeatMapView::keyPressEvent(QKeyEvent* event) {
    const qint64 row = std::max<qint64>(m_cursorRow, 0), column = std::max<qint64>(m_cursorColumn, 0);
    const bool fresh = m_cursorRow < 0;
    const QPointF middle = fresh ? QPointF(viewport()->rect().center()) : cellRect(row, column).center();
    const auto page = [](double view, double cell) { return std::max<qint64>(1, static_cast<qint64>(view / cell)); };
    switch (event->key()) {
        case Qt::Key_Left: setCursorCell(row, column - !fresh); break;
        case Qt::Key_Right: setCursorCell(row, column + !fresh); break;
        case Qt::Key_Up: setCursorCell(row - !fresh, column); break;
        case Qt::Key_Down: setCursorCell(row + !fresh, column); break;
        case Qt::Key_PageUp: setCursorCell(row - page(viewport()->height(), cellHeight()), column); break;
        case Qt::Key_PageDown: setCursorCell(row + page(viewport()->height(), cellHeight()), column); break;
        case Qt::Key_Home: setCursorCell(event->modifiers() & Qt::ControlModifier ? 0 : row, 0); break;
        case Qt::Key_End:
            setCursorCell(event->modifiers() & Qt::ControlModifier ? m_rows - 1 : row, m_columns - 1);
            break;
        case Qt::Key_Plus:
        case Qt::Key_Equal: setZoom(m_zoom * kZoomStep, middle); break;
        case Qt::Key_Minus: setZoom(m_zoom / kZoomStep, middle); break;
        case Qt::Key_0:
        case Qt::Key_Space: fit(); break;
        case Qt::Key_N: goToMark(!(event->modifiers() & Qt::ShiftModifier)); break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!fresh) Q_EMIT cellPicked(row, column, valueAt(row, column));
            break;
        default: QAbstractScrollArea::keyPressEvent(event);
    }
}

bool HeatMapView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) hover(-1, -1);
    return QAbstractScrollArea::viewportEvent(event);
}

QRgb HeatMapView::colorAt(qint64 row, qint64 column, BadValue& bad) const {
    bad = BadValue::None;
    if (m_colors) return m_colors(row, column);
    const double value = m_at(row, column);
    bad = badValueOf(value);
    return bad == BadValue::None ? m_map->at(m_scale.toUnit(value)) : badInk(bad).background;
}

QImage HeatMapView::rendered(const QRect& area) const {
    const qreal ratio = devicePixelRatioF();
    const int width = static_cast<int>(std::ceil(area.width() * ratio));
    const int height = static_cast<int>(std::ceil(area.height() * ratio));
    QImage picture(width, height, QImage::Format_ARGB32_Premultiplied);
    const QPointF from = (QPointF(area.topLeft()) - origin()) * ratio;
    const double cellW = m_zoom * ratio, cellH = cellHeight() * ratio;
    std::vector<qint64> columnOf(static_cast<std::size_t>(width));
    for (int x = 0; x < width; ++x)
        columnOf[static_cast<std::size_t>(x)] =
            std::clamp<qint64>(static_cast<qint64>((from.x() + x + 0.5) / cellW), 0, m_columns - 1);
    std::vector<BadValue> bad(static_cast<std::size_t>(width), BadValue::None);
    bool anyBad = false;
    qint64 lastRow = -1;
    for (int y = 0; y < height; ++y) {
        const qint64 row = std::clamp<qint64>(static_cast<qint64>((from.y() + y + 0.5) / cellH), 0, m_rows - 1);
        auto* line = reinterpret_cast<QRgb*>(picture.scanLine(y));
        if (row == lastRow) {
            std::copy_n(reinterpret_cast<const QRgb*>(picture.constScanLine(y - 1)), width, line);
        } else {
            anyBad = false;
            qint64 lastColumn = -1;
            for (int x = 0; x < width; ++x) {
                const qint64 column = columnOf[static_cast<std::size_t>(x)];
                if (column == lastColumn) {
                    line[x] = line[x - 1];
                    bad[static_cast<std::size_t>(x)] = bad[static_cast<std::size_t>(x - 1)];
                    continue;
                }
                lastColumn = column;
                BadValue& kind = bad[static_cast<std::size_t>(x)];
                line[x] = colorAt(row, column, kind);
                anyBad = anyBad || kind != BadValue::None;
            }
            lastRow = row;
        }
        if (!anyBad) continue;
        for (int x = 0; x < width; ++x) {
            const BadValue kind = bad[static_cast<std::size_t>(x)];
            if (kind == BadValue::None) continue;
            const BadInk ink = badInk(kind);
            line[x] = badPixelIsInk(kind, x + area.x(), y + area.y()) ? ink.ink : ink.background;
        }
    }
    picture.setDevicePixelRatio(ratio);
    return picture;
}

void HeatMapView::paintNumbers(QPainter& painter, const QRect& area) const {
    const QFontMetrics metrics(painter.font());
    if (m_zoom < metrics.horizontalAdvance(QStringLiteral("-0.000e-0")) + 6 || cellHeight() < metrics.height() + 4)
        return;
    const auto [row0, column0] = cellAt(area.topLeft());
    const auto [row1, column1] = cellAt(area.bottomRight());
    painter.setPen(theme::color(theme::ColorRole::CellGrid));
    for (qint64 row = row0; row <= row1; ++row)
        for (qint64 column = column0; column <= column1; ++column) {
            const QRectF cell = cellRect(row, column);
            const double value = valueAt(row, column);
            BadValue bad = BadValue::None;
            const QRgb background = colorAt(row, column, bad);
            const bool isBad = bad != BadValue::None;
            const bool dark = qGray(background) < 140;
            painter.setPen(theme::color(theme::ColorRole::CellGrid));
            painter.drawRect(cell);
            const QString text = numberText(value, 4);
            if (isBad) {
                // The pattern would swallow the word.
                QRectF label(QPointF(), QSizeF(metrics.horizontalAdvance(text) + 6, metrics.height()));
                label.moveCenter(cell.center());
                painter.fillRect(label, QColor(background));
            }
            painter.setPen(isBad || !dark ? theme::color(theme::ColorRole::Text, theme::Scheme::Light)
                                          : theme::color(theme::ColorRole::Text, theme::Scheme::HighContrast));
            painter.drawText(cell, Qt::AlignCenter, text);
        }
}

void HeatMapView::paintMarks(QPainter& painter) const {
    // Large cells show their pattern; a ring would hide their neighbours.
    if (m_marked.empty() || std::min(m_zoom, cellHeight()) >= 10) return;
    constexpr double kRadius = 6.0;
    // Rings that would cover each other are drawn once: at most one in a square of their size.
    const int across = viewport()->width() / static_cast<int>(kRadius) + 1;
    std::vector<bool> taken(static_cast<std::size_t>(across) *
                            (viewport()->height() / static_cast<std::size_t>(kRadius) + 1));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    for (const auto& [row, column] : m_marked) {
        const QPointF at = cellRect(row, column).center();
        if (!QRectF(viewport()->rect()).contains(at)) continue;
        const auto y = static_cast<std::size_t>(at.y() / kRadius), x = static_cast<std::size_t>(at.x() / kRadius);
        const std::size_t slot = y * static_cast<std::size_t>(across) + x;
        if (slot >= taken.size() || taken[slot]) continue;
        taken[slot] = true;
        painter.setPen(QPen(theme::color(theme::ColorRole::MarkInk), 3));
        painter.drawEllipse(at, kRadius, kRadius);
        painter.setPen(QPen(theme::color(theme::ColorRole::NanMark), 1.6));
        painter.drawEllipse(at, kRadius, kRadius);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

/// The tint of each pixel of an area in the overlay's rectangle. Square roots, so that small parts are seen too.
QImage HeatMapView::tinted(const QRect& area) const {
    QImage picture(area.size(), QImage::Format_ARGB32_Premultiplied);
    const QColor color = theme::color(theme::ColorRole::WhyMark);
    qint64 lastRow = -1, lastColumn = -1;
    QRgb last = 0;
    for (int y = 0; y < picture.height(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(picture.scanLine(y));
        for (int x = 0; x < picture.width(); ++x) {
            const auto [row, column] = cellAt(QPointF(area.left() + x + 0.5, area.top() + y + 0.5));
            if (row != lastRow || column != lastColumn) {
                const double part = row < 0 ? 0 : std::clamp(m_overlay->part(row, column), 0.0, 1.0);
                const double alpha = part > 0 ? 0.1 + 0.75 * std::sqrt(part) : 0;
                last = qPremultiply(
                    qRgba(color.red(), color.green(), color.blue(), static_cast<int>(std::lround(alpha * 255))));
                lastRow = row;
                lastColumn = column;
            }
            line[x] = last;
        }
    }
    return picture;
}

void HeatMapView::paintOverlay(QPainter& painter, const QRect& area) const {
    if (!m_overlay) return;
    const FieldOverlay& shown = *m_overlay;
    QPainterPath outside;
    outside.addRect(area);
    const bool isEmpty = shown.rows <= 0 || shown.columns <= 0;
    const QRectF box = isEmpty ? QRectF()
                               : cellRect(shown.row, shown.column)
                                     .united(cellRect(shown.row + shown.rows - 1, shown.column + shown.columns - 1));
    QPainterPath inside;
    if (!isEmpty) inside.addRect(box);
    QColor veil = theme::color(theme::ColorRole::PlotBackground);
    veil.setAlphaF(0.66F);
    painter.fillPath(outside.subtracted(inside), veil);
    if (isEmpty) return;
    const QRect visible = box.toAlignedRect().intersected(area);
    if (shown.part && !visible.isEmpty()) painter.drawImage(visible.topLeft(), tinted(visible));
    // Seen on any picture: a light line beside a dark one.
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme::color(theme::ColorRole::Canvas), 3.5));
    painter.drawRect(box);
    painter.setPen(QPen(theme::color(theme::ColorRole::SelectionOutline), 1.5, Qt::DashLine));
    painter.drawRect(box);
}

void HeatMapView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), theme::color(theme::ColorRole::PlotBackground));
    if (m_rows > 0 && m_columns > 0 && (m_at || m_colors)) {
        const QRectF content(
            origin(), QSizeF(static_cast<double>(m_columns) * m_zoom, static_cast<double>(m_rows) * cellHeight()));
        const QRect area = content.toAlignedRect().intersected(viewport()->rect());
        if (!area.isEmpty()) {
            painter.setClipRect(content);
            painter.drawImage(area.topLeft(), rendered(area));
            paintOverlay(painter, area);
            if (m_at) {
                painter.setFont(theme::Theme::instance().smallFont());
                paintNumbers(painter, area.intersected(content.toRect()));
            }
            painter.setClipping(false);
        }
        paintMarks(painter);
        if (m_cursorRow >= 0) {
            const QRectF cell = cellRect(m_cursorRow, m_cursorColumn);
            const QRectF box = cell.adjusted(-1, -1, 1, 1).united(QRectF(cell.center() - QPointF(4, 4), QSizeF(8, 8)));
            painter.setPen(QPen(theme::color(theme::ColorRole::Canvas), 3));
            painter.drawRect(box);
            painter.setPen(QPen(theme::color(theme::ColorRole::SelectionOutline), 1.5));
            painter.drawRect(box);
        }
    }
    if (hasFocus()) {
        painter.setPen(theme::color(theme::ColorRole::FocusRing));
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

}  // namespace sonde::widgets
