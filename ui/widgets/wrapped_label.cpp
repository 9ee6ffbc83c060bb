#include "ui/widgets/wrapped_label.h"

#include <QStringList>

#include "ui/theme/elided_text.h"

namespace sonde::widgets {

WrappedLabel::WrappedLabel(QWidget* parent) : QLabel(parent) {
    setTextFormat(Qt::PlainText);
    setWordWrap(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void WrappedLabel::setWholeText(const QString& text) {
    if (m_whole == text) return;
    m_whole = text;
    setAccessibleName(text);
    fit();
}

void WrappedLabel::fit() {
    const int room = contentsRect().width();
    QStringList words = m_whole.split(u' ');
    for (QString& word : words) word = theme::elidedText(word, Qt::ElideMiddle, room, fontMetrics());
    const QString shown = words.join(u' ');
    if (shown != text()) setText(shown);
    setToolTip(shown == m_whole ? QString() : m_whole);
}

void WrappedLabel::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    fit();
}

}  // namespace sonde::widgets
