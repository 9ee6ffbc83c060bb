#include "ui/widgets/tall_area.h"

#include <QEvent>
#include <QLayout>
#include <QResizeEvent>
#include <QScrollBar>
#include <QTimer>

#include <algorithm>
#include <utility>

namespace sonde::widgets {

namespace {

/// Half a row of buttons above what is to be seen looks broken: it is seen whole or not at all, if that costs little.
int withoutCutRow(const QScrollArea& area, const QWidget& part, int scroll, int most) {
    constexpr int kMaxRow = 40;
    most = std::min(most, area.verticalScrollBar()->maximum());
    int above = scroll, below = scroll;
    for (const QWidget* const each : area.widget()->findChildren<QWidget*>()) {
        if (!each->isVisible() || each->height() > kMaxRow || part.isAncestorOf(each)) continue;
        const int from = each->mapTo(area.widget(), QPoint()).y(), to = from + each->height();
        if (from >= scroll || to <= scroll) continue;
        above = std::min(above, from);
        below = std::max(below, to);
    }
    if (below <= most) return below;
    return scroll - above <= kMaxRow ? above : scroll;
}

}  // namespace

TallArea::TallArea(QWidget* content, QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidget(content);  // which makes the content's background opaque
    content->setAutoFillBackground(false);
    viewport()->setAutoFillBackground(false);
}

QSize TallArea::minimumSizeHint() const {
    constexpr int kMinHeight = 120;
    const QSize least = widget()->minimumSizeHint();
    const int width = least.width() + verticalScrollBar()->sizeHint().width();
    if (m_isWhole) return {width, neededHeight(std::max(contentsRect().width(), least.width()))};
    return {width, std::min(least.height(), kMinHeight)};
}

void TallArea::setWhole(bool isWhole) {
    if (std::exchange(m_isWhole, isWhole) != isWhole) updateGeometry();
}

int TallArea::neededHeight(int width) const {
    const QLayout* const layout = widget()->layout();
    return layout->hasHeightForWidth() ? layout->minimumHeightForWidth(width) : layout->minimumSize().height();
}

void TallArea::fit() {
    const int whole = contentsRect().width(), height = contentsRect().height();
    const int width = neededHeight(whole) <= height ? whole : whole - verticalScrollBar()->sizeHint().width();
    widget()->resize(width, std::max(height, neededHeight(width)));
}

void TallArea::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    if (m_isWhole && event->oldSize().width() != event->size().width()) updateGeometry();
    fit();
    if (m_part) QTimer::singleShot(0, this, &TallArea::scrollToPart);
}

void TallArea::keepInView(QWidget* part) {
    m_part = part;
    m_reached = verticalScrollBar()->value();
    QTimer::singleShot(0, this, &TallArea::scrollToPart);  // what it shows is laid out first
}

void TallArea::scrollToPart() {
    if (!m_part || !m_part->isVisible()) return;
    const int top = m_part->mapTo(widget(), QPoint()).y(), bottom = top + m_part->height();
    verticalScrollBar()->setValue(
        withoutCutRow(*this, *m_part, std::clamp(bottom - viewport()->height(), 0, top), top));
    m_reached = verticalScrollBar()->value();
}

bool TallArea::eventFilter(QObject* watched, QEvent* event) {
    const bool done = QScrollArea::eventFilter(watched, event);
    if (watched == widget() && event->type() == QEvent::LayoutRequest) {
        updateGeometry();
        const int before = widget()->height(), value = verticalScrollBar()->value();
        fit();
        if (m_part && widget()->height() != before && value == m_reached)
            QTimer::singleShot(0, this, &TallArea::scrollToPart);
    }
    return done;
}

}  // namespace sonde::widgets
