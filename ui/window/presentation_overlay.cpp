#include "ui/window/presentation_overlay.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <utility>

#include "ui/theme/theme.h"

namespace sonde::window {

namespace {

using theme::ColorRole;

constexpr double kSpotMargin = 10, kSpotRadius = 8, kPenWidth = 5, kHaloWidth = 3, kPointerRadius = 13;
constexpr int kSpotVeil = 190;                 // of 255: what is beside the spotlight is still seen
constexpr std::size_t kMaxLinePoints = 20000;  // of one line: nobody draws as long

}  // namespace

PresentationOverlay::PresentationOverlay(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("presentationOverlay"));
    setFocusPolicy(Qt::NoFocus);
    setMouseTracking(true);
    refreshMouse();
}

void PresentationOverlay::setSpotlight(const QRectF& stage, const QRectF& spot) {
    if (stage == m_stage && spot == m_spot) return;
    m_stage = stage;
    m_spot = spot;
    update();
}

void PresentationOverlay::setTool(Tool tool) {
    if (std::exchange(m_tool, tool) == tool) return;
    m_isDrawing = m_isPointing = false;
    refreshMouse();
    update();
}

void PresentationOverlay::setBlack(bool black) {
    if (std::exchange(m_isBlack, black) == black) return;
    refreshMouse();
    update();
}

void PresentationOverlay::setFree(const QRect& free) {
    if (std::exchange(m_free, free) != free) refreshMouse();
}

void PresentationOverlay::setLines(std::vector<Line> lines) {
    m_lines = std::move(lines);
    m_isDrawing = false;
    update();
}

void PresentationOverlay::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    refreshMouse();
}

void PresentationOverlay::refreshMouse() {
    setAttribute(Qt::WA_TransparentForMouseEvents, !m_isBlack && m_tool == Tool::None);
    setCursor(m_isBlack || m_tool == Tool::Pointer ? Qt::BlankCursor
              : m_tool == Tool::Pen                ? Qt::CrossCursor
                                                   : Qt::ArrowCursor);
    if (m_isBlack || m_free.isEmpty()) clearMask();
    else setMask(QRegion(rect()) - m_free);
}

QPointF PresentationOverlay::part(QPointF pixel) const {
    return {std::clamp(pixel.x() / std::max(1, width()), 0.0, 1.0),
            std::clamp(pixel.y() / std::max(1, height()), 0.0, 1.0)};
}

void PresentationOverlay::mousePressEvent(QMouseEvent* event) {
    if (m_isBlack) {
        Q_EMIT blackDismissed();
        return;
    }
    if (m_tool != Tool::Pen || event->button() != Qt::LeftButton) return;
    m_isDrawing = true;
    m_lines.push_back({part(event->position())});
    update();
}

void PresentationOverlay::mouseMoveEvent(QMouseEvent* event) {
    if (m_tool == Tool::Pointer) {
        m_isPointing = true;
        m_at = event->position();
        update();
    }
    if (!m_isDrawing || m_lines.empty() || m_lines.back().size() >= kMaxLinePoints) return;
    m_lines.back().push_back(part(event->position()));
    update();
}

void PresentationOverlay::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && std::exchange(m_isDrawing, false)) Q_EMIT drawn();
}

void PresentationOverlay::leaveEvent(QEvent* event) {
    QWidget::leaveEvent(event);
    if (std::exchange(m_isPointing, false)) update();
}

void PresentationOverlay::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (m_isBlack) {
        painter.fillRect(rect(), theme::color(ColorRole::Canvas, theme::Scheme::HighContrast));
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    paintSpotlight(painter);
    paintLines(painter);
    if (m_isPointing) paintPointer(painter);
}

void PresentationOverlay::paintSpotlight(QPainter& painter) const {
    if (m_spot.isEmpty() || !m_spot.intersects(m_stage)) return;
    const QRectF light = m_spot.adjusted(-kSpotMargin, -kSpotMargin, kSpotMargin, kSpotMargin);
    QPainterPath dark, lit;
    dark.addRect(m_stage);
    lit.addRoundedRect(light, kSpotRadius, kSpotRadius);
    QColor veil = theme::color(ColorRole::Canvas);
    veil.setAlpha(kSpotVeil);
    painter.save();
    painter.setClipRect(m_stage);
    painter.fillPath(dark.subtracted(lit), veil);
    painter.setPen(QPen(theme::color(ColorRole::SelectionOutline), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(light, kSpotRadius, kSpotRadius);
    painter.restore();
}

/// With a line of the background around them they are seen on everything.
void PresentationOverlay::paintLines(QPainter& painter) const {
    painter.setBrush(Qt::NoBrush);
    for (const bool halo : {true, false}) {
        painter.setPen(QPen(theme::color(halo ? ColorRole::Canvas : ColorRole::ErrorMark),
                            halo ? kPenWidth + 2 * kHaloWidth : kPenWidth, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        for (const Line& line : m_lines) {
            QPolygonF points;
            for (const QPointF at : line) points << QPointF(at.x() * width(), at.y() * height());
            if (points.size() == 1) points << points.front();
            painter.drawPolyline(points);
        }
    }
}

void PresentationOverlay::paintPointer(QPainter& painter) const {
    QColor inside = theme::color(ColorRole::ErrorMark);
    painter.setPen(QPen(theme::color(ColorRole::Canvas), kHaloWidth));
    inside.setAlpha(210);
    painter.setBrush(inside);
    painter.drawEllipse(m_at, kPointerRadius, kPointerRadius);
}

}  // namespace sonde::window
