#include "ui/widgets/empty_state.h"

#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::widgets {

namespace {

int widestWord(const QLabel& label) {
    int widest = 0;
    for (const QString& word : label.text().split(QLatin1Char(' '), Qt::SkipEmptyParts))
        widest = std::max(widest, QFontMetrics(label.font()).horizontalAdvance(word));
    return widest;
}

}  // namespace

EmptyState::EmptyState(const QString& icon, const QString& title, const QString& text, const QString& action,
                       QWidget* parent)
    : QWidget(parent), m_icon(new QLabel(this)), m_title(new QLabel(this)), m_text(new QLabel(this)),
      m_action(new QPushButton(this)) {
    for (QLabel* label : {m_icon, m_title, m_text}) label->setAlignment(Qt::AlignCenter);
    for (QLabel* label : {m_title, m_text}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setMinimumWidth(1);  // a long word must not widen the window
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kLarge, theme::kLarge, theme::kLarge, theme::kLarge);
    column->setSpacing(theme::kSmall);
    column->addStretch(1);
    column->addWidget(m_icon);
    column->addWidget(m_title);
    column->addWidget(m_text);
    column->addSpacing(theme::kTight);
    column->addWidget(m_action, 0, Qt::AlignCenter);
    column->addStretch(1);
    connect(m_action, &QPushButton::clicked, this, &EmptyState::actionTriggered);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &EmptyState::refresh);
    setContent(icon, title, text, action);
}

void EmptyState::setContent(const QString& icon, const QString& title, const QString& text, const QString& action) {
    m_iconName = icon;
    m_title->setText(title);
    m_text->setText(text);
    m_text->setVisible(!text.isEmpty());
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    setAccessibleName(title);
    setAccessibleDescription(text);
    refresh();
    arrange();
}

/// A line breaks between words only, so a narrow panel has less at its sides.
int EmptyState::sideFor(int width) const {
    return std::clamp((width - m_widestWord) / 2, 0, static_cast<int>(theme::kLarge));
}

int EmptyState::heightWithoutIcon(int width) const {
    const int inner = std::max(1, width - 2 * sideFor(width));
    int height = 2 * theme::kSmall + m_title->heightForWidth(inner);
    if (!m_text->isHidden()) height += theme::kSmall + m_text->heightForWidth(inner);
    if (!m_action->isHidden()) height += theme::kSmall + theme::kTight + m_action->sizeHint().height();
    return height;
}

QSize EmptyState::minimumSizeHint() const {
    return {QWidget::minimumSizeHint().width(), heightWithoutIcon(std::max(width(), 200))};
}

void EmptyState::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void EmptyState::arrange() {
    const bool roomy = height() >= heightWithoutIcon(width()) + 2 * theme::kLarge + theme::kLargeIconSize;
    m_icon->setVisible(roomy);
    const int edge = roomy ? theme::kLarge : theme::kSmall;
    const int side = sideFor(width());
    layout()->setContentsMargins(side, edge, side, edge);
}

void EmptyState::refresh() {
    const theme::Theme& theme = theme::Theme::instance();
    m_icon->setPixmap(theme::iconPixmap(m_iconName, theme::color(theme::ColorRole::StrongBorder), theme::kLargeIconSize,
                                        devicePixelRatioF()));
    m_title->setFont(theme.titleFont());
    QPalette muted = palette();
    muted.setColor(QPalette::WindowText, theme::color(theme::ColorRole::MutedText));
    m_text->setPalette(muted);
    measureWords();
}

/// A layout asks for sizes many times while a window is built: words are measured when they or their font change.
void EmptyState::measureWords() {
    m_widestWord = std::max(widestWord(*m_title), m_text->isHidden() ? 0 : widestWord(*m_text));
}

void EmptyState::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    measureWords();
    updateGeometry();
}

}  // namespace sonde::widgets
