#include "ui/widgets/capped_area.h"

#include <QLabel>
#include <QScrollBar>

#include <algorithm>
#include <utility>

namespace sonde::widgets {

CappedArea::CappedArea(QLabel* text, QWidget* parent) : QScrollArea(parent), m_text(text) {
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setWidget(text);  // which makes its background opaque
    text->setAutoFillBackground(false);
    viewport()->setAutoFillBackground(false);
}

void CappedArea::setMaxTextHeight(int height) {
    if (std::exchange(m_maxHeight, height) != height) refit();
}

void CappedArea::refit() {
    verticalScrollBar()->setValue(0);
    updateGeometry();
    fit();
}

int CappedArea::textHeight(int width) const {
    return m_text->hasHeightForWidth() ? m_text->heightForWidth(width) : m_text->sizeHint().height();
}

int CappedArea::heightForWidth(int width) const { return std::min(textHeight(width), m_maxHeight); }

void CappedArea::fit() {
    const int whole = width();
    const bool isHigher = textHeight(whole) > height();
    const int room = isHigher ? whole - verticalScrollBar()->sizeHint().width() : whole;
    m_text->resize(room, std::max(textHeight(room), height()));
    // What does not scroll is nothing to stop at.
    setFocusPolicy(isHigher ? Qt::StrongFocus : Qt::NoFocus);
}

void CappedArea::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    fit();
}

}  // namespace sonde::widgets
