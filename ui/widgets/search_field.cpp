#include "ui/widgets/search_field.h"

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMetaMethod>
#include <QTimer>
#include <QToolButton>

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/tool_button.h"

namespace sonde::widgets {
namespace {

constexpr int kTypingPauseMs = 120;

}  // namespace

SearchField::SearchField(QWidget* parent)
    : QWidget(parent), m_edit(new QLineEdit(this)), m_counter(new QLabel(this)),
      m_previous(makeToolButton(QStringLiteral("previous"), tr("Previous (Shift+Return)"), this)),
      m_next(makeToolButton(QStringLiteral("next"), tr("Next (Return)"), this)), m_pause(new QTimer(this)) {
    m_edit->setPlaceholderText(tr("Search"));
    m_edit->setAccessibleName(tr("Search"));
    m_edit->setClearButtonEnabled(true);
    m_edit->addAction(theme::icon(QStringLiteral("search"), theme::ColorRole::MutedText), QLineEdit::LeadingPosition);
    m_edit->installEventFilter(this);
    setFocusProxy(m_edit);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme::kTight);
    row->addWidget(m_edit, 1);
    row->addWidget(m_counter);
    row->addWidget(m_previous);
    row->addWidget(m_next);
    m_pause->setSingleShot(true);
    m_pause->setInterval(kTypingPauseMs);
    const auto send = [this] {
        if (m_edit->text() == m_sent) return;
        m_sent = m_edit->text();
        Q_EMIT textChanged(m_sent);
    };
    connect(m_pause, &QTimer::timeout, this, send);
    connect(m_edit, &QLineEdit::textChanged, this, [this, send](const QString& text) {
        if (text.isEmpty()) {
            m_pause->stop();
            send();
        } else {
            m_pause->start();
        }
    });
    connect(m_previous, &QToolButton::clicked, this, &SearchField::previousRequested);
    connect(m_next, &QToolButton::clicked, this, &SearchField::nextRequested);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &SearchField::refresh);
    refresh();
}

QString SearchField::text() const { return m_edit->text(); }

void SearchField::setText(const QString& text) {
    m_edit->setText(text);
    // Whoever sets it knows: no signal, now or after the pause.
    m_pause->stop();
    m_sent = text;
}

void SearchField::setPlaceholderText(const QString& text) {
    m_edit->setPlaceholderText(text);
    m_edit->setAccessibleName(text);
}

void SearchField::setNavigable(bool navigable) {
    m_navigable = navigable;
    refresh();
}

void SearchField::setHits(int current, int total) {
    m_current = current;
    m_total = total;
    refresh();
}

void SearchField::activate() {
    m_edit->setFocus(Qt::ShortcutFocusReason);
    m_edit->selectAll();
}

void SearchField::refresh() {
    m_counter->setVisible(m_total >= 0);
    if (m_total == 0) m_counter->setText(tr("No matches"));
    else if (m_current >= 0) m_counter->setText(tr("%1 of %2").arg(countText(m_current + 1), countText(m_total)));
    else m_counter->setText(tr("%1 matches").arg(countText(m_total)));
    m_edit->setAccessibleDescription(m_total >= 0 ? m_counter->text() : QString());
    QPalette palette = this->palette();
    palette.setColor(QPalette::WindowText,
                     theme::color(m_total == 0 ? theme::ColorRole::Warning : theme::ColorRole::MutedText));
    m_counter->setPalette(palette);
    for (QToolButton* button : {m_previous, m_next}) {
        button->setVisible(m_navigable);
        button->setEnabled(m_total > 0);
    }
}

bool SearchField::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_edit && event->type() == QEvent::KeyPress) {
        auto* key = static_cast<QKeyEvent*>(event);
        const bool backwards = key->modifiers() & Qt::ShiftModifier;
        switch (key->key()) {
            case Qt::Key_Escape:
                if (!m_edit->text().isEmpty()) {
                    m_edit->clear();
                    return true;
                }
                Q_EMIT left();
                // Where nobody waits for it, the key is the dialog's around.
                return isSignalConnected(QMetaMethod::fromSignal(&SearchField::left));
            case Qt::Key_Return:
            case Qt::Key_Enter:
            case Qt::Key_F3:
                if (m_pause->isActive()) {
                    // The hits are of the text as it was: let the search catch up and stay with its first hit.
                    m_pause->stop();
                    m_sent = m_edit->text();
                    Q_EMIT textChanged(m_sent);
                } else if (backwards) {
                    Q_EMIT previousRequested();
                } else {
                    Q_EMIT nextRequested();
                }
                return true;
            default: break;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace sonde::widgets
