#include "ui/widgets/banner.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTextLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <utility>

#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/tool_button.h"

namespace sonde::widgets {
namespace {

using theme::ColorRole;

struct Look {
    const char* icon;
    ColorRole mark, background;
    const char* name;
};

Look lookOf(Banner::Severity severity) {
    switch (severity) {
        case Banner::Severity::Success: return {"success", ColorRole::Success, ColorRole::SuccessBackground, "Done"};
        case Banner::Severity::Warning: return {"warning", ColorRole::Warning, ColorRole::WarningBackground, "Warning"};
        case Banner::Severity::Error: return {"error", ColorRole::Error, ColorRole::ErrorBackground, "Error"};
        case Banner::Severity::Info: break;
    }
    return {"info", ColorRole::Info, ColorRole::InfoBackground, "Note"};
}

constexpr int kMaxLines = 3;
/// Of what was refused the end counts: which dimension, which number. An error that has so many lines has them all.
constexpr int kWholeLinesOfError = 6;
/// What must be read before a button is pressed: this many lines are room for every question in the smallest window.
constexpr int kMaxLinesOfQuestion = 12;

/// `text` in lines of `width` pixels, so many at most: what is left ends the last one, shortened with "…". Names longer
/// than a line are broken.
QString inLines(const QString& text, const QFont& font, int width, int maxLines) {
    constexpr qsizetype kMaxSigns = 4000;  // more than three lines of any screen; a name in a file may have any length
    QString start = text.left(kMaxSigns);
    if (start.size() < text.size()) start += QChar(0x2026);
    start.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    QTextLayout layout(start, font);
    layout.setTextOption(option);
    QStringList lines;
    qsizetype lastStart = 0, used = 0;
    layout.beginLayout();
    for (QTextLine line; lines.size() < maxLines && (line = layout.createLine()).isValid();) {
        line.setLineWidth(std::max(1, width));
        lastStart = line.textStart();
        used = lastStart + line.textLength();
        lines += start.mid(lastStart, line.textLength()).trimmed();
    }
    layout.endLayout();
    if (used < start.size()) {
        const QString rest = start.mid(lastStart).replace(QChar(QChar::LineSeparator), QLatin1Char(' '));
        lines.back() = QFontMetrics(font).elidedText(rest, Qt::ElideRight, width);
    }
    return lines.join(QLatin1Char('\n'));
}

/// The same of a text that is shown whole where it needs no more than `wholeLines`.
QString inLines(const QString& text, const QFont& font, int width, int maxLines, int wholeLines) {
    if (wholeLines > maxLines) {
        const QString all = inLines(text, font, width, wholeLines + 1);
        if (all.count(QLatin1Char('\n')) < wholeLines) return all;
    }
    return inLines(text, font, width, maxLines);
}

}  // namespace

/// A text that takes three lines at most: in a small window a long message must not take the place of what it is about.
/// A question takes what it needs.
/// The whole of it is in the tool tip (and in the log).
class ShortLabel : public QLabel {
  public:
    explicit ShortLabel(QWidget* parent) : QLabel(parent) {
        setTextFormat(Qt::PlainText);
        setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
        setAlignment(Qt::AlignTop | Qt::AlignLeft);
    }

    const QString& whole() const { return m_whole; }
    void setWhole(const QString& text, int maxLines, int wholeLines = 0) {
        m_whole = text;
        m_maxLines = maxLines;
        m_wholeLines = wholeLines;
        // Before the width is known many lines would make the window taller than the screen.
        setSizePolicy(QSizePolicy::Ignored, maxLines > kMaxLines ? QSizePolicy::Preferred : QSizePolicy::Minimum);
        fit();
        updateGeometry();
    }

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override {
        const auto lines = inLines(m_whole, font(), width, m_maxLines, m_wholeLines).count(QLatin1Char('\n')) + 1;
        return fontMetrics().size(0, QString(lines - 1, QLatin1Char('\n'))).height() + 1;
    }
    QSize sizeHint() const override { return {width(), heightForWidth(width())}; }
    QSize minimumSizeHint() const override { return {0, fontMetrics().lineSpacing()}; }

  protected:
    void resizeEvent(QResizeEvent* event) override {
        QLabel::resizeEvent(event);
        fit();
    }
    void changeEvent(QEvent* event) override {
        QLabel::changeEvent(event);
        if (event->type() == QEvent::FontChange) fit();
    }

  private:
    void fit() {
        const QString shown = inLines(m_whole, font(), width(), m_maxLines, m_wholeLines);
        setText(shown);
        const bool all = QString(shown).replace(QLatin1Char('\n'), QLatin1Char(' ')).size() >= m_whole.trimmed().size();
        setToolTip(all ? QString() : m_whole.left(kMaxOfTip));
    }

    static constexpr qsizetype kMaxOfTip = 4000;
    QString m_whole;
    int m_maxLines = kMaxLines, m_wholeLines = 0;
};

Banner::Banner(QWidget* parent)
    : QFrame(parent), m_icon(new QLabel(this)), m_text(new ShortLabel(this)), m_hint(new ShortLabel(this)),
      m_action(new QPushButton(this)), m_close(makeToolButton(QStringLiteral("close"), tr("Dismiss (Esc)"), this)) {
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
    m_row = row;
    m_words = words;
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    connect(m_close, &QToolButton::clicked, this, &Banner::dismiss);
    connect(m_action, &QPushButton::clicked, this, &Banner::actionTriggered);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &Banner::refresh);
    hide();
}

void Banner::showMessage(Severity severity, const QString& text, const QString& hint, const QString& action) {
    m_severity = severity;
    const bool isQuestion = severity == Severity::Warning && !action.isEmpty();
    const int maxLines = isQuestion ? kMaxLinesOfQuestion : kMaxLines;
    m_text->setWhole(text, maxLines, severity == Severity::Error ? kWholeLinesOfError : 0);
    m_hint->setWhole(hint, maxLines);
    m_hint->setVisible(!hint.isEmpty());
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    refresh();
    show();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

/// Beside the button a narrow window has no room for what it is about: there it stands below.
void Banner::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    constexpr int kRoomy = 480;
    const bool isNarrow = width() < kRoomy;
    if (isNarrow == std::exchange(m_isNarrow, isNarrow)) return;
    (isNarrow ? m_row : m_words)->removeWidget(m_action);
    if (isNarrow) m_words->addWidget(m_action, 0, Qt::AlignLeft);
    else m_row->insertWidget(m_row->indexOf(m_close), m_action, 0, Qt::AlignVCenter);
}

void Banner::dismiss() {
    if (isHidden()) return;
    hide();
    Q_EMIT dismissed();
}

QString Banner::text() const { return m_text->whole(); }
QString Banner::hint() const { return m_hint->whole(); }

void Banner::refresh() {
    const Look look = lookOf(m_severity);
    setAccessibleName(QStringLiteral("%1: %2").arg(tr(look.name), m_text->whole()));
    setAccessibleDescription(m_hint->whole());
    m_icon->setPixmap(
        theme::iconPixmap(QString::fromLatin1(look.icon), theme::color(look.mark), 20, devicePixelRatioF()));
    QPalette muted = palette();
    muted.setColor(QPalette::WindowText, theme::color(ColorRole::MutedText));
    m_hint->setPalette(muted);
    update();
}

void Banner::paintEvent(QPaintEvent*) {
    const Look look = lookOf(m_severity);
    QPainter painter(this);
    painter.fillRect(rect(), theme::color(look.background));
    painter.fillRect(QRect(0, 0, 3, height()), theme::color(look.mark));
    painter.setPen(theme::color(ColorRole::Border));
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

void Banner::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) dismiss();
    else QFrame::keyPressEvent(event);
}

}  // namespace sonde::widgets
