#include "ui/widgets/marked_picture.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

#include "ui/theme/elided_text.h"
#include "ui/theme/theme.h"

namespace sonde::widgets {

MarkedPicture::MarkedPicture(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Picture"));
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, qOverload<>(&QWidget::update));
}

void MarkedPicture::setPicture(const QImage& picture, QSize size, std::vector<Mark> marks, const QString& description) {
    m_picture = picture;
    m_size = picture.isNull() ? size : picture.size();
    m_marks = std::move(marks);
    if (m_current >= static_cast<int>(m_marks.size())) m_current = -1;
    setAccessibleDescription(description);
    setToolTip(description);
    update();
}

void MarkedPicture::setCurrent(int mark) {
    if (mark == m_current) return;
    m_current = mark;
    update();
}

void MarkedPicture::choose(int mark) {
    if (mark == m_current) return;
    setCurrent(mark);
    Q_EMIT currentChanged(mark);
}

QRectF MarkedPicture::pictureRect() const {
    if (m_size.isEmpty()) return {};
    const QRectF room = QRectF(rect()).adjusted(1, 1, -1, -1);
    const QSizeF size = QSizeF(m_size).scaled(room.size(), Qt::KeepAspectRatio);
    return QRectF(room.center() - QPointF(size.width(), size.height()) / 2, size);
}

QRectF MarkedPicture::rectOf(const Mark& mark) const {
    const QRectF picture = pictureRect();
    return QRectF(picture.left() + mark.place.left() * picture.width(),
                  picture.top() + mark.place.top() * picture.height(), mark.place.width() * picture.width(),
                  mark.place.height() * picture.height());
}

void MarkedPicture::paintMark(QPainter& painter, const Mark& mark, bool isCurrent) const {
    // A dark line around the coloured one: seen on any picture.
    const double width = isCurrent ? 3 : 1.5;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme::color(theme::ColorRole::MarkInk), width + 2));
    painter.drawRect(rectOf(mark));
    painter.setPen(QPen(mark.color, width));
    painter.drawRect(rectOf(mark));
}

MarkedPicture::Label MarkedPicture::labelOf(const Mark& mark, const QFontMetrics& metrics,
                                            const std::vector<Label>& taken) const {
    const QRectF picture = pictureRect(), place = rectOf(mark);
    const double room = picture.width() - 2 * int{theme::kTight};
    if (mark.text.isEmpty() || room < metrics.horizontalAdvance(QStringLiteral("mm\u20260.00"))) return {};
    // Its end is the score.
    Label label{{}, theme::elidedText(mark.text, Qt::ElideMiddle, static_cast<int>(room), metrics)};
    const QSizeF size(metrics.horizontalAdvance(label.text) + 2 * int{theme::kTight}, metrics.height());
    // Above the box if there is room, else inside of it, or below; never beside the picture.
    for (const double top :
         {place.top() - size.height(), place.top(), place.bottom() - size.height(), place.bottom()}) {
        label.place = QRectF(QPointF(place.left(), top), size);
        label.place.moveLeft(std::clamp(label.place.left(), picture.left(), picture.right() - size.width()));
        const bool isInside = label.place.top() >= picture.top() && label.place.bottom() <= picture.bottom();
        const auto covers = [&label](const Label& other) { return other.place.intersects(label.place); };
        if (isInside && std::ranges::none_of(taken, covers)) return label;
    }
    return {};
}

/// Over all boxes, so that no line crosses them. The chosen one and the strongest come first; what has no room, or
/// would hide the picture, is told by the list.
void MarkedPicture::paintLabels(QPainter& painter) const {
    constexpr double kMaxHidden = 0.35;
    std::vector<Label> labels;
    double left = kMaxHidden * pictureRect().width() * pictureRect().height();
    const auto add = [&](const Mark& mark) {
        const Label label = labelOf(mark, painter.fontMetrics(), labels);
        const double area = label.place.width() * label.place.height();
        if (label.text.isEmpty() || (area > left && !labels.empty())) return;
        left -= area;
        labels.push_back(label);
    };
    if (m_current >= 0) add(m_marks[static_cast<std::size_t>(m_current)]);
    for (std::size_t i = 0; i < m_marks.size(); ++i)
        if (static_cast<int>(i) != m_current) add(m_marks[i]);
    for (const Label& label : labels) {
        painter.fillRect(label.place, theme::color(theme::ColorRole::ToolTip));
        painter.setPen(theme::color(theme::ColorRole::ToolTipText));
        painter.drawText(label.place, Qt::AlignCenter, label.text);
    }
}

void MarkedPicture::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QRectF place = pictureRect();
    if (place.isEmpty()) return;
    if (m_picture.isNull()) painter.fillRect(place, theme::color(theme::ColorRole::PlotBackground));
    painter.setRenderHint(QPainter::SmoothPixmapTransform, place.width() < m_picture.width());
    if (!m_picture.isNull()) painter.drawImage(place, m_picture);
    painter.setPen(theme::color(theme::ColorRole::Border));
    painter.drawRect(place);
    painter.setFont(theme::Theme::instance().smallFont());
    painter.save();
    painter.setClipRect(place);
    // The strongest mark comes last, above the others.
    for (int i = static_cast<int>(m_marks.size()) - 1; i >= 0; --i)
        if (i != m_current) paintMark(painter, m_marks[static_cast<std::size_t>(i)], false);
    if (m_current >= 0) paintMark(painter, m_marks[static_cast<std::size_t>(m_current)], true);
    paintLabels(painter);
    painter.restore();
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme::color(theme::ColorRole::FocusRing), 2));
        painter.drawRect(place);
    }
}

/// Of boxes in each other the smallest.
void MarkedPicture::mousePressEvent(QMouseEvent* event) {
    int best = -1;
    double least = 0;
    for (int i = 0; i < static_cast<int>(m_marks.size()); ++i) {
        const QRectF place = rectOf(m_marks[static_cast<std::size_t>(i)]);
        const double area = place.width() * place.height();
        if (place.contains(event->position()) && (best < 0 || area < least)) best = i, least = area;
    }
    choose(best);
}

void MarkedPicture::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(m_marks.size());
    const bool isForward = event->key() == Qt::Key_Right;
    if (count == 0 || (!isForward && event->key() != Qt::Key_Left)) return QWidget::keyPressEvent(event);
    choose(m_current < 0 ? (isForward ? 0 : count - 1) : (m_current + (isForward ? 1 : count - 1)) % count);
}

}  // namespace sonde::widgets
