#include "ui/widgets/banner.h"

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/tool_button.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace sonde::widgets {
namespace {

using theme::ColorRole;

struct Look {
    const char* icon;
    ColorRole mark, ground;
    const char* name;
};

Look lookOf(Banner::Severity severity) {
    switch (severity) {
        case Banner::Severity::Success: return {"success", ColorRole::Success, ColorRole::SuccessGround, "Done"};
        case Banner::Severity::Warning: return {"warning", ColorRole::Warning, ColorRole::WarningGround, "Warning"};
        case Banner::Severity::Error: return {"error", ColorRole::Error, ColorRole::ErrorGround, "Error"};
        case Banner::Severity::Info: break;
    }
    return {"info", ColorRole::Info, ColorRole::InfoGround, "Note"};
}

QLabel* messageLabel(QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    return label;
}

}  // namespace

Banner::Banner(QWidget* parent)
    : QFrame(parent),
      m_icon(new QLabel(this)),
      m_text(messageLabel(this)),
      m_hint(messageLabel(this)),
      m_action(new QPushButton(this)),
      m_close(makeToolButton(QStringLiteral("close"), tr("Dismiss (Esc)"), this)) {
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(m_text);
    words->addWidget(m_hint);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(theme::kMedium, theme::kSmall, theme::kSmall, theme::kSmall);
    row->setSpacing(theme::kMedium);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addLayout(words, 1);
    row->addWidget(m_action, 0, Qt::AlignVCenter);
    row->addWidget(m_close, 0, Qt::AlignTop);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    connect(m_close, &QToolButton::clicked, this, &Banner::dismiss);
    connect(m_action, &QPushButton::clicked, this, &Banner::actionTriggered);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &Banner::refresh);
    hide();
}

void Banner::showMessage(Severity severity, const QString& text, const QString& hint, const QString& action) {
    m_severity = severity;
    m_text->setText(text);
    m_hint->setText(hint);
    m_hint->setVisible(!hint.isEmpty());
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    refresh();
    show();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

void Banner::dismiss() {
    if (isHidden()) return;
    hide();
    Q_EMIT dismissed();
}

QString Banner::text() const { return m_text->text(); }
QString Banner::hint() const { return m_hint->text(); }

void Banner::refresh() {
    const Look look = lookOf(m_severity);
    setAccessibleName(QStringLiteral("%1: %2").arg(tr(look.name), m_text->text()));
    setAccessibleDescription(m_hint->text());
    m_icon->setPixmap(theme::iconPixmap(QString::fromLatin1(look.icon), theme::color(look.mark), 20, devicePixelRatioF()));
    QPalette muted = palette();
    muted.setColor(QPalette::WindowText, theme::color(ColorRole::MutedText));
    m_hint->setPalette(muted);
    update();
}

void Banner::paintEvent(QPaintEvent*) {
    const Look look = lookOf(m_severity);
    QPainter painter(this);
    painter.fillRect(rect(), theme::color(look.ground));
    painter.fillRect(QRect(0, 0, 3, height()), theme::color(look.mark));
    painter.setPen(theme::color(ColorRole::Border));
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

void Banner::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        dismiss();
    else
        QFrame::keyPressEvent(event);
}

}  // namespace sonde::widgets
