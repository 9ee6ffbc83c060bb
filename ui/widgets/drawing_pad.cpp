#include "ui/widgets/drawing_pad.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/theme/theme.h"

namespace sonde::widgets {

namespace {

constexpr std::size_t kMaxUndo = 200;
constexpr double kStep = 0.02, kFineStep = 0.005;  ///< of keys
constexpr double kSmallestMove = 0.004;            ///< points nearer than that are one
constexpr double kSizeStep = 1.25;

QColor grey(double lightness) { return QColor::fromRgbF(lightness, lightness, lightness); }

/// Keys that the pad answers to, where a window may have others of that name.
bool isOwn(int key) {
    switch (key) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_Space:
        case Qt::Key_E:
        case Qt::Key_I:
        case Qt::Key_Plus:
        case Qt::Key_Equal:
        case Qt::Key_Minus:
        case Qt::Key_Delete:
        case Qt::Key_Backspace: return true;
        default: return false;
    }
}

qsizetype pointsOf(const PadDrawing& drawing) {
    qsizetype points = 0;
    for (const PadDrawing::Line& line : drawing.lines) points += 1 + line.points.size();
    return points;
}

}  // namespace

DrawingPad::DrawingPad(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::CrossCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setToolTip(
        tr("Draw with the mouse; the right button erases. Keys: arrows move the pen (Shift: finely), Space puts it "
           "down, E erases, + and - change its size, I inverts, Delete clears"));
    setAccessibleDescription(toolTip());
}

void DrawingPad::setPaper(QSize size) {
    m_paper = size.expandedTo({1, 1});
    update();
}

void DrawingPad::setDrawing(const PadDrawing& drawing) {
    if (drawing == m_drawing) return;
    m_drawing = drawing;
    m_points = pointsOf(drawing);
    m_isDown = false;
    m_undo.clear();
    m_redo.clear();
    update();
    Q_EMIT stateChanged();
}

QRectF DrawingPad::paperRect() const {
    const QRectF room = QRectF(rect()).adjusted(2, 2, -2, -2);
    const QSizeF size = QSizeF(m_paper).scaled(room.size(), Qt::KeepAspectRatio);
    return {room.center() - QPointF(size.width() / 2, size.height() / 2), size};
}

QPointF DrawingPad::paperPoint(QPointF pixel) const {
    const QRectF paper = paperRect();
    return {std::clamp((pixel.x() - paper.x()) / paper.width(), -0.9, 1.9),
            std::clamp((pixel.y() - paper.y()) / paper.height(), -0.9, 1.9)};
}

void DrawingPad::setPenSize(double size) {
    const double within = std::clamp(size, kMinPen, kMaxPen);
    if (within == std::exchange(m_penSize, within)) return;
    update();
    Q_EMIT stateChanged();
}

void DrawingPad::setErasing(bool isErasing) {
    if (isErasing == std::exchange(m_isErasing, isErasing)) return;
    Q_EMIT stateChanged();
}

/// Before the drawing changes.
void DrawingPad::remember() {
    if (m_undo.size() == kMaxUndo) m_undo.erase(m_undo.begin());
    m_undo.push_back(m_drawing);
    m_redo.clear();
}

void DrawingPad::undo() {
    if (m_undo.empty() || m_isDown) return;
    m_redo.push_back(std::exchange(m_drawing, m_undo.back()));
    m_undo.pop_back();
    m_points = pointsOf(m_drawing);
    update();
    Q_EMIT stateChanged();
    Q_EMIT drawn(true);
}

void DrawingPad::redo() {
    if (m_redo.empty() || m_isDown) return;
    m_undo.push_back(std::exchange(m_drawing, m_redo.back()));
    m_redo.pop_back();
    m_points = pointsOf(m_drawing);
    update();
    Q_EMIT stateChanged();
    Q_EMIT drawn(true);
}

void DrawingPad::clear() {
    end();
    if (m_drawing.lines.empty()) return;
    remember();
    m_drawing.lines.clear();
    m_points = 0;
    update();
    Q_EMIT stateChanged();
    Q_EMIT drawn(true);
}

void DrawingPad::invert() {
    end();
    remember();
    m_drawing.isWhiteOnBlack = !m_drawing.isWhiteOnBlack;
    update();
    Q_EMIT stateChanged();
    Q_EMIT drawn(true);
}

void DrawingPad::begin(QPointF at, bool isErasing) {
    if (m_points >= kMaxPoints) return;
    remember();
    m_isDown = true;
    m_drawing.lines.push_back({isErasing, m_penSize, QPolygonF({at})});
    m_points += 2;
    update();
    Q_EMIT stateChanged();
    Q_EMIT drawn(false);
}

void DrawingPad::extend(QPointF to) {
    if (!m_isDown || m_points >= kMaxPoints) return;
    QPolygonF& points = m_drawing.lines.back().points;
    if (QLineF(points.back(), to).length() < kSmallestMove) return;
    points.push_back(to);
    ++m_points;
    if (isFull()) Q_EMIT stateChanged();
    update();
    Q_EMIT drawn(false);
}

void DrawingPad::end() {
    if (!std::exchange(m_isDown, false)) return;
    update();
    Q_EMIT stateChanged();
    Q_EMIT drawn(true);
}

void DrawingPad::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton && event->button() != Qt::RightButton) return;
    end();
    m_showsPlace = false;
    m_place = paperPoint(event->position());
    begin(m_place, m_isErasing || event->button() == Qt::RightButton);
}

void DrawingPad::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & (Qt::LeftButton | Qt::RightButton))) return;
    m_place = paperPoint(event->position());
    extend(m_place);
}

void DrawingPad::mouseReleaseEvent(QMouseEvent* event) {
    if (!(event->buttons() & (Qt::LeftButton | Qt::RightButton))) end();
}

/// Undo and redo are the pad's while it has the focus, not those of the window.
bool DrawingPad::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* const key = static_cast<QKeyEvent*>(event);
        const bool isPlain = !(key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier));
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo) || (isPlain && isOwn(key->key()))) {
            event->accept();
            return true;
        }
    }
    return QWidget::event(event);
}

bool DrawingPad::moveByKey(int key, bool isFine) {
    const double step = isFine ? kFineStep : kStep;
    QPointF to = m_place;
    if (key == Qt::Key_Left) to.rx() -= step;
    else if (key == Qt::Key_Right) to.rx() += step;
    else if (key == Qt::Key_Up) to.ry() -= step;
    else if (key == Qt::Key_Down) to.ry() += step;
    else return false;
    m_place = {std::clamp(to.x(), 0.0, 1.0), std::clamp(to.y(), 0.0, 1.0)};
    m_showsPlace = true;
    extend(m_place);
    update();
    return true;
}

void DrawingPad::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Undo)) return undo();
    if (event->matches(QKeySequence::Redo)) return redo();
    if (moveByKey(event->key(), event->modifiers() & Qt::ShiftModifier)) return;
    switch (event->key()) {
        case Qt::Key_Space:
            m_showsPlace = true;
            if (event->isAutoRepeat()) return;
            m_isDown ? end() : begin(m_place, m_isErasing);
            return;
        case Qt::Key_E: return setErasing(!m_isErasing);
        case Qt::Key_I: return invert();
        case Qt::Key_Plus:
        case Qt::Key_Equal: return setPenSize(m_penSize * kSizeStep);
        case Qt::Key_Minus: return setPenSize(m_penSize / kSizeStep);
        case Qt::Key_Delete:
        case Qt::Key_Backspace: return clear();
        default: QWidget::keyPressEvent(event);
    }
}

void DrawingPad::focusOutEvent(QFocusEvent* event) {
    end();
    m_showsPlace = false;
    update();
    QWidget::focusOutEvent(event);
}

void DrawingPad::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF paper = paperRect();
    const double unit = std::min(paper.width(), paper.height());
    const QColor pen = grey(m_drawing.isWhiteOnBlack ? 1 : 0), ground = grey(m_drawing.isWhiteOnBlack ? 0 : 1);
    painter.fillRect(paper, ground);
    painter.save();
    painter.setClipRect(paper);
    for (const PadDrawing::Line& line : m_drawing.lines) {
        QPolygonF points;
        points.reserve(line.points.size() + 1);
        for (const QPointF& at : line.points)
            points << QPointF(paper.x() + at.x() * paper.width(), paper.y() + at.y() * paper.height());
        if (points.size() == 1) points << points.front() + QPointF(0.01, 0);
        painter.setPen(
            QPen(line.isEraser ? ground : pen, line.size * unit, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawPolyline(points);
    }
    painter.restore();
    if (m_showsPlace && hasFocus()) {
        const QPointF at(paper.x() + m_place.x() * paper.width(), paper.y() + m_place.y() * paper.height());
        const double radius = std::max(3.0, m_penSize * unit / 2);
        painter.setPen(QPen(theme::color(theme::ColorRole::Accent), m_isDown ? 3 : 1.5));
        painter.drawEllipse(at, radius, radius);
    }
    painter.setPen(
        QPen(theme::color(hasFocus() ? theme::ColorRole::Accent : theme::ColorRole::StrongBorder), hasFocus() ? 2 : 1));
    painter.drawRect(paper);
}

}  // namespace sonde::widgets
