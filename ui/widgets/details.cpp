#include "ui/widgets/details.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/number_text.h"

namespace sonde::widgets {

CollapsibleSection::CollapsibleSection(const QString& title, QWidget* parent)
    : QWidget(parent), m_header(new QToolButton(this)), m_layout(new QVBoxLayout(this)), m_title(title) {
    m_header->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_header->setAutoRaise(true);
    m_header->setIconSize({14, 14});
    m_header->setFocusPolicy(Qt::StrongFocus);
    m_header->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_header->installEventFilter(this);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(theme::kTight);
    m_layout->addWidget(m_header);
    connect(m_header, &QToolButton::clicked, this, [this] { setExpanded(!m_expanded); });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &CollapsibleSection::refresh);
    refresh();
}

void CollapsibleSection::setTitle(const QString& title) {
    m_title = title;
    refresh();
}

void CollapsibleSection::setCount(int count) {
    m_count = count;
    refresh();
}

void CollapsibleSection::setContent(QWidget* content) {
    if (m_content) m_content->deleteLater();
    m_content = content;
    if (!content) return;
    m_layout->addWidget(content);
    content->setVisible(m_expanded);
}

void CollapsibleSection::setExpanded(bool expanded) {
    if (expanded == m_expanded) return;
    m_expanded = expanded;
    if (m_content) m_content->setVisible(expanded);
    refresh();
    Q_EMIT expandedChanged(expanded);
}

void CollapsibleSection::refresh() {
    QFont font = theme::Theme::instance().uiFont();
    font.setWeight(QFont::DemiBold);
    m_header->setFont(font);
    m_header->setText(m_count < 0 ? m_title : QStringLiteral("%1  %2").arg(m_title, countText(m_count)));
    m_header->setArrowType(m_expanded ? Qt::DownArrow : Qt::RightArrow);
    m_header->setAccessibleName(m_title);
    m_header->setAccessibleDescription(m_expanded ? tr("expanded") : tr("collapsed"));
}

bool CollapsibleSection::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_header && event->type() == QEvent::KeyPress) {
        switch (static_cast<QKeyEvent*>(event)->key()) {
            case Qt::Key_Left: setExpanded(false); return true;
            case Qt::Key_Right: setExpanded(true); return true;
            case Qt::Key_Return:
            case Qt::Key_Enter: setExpanded(!m_expanded); return true;
            default: break;
        }
    }
    return QWidget::eventFilter(watched, event);
}

KeyValueGrid::KeyValueGrid(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
    m_grid->setContentsMargins(theme::kSmall, 0, theme::kSmall, theme::kTight);
    m_grid->setHorizontalSpacing(theme::kMedium);
    m_grid->setVerticalSpacing(theme::kTight);
    m_grid->setColumnStretch(1, 1);
    m_grid->setColumnMinimumWidth(0, 88);
}

void KeyValueGrid::clear() {
    while (QLayoutItem* item = m_grid->takeAt(0)) {
        if (QWidget* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        }
        delete item;
    }
    m_lines.clear();
    m_rows = 0;
}

void KeyValueGrid::setKeyWidth(int pixels) { m_grid->setColumnMinimumWidth(0, pixels); }

void KeyValueGrid::addKey(const QString& key) {
    auto* label = new ElidedLabel(key, this);
    label->setElideMode(Qt::ElideRight);
    label->setColorRole(theme::ColorRole::MutedText);
    label->setMaximumWidth(160);
    m_grid->addWidget(label, m_rows, 0, Qt::AlignTop);
}

void KeyValueGrid::addRow(const QString& key, const QString& value, bool monospaced) {
    addKey(key);
    auto* label = new QLabel(this);
    label->setTextFormat(Qt::PlainText);
    label->setText(value);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setFocusPolicy(Qt::ClickFocus);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    label->setAlignment(Qt::AlignTop | Qt::AlignLeft);  // in line with its key where the row is higher than the text
    label->setAccessibleName(QStringLiteral("%1: %2").arg(key, value));
    if (monospaced) label->setFont(theme::Theme::instance().monoFont());
    m_grid->addWidget(label, m_rows++, 1);
    m_lines << key + QLatin1Char('\t') + value;
}

void KeyValueGrid::addLink(const QString& key, const QString& text, const QVariant& target, const QString& note) {
    addKey(key);
    auto* link = new LinkLabel(text, target, this);
    connect(link, &LinkLabel::activated, this, &KeyValueGrid::linkActivated);
    if (note.isEmpty()) {
        m_grid->addWidget(link, m_rows, 1);
    } else {
        auto* row = new QWidget(this);
        auto* layout = new QHBoxLayout(row);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(theme::kSmall);
        auto* muted = new ElidedLabel(note, row);
        muted->setColorRole(theme::ColorRole::MutedText);
        layout->addWidget(link);
        layout->addWidget(muted, 1);
        m_grid->addWidget(row, m_rows, 1);
    }
    ++m_rows;
    m_lines << key + QLatin1Char('\t') + text + (note.isEmpty() ? QString() : QLatin1Char(' ') + note);
}

void KeyValueGrid::addWidget(const QString& key, QWidget* value) {
    addKey(key);
    m_grid->addWidget(value, m_rows++, 1);
    m_lines << key;
}

QString KeyValueGrid::text() const { return m_lines.join(QLatin1Char('\n')); }

}  // namespace sonde::widgets
