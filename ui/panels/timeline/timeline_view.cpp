#include "ui/panels/timeline/timeline_view.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

#include "ui/context/count_text.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

using session::debug::Timeline;

namespace {

/// Of the horizontal scroll bar, for the whole run.
constexpr int kBarSteps = 1 << 20;
constexpr double kZoomStep = 1.5;
/// A step is never wider than the view, and the view never shows less than this.
constexpr double kMinUnits = 0.5, kMinNs = 100;

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Timeline"));
    viewport()->setMouseTracking(true);
    viewport()->setCursor(Qt::ArrowCursor);
    setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    m_ask.setSingleShot(true);
    m_ask.setInterval(0);
    connect(&m_ask, &QTimer::timeout, this, [this] {
        if (const auto item = std::exchange(m_asked, std::nullopt)) Q_EMIT goToRequested(*item);
    });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] {
        measure();
        viewport()->update();
    });
    measure();
}

// --- geometry -------------------------------------------------------------------------------------------------------

void TimelineView::measure() {
    const QFontMetrics metrics(theme::Theme::instance().smallFont());
    const int line = metrics.height();
    m_window.size = viewport()->size();
    // Where there is little room, bars matter more than marks.
    const bool isLow = m_window.size.height() < 4 * line + 12;
    m_window.rulerHeight = line + (isLow ? 2 : 8);
    m_window.marksHeight = isLow ? 0 : 18;
    m_window.rowHeight = line + (isLow ? 2 : 6);
    if (m_isFitted) fit();
    refreshScrollBars();
}

/// In units: the run so far, or, of a run that is not done, as much as it is going to have.
double TimelineView::lengthShown() const {
    if (isEmpty()) return 1;
    const double length = m_scene.timeline->length(m_window.scale);
    const bool isKnown = m_scene.isComplete || m_window.scale == TimelineScale::Time;
    return std::max(isKnown ? length : std::max(length, m_scene.expected), 1.0);
}

void TimelineView::fit() {
    m_isFitted = true;
    setRange(0, lengthShown() / std::max(1, m_window.size.width() - 2));
}

void TimelineView::setRange(double from, double perPixel) {
    const double width = std::max(1, m_window.size.width() - 2);
    const double minimum = (m_window.scale == TimelineScale::Uniform ? kMinUnits : kMinNs) / width;
    const double maximum = lengthShown() / width;
    m_window.perPixel = std::clamp(perPixel, std::min(minimum, maximum), maximum);
    m_window.from = std::clamp(from, 0.0, std::max(0.0, lengthShown() - m_window.perPixel * width));
    refreshScrollBars();
    viewport()->update();
}

void TimelineView::zoomAbout(double factor, double x) {
    if (isEmpty()) return;
    const double position = m_window.positionOf(x);
    const double width = std::max(1, m_window.size.width() - 2);
    const double perPixel = std::min(m_window.perPixel / factor, lengthShown() / width);
    m_isFitted = perPixel * width >= lengthShown();
    setRange(position - x * perPixel, perPixel);
}

void TimelineView::zoomTo(ItemId item) {
    if (isEmpty() || item >= m_scene.timeline->size()) return;
    const double begin = m_scene.timeline->begin(item, m_window.scale);
    const double length = std::max(m_scene.timeline->end(item, m_window.scale) - begin, 1e-9);
    m_isFitted = false;
    setRange(begin - length / 40, length * 1.05 / std::max(1, m_window.size.width()));
}

void TimelineView::refreshScrollBars() {
    m_isSettingBars = true;
    const double length = lengthShown(), shown = m_window.perPixel * std::max(1, m_window.size.width() - 2);
    const auto page = static_cast<int>(std::min(1.0, shown / length) * kBarSteps);
    horizontalScrollBar()->setRange(0, kBarSteps - page);
    horizontalScrollBar()->setPageStep(std::max(1, page));
    horizontalScrollBar()->setSingleStep(std::max(1, page / 10));
    horizontalScrollBar()->setValue(static_cast<int>(m_window.from / length * kBarSteps));
    const int rows = isEmpty() ? 0 : static_cast<int>(m_scene.timeline->rowCount());
    const int fitting = std::max(1, (m_window.size.height() - m_window.rowsTop()) / std::max(1, m_window.rowHeight));
    verticalScrollBar()->setRange(0, std::max(0, rows - fitting));
    verticalScrollBar()->setPageStep(fitting);
    m_window.firstRow = verticalScrollBar()->value();
    m_isSettingBars = false;
}

void TimelineView::scrollContentsBy(int, int) {
    if (m_isSettingBars) return;
    m_window.firstRow = verticalScrollBar()->value();
    const double from = static_cast<double>(horizontalScrollBar()->value()) / kBarSteps * lengthShown();
    // The bar's steps may be coarser than where the view is.
    if (std::abs(from - m_window.from) > 1.5 * lengthShown() / kBarSteps) setRange(from, m_window.perPixel);
    viewport()->update();
}

QRectF TimelineView::rectOf(ItemId item) const {
    if (isEmpty() || item >= m_scene.timeline->size()) return {};
    const Timeline& timeline = *m_scene.timeline;
    return m_window.rectOf(timeline[item].depth, timeline.begin(item, m_window.scale),
                           timeline.end(item, m_window.scale));
}

ItemId TimelineView::itemAt(QPointF pixel) const {
    if (isEmpty()) return kNoItem;
    const double position = m_window.positionOf(pixel.x());
    const int row = m_window.rowAt(pixel.y());
    if (row < 0) return m_scene.timeline->itemAt(position, m_window.scale);
    return m_scene.timeline->itemAt(position, static_cast<std::size_t>(row), m_window.scale);
}

double TimelineView::placeX() const {
    if (isEmpty()) return 0;
    const double at = m_scene.isEnd                  ? m_scene.timeline->length(m_window.scale)
                      : m_scene.current() == kNoItem ? 0
                                                     : m_scene.timeline->begin(m_scene.current(), m_window.scale);
    const double x = m_window.xOf(at);
    return x >= 0 && x <= m_window.size.width() ? x : m_window.size.width() / 2.0;
}

void TimelineView::ensureVisible(ItemId item) {
    if (isEmpty() || item >= m_scene.timeline->size()) return;
    const double x = m_window.xOf(m_scene.timeline->begin(item, m_window.scale)), width = m_window.size.width();
    if (x < 0 || x > width - 8) setRange(m_window.from + (x - width / 4) * m_window.perPixel, m_window.perPixel);
    const int row = m_scene.timeline->operator[](item).depth;
    const int fitting = verticalScrollBar()->pageStep();
    if (row < m_window.firstRow) verticalScrollBar()->setValue(row);
    else if (row >= m_window.firstRow + fitting) verticalScrollBar()->setValue(row - fitting + 1);
}

// --- what is shown --------------------------------------------------------------------------------------------------

void TimelineView::follow(double lengthBefore, ItemId placeBefore) {
    if (isEmpty()) m_isFitted = true;
    if (m_isFitted) fit();
    else if (lengthShown() != lengthBefore) setRange(m_window.from, m_window.perPixel);
    refreshScrollBars();
    if (!m_isDragging && m_scene.current() != placeBefore) ensureVisible(m_scene.current());
    viewport()->update();
    announce();
}

void TimelineView::setScale(TimelineScale scale) {
    if (scale == m_window.scale) return;
    m_window.scale = scale;
    fit();
    viewport()->update();
}

QString TimelineView::placeText() const {
    if (isEmpty()) return tr("No run is debugged");
    const QString steps = context::countedText(m_scene.timeline->size(), tr("1 step"), tr("%1 steps"));
    if (m_scene.isEnd) return tr("After the end, %1").arg(steps);
    if (m_scene.current() == kNoItem) return tr("Before the start");
    return tr("%1, of %2").arg(itemFacts(m_scene, m_scene.current()).replace(u'\n', QStringLiteral(", ")), steps);
}

void TimelineView::announce() {
    if (m_announced == m_scene.current() && !m_scene.isEnd && accessibleDescription() != QString()) return;
    m_announced = m_scene.current();
    setAccessibleDescription(placeText());
    if (!hasFocus()) return;
    QAccessibleValueChangeEvent event(this, m_scene.current() == kNoItem ? QVariant() : QVariant(m_scene.current()));
    QAccessible::updateAccessibility(&event);
}

void TimelineView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.setFont(theme::Theme::instance().smallFont());
    if (isEmpty() || !m_scene.graph) {
        painter.fillRect(viewport()->rect(), theme::color(theme::ColorRole::PlotBackground));
        painter.setPen(theme::color(theme::ColorRole::PlotLabel));
        painter.drawText(viewport()->rect(), Qt::AlignCenter, tr("Step through a run to see it here"));
        m_painted = {};
        return;
    }
    m_painted = paintTimeline(painter, m_scene, m_window, hasFocus());
}

void TimelineView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    measure();
}

void TimelineView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) measure();
}

void TimelineView::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}
void TimelineView::focusOutEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

// --- mouse ----------------------------------------------------------------------------------------------------------

/// Shown at once, told when the event loop comes to it: of quick changes only the last.
void TimelineView::ask(ItemId item) {
    if (item == kNoItem) return;
    m_asked = item;
    m_ask.start();
    if (item >= m_scene.timeline->size()) return;
    m_scene.place = item;
    m_scene.isEnd = false;
    if (!m_isDragging) ensureVisible(item);
    viewport()->update();
    announce();
}

void TimelineView::goTo(int item) {
    if (!isEmpty() && item >= 0 && static_cast<std::size_t>(item) < m_scene.timeline->size())
        ask(static_cast<ItemId>(item));
}

void TimelineView::askAt(QPointF pixel) {
    if (isEmpty()) return;
    const Timeline& timeline = *m_scene.timeline;
    const double length = timeline.length(m_window.scale);
    const double position = std::clamp(m_window.positionOf(pixel.x()), 0.0, std::max(0.0, length * (1 - 1e-12)));
    ItemId item =
        m_dragRow < 0 ? kNoItem : timeline.itemAt(position, static_cast<std::size_t>(m_dragRow), m_window.scale);
    if (item == kNoItem) item = timeline.itemAt(position, m_window.scale);
    if (item == kNoItem) item = static_cast<ItemId>(timeline.size() - 1);  // nothing took any time
    if (item != m_scene.current() || m_scene.isEnd) ask(item);
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || isEmpty()) return QAbstractScrollArea::mousePressEvent(event);
    m_isDragging = true;
    m_dragRow = m_window.rowAt(event->position().y());
    askAt(event->position());
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    if (m_isDragging) askAt(event->position());
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) m_isDragging = false;
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const ItemId item = itemAt(event->position());
    if (item == kNoItem) fit();
    else zoomTo(item);
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    const bool zooms = m_wheelZooms != bool(event->modifiers() & Qt::ControlModifier);
    const bool isSideways = event->angleDelta().y() == 0;
    const double delta = event->pixelDelta().isNull()
                             ? (isSideways ? event->angleDelta().x() : event->angleDelta().y())
                             : 2.0 * (isSideways ? event->pixelDelta().x() : event->pixelDelta().y());
    event->accept();
    if (zooms && !isSideways)
        return zoomAbout(std::pow(1.0018, std::clamp(delta, -480.0, 480.0)), event->position().x());
    if (m_isFitted) return;
    setRange(m_window.from - delta / 2 * m_window.perPixel, m_window.perPixel);
}

bool TimelineView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const ItemId item = itemAt(help->pos());
        if (item == kNoItem) QToolTip::hideText();
        else QToolTip::showText(help->globalPos(), itemFacts(m_scene, item), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

// --- keys -----------------------------------------------------------------------------------------------------------

/// To what comes after the current item and all that is inside of it.
void TimelineView::stepRight() {
    const Timeline& timeline = *m_scene.timeline;
    if (m_scene.isEnd) return;
    const ItemId here = m_scene.current();
    const ItemId next = here == kNoItem ? 0 : timeline.endOf(here);
    if (next < timeline.size()) ask(next);
    else if (!m_scene.isComplete) Q_EMIT stepRequested();
}

/// To what comes before the current item at its level, or else around it.
void TimelineView::stepLeft() {
    const Timeline& timeline = *m_scene.timeline;
    const ItemId here = m_scene.isEnd ? static_cast<ItemId>(timeline.size()) : m_scene.current();
    if (here == kNoItem || here == 0) return;
    const std::uint16_t depth = m_scene.isEnd ? 0 : timeline[here].depth;
    ItemId before = here - 1;
    while (timeline[before].depth > depth) before = timeline[before].parent;
    ask(before);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    if (isEmpty() || (event->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier)))
        return QAbstractScrollArea::keyPressEvent(event);
    const Timeline& timeline = *m_scene.timeline;
    const ItemId here = m_scene.current();
    switch (event->key()) {
        case Qt::Key_Right: return stepRight();
        case Qt::Key_Left: return stepLeft();
        case Qt::Key_Up:
            if (here != kNoItem && timeline[here].parent != kNoItem) ask(timeline[here].parent);
            return;
        case Qt::Key_Down:
            if (here != kNoItem && here + 1 < timeline.size() && timeline[here + 1].parent == here) ask(here + 1);
            return;
        case Qt::Key_Home: return ask(0);
        case Qt::Key_End: return ask(static_cast<ItemId>(timeline.size() - 1));
        case Qt::Key_Space: return fit();
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (here != kNoItem) Q_EMIT selectRequested(here);
            return;
        default: break;
    }
    if (event->text() == u"+" || event->text() == u"=") return zoom(kZoomStep);
    if (event->text() == u"-") return zoom(1 / kZoomStep);
    QAbstractScrollArea::keyPressEvent(event);
}

}  // namespace sonde::panels
