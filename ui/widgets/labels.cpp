#include "ui/widgets/labels.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QVariant>

#include "ui/theme/elided_text.h"
#include "ui/theme/theme.h"

namespace sonde::widgets {

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setText(text);
}

void ElidedLabel::setText(const QString& text) {
    // One line is one line, whatever a name from a file holds.
    m_text = text;
    for (QChar& c : m_text)
        if (c == QLatin1Char('\n') || c == QLatin1Char('\r') || c == QChar(QChar::LineSeparator) ||
            c == QChar(QChar::ParagraphSeparator))
            c = QLatin1Char(' ');
    setAccessibleName(m_text);
    updateGeometry();
    update();
}

void ElidedLabel::setElideMode(Qt::TextElideMode mode) {
    m_mode = mode;
    update();
}

void ElidedLabel::setColorRole(theme::ColorRole role) {
    m_role = role;
    update();
}

bool ElidedLabel::isElided() const { return fontMetrics().horizontalAdvance(m_text) > contentsRect().width(); }

QSize ElidedLabel::sizeHint() const {
    const QMargins margins = contentsMargins();
    return {std::min(fontMetrics().horizontalAdvance(m_text), 4000) + 1 + margins.left() + margins.right(),
            fontMetrics().height() + 2 + margins.top() + margins.bottom()};
}

QSize ElidedLabel::minimumSizeHint() const {
    const int sides = contentsMargins().left() + contentsMargins().right();
    return {std::min(sizeHint().width(), fontMetrics().horizontalAdvance(QStringLiteral("mmm…")) + sides),
            sizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QFont font = this->font();
    font.setUnderline(underlined());
    painter.setFont(font);
    painter.setPen(isEnabled() ? theme::color(m_role) : theme::color(theme::ColorRole::DisabledText));
    const QRect inside = contentsRect();
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                     theme::elidedText(m_text, m_mode, inside.width(), fontMetrics()));
}

bool ElidedLabel::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && toolTip().isEmpty()) {
        if (isElided()) QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), m_text.toHtmlEscaped(), this);
        else QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

void ElidedLabel::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    menu.addAction(tr("&Copy"), [this] { QGuiApplication::clipboard()->setText(m_text); });
    menu.exec(event->globalPos());
}

LinkLabel::LinkLabel(const QString& text, const QVariant& target, QWidget* parent)
    : ElidedLabel(text, parent), m_target(target) {
    setColorRole(theme::ColorRole::Link);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
}

void LinkLabel::mousePressEvent(QMouseEvent* event) { m_pressed = event->button() == Qt::LeftButton; }

void LinkLabel::mouseReleaseEvent(QMouseEvent* event) {
    const bool hit = m_pressed && event->button() == Qt::LeftButton && rect().contains(event->pos());
    m_pressed = false;
    if (hit) Q_EMIT activated(m_target);
}

void LinkLabel::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space)
        Q_EMIT activated(m_target);
    else ElidedLabel::keyPressEvent(event);
}

void LinkLabel::paintEvent(QPaintEvent* event) {
    ElidedLabel::paintEvent(event);
    if (!hasFocus()) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme::color(theme::ColorRole::FocusRing));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
}

void LinkLabel::enterEvent(QEnterEvent* event) {
    m_hovered = true;
    update();
    ElidedLabel::enterEvent(event);
}

void LinkLabel::leaveEvent(QEvent* event) {
    m_hovered = false;
    update();
    ElidedLabel::leaveEvent(event);
}

}  // namespace sonde::widgets
