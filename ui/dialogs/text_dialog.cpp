#include "ui/dialogs/text_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextBlock>
#include <QVBoxLayout>

#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

void goToLine(QPlainTextEdit* edit, int line) {
    const QTextBlock block = edit->document()->findBlockByNumber(std::max(0, line));
    if (block.isValid()) edit->setTextCursor(QTextCursor(block));
}

}  // namespace

TextDialog::TextDialog(const QString& title, const QString& text, int line, QWidget* parent)
    : QDialog(parent), m_text(new QPlainTextEdit(this)) {
    setTitle(title);
    m_text->setReadOnly(true);
    // A cursor that can be seen and moved: the text is to be walked through.
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setFont(theme::Theme::instance().monoFont());
    m_text->setAccessibleName(tr("Graph as text"));
    m_text->setPlainText(text);
    m_text->installEventFilter(this);
    m_text->viewport()->installEventFilter(this);
    auto* hint =
        new QLabel(tr("The visible graph in order of execution. Press Return to show a line on the canvas."), this);
    hint->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    QPushButton* copy = buttons->addButton(tr("&Copy All"), QDialogButtonBox::ActionRole);
    auto* column = new QVBoxLayout(this);
    column->addWidget(hint);
    column->addWidget(m_text, 1);
    column->addWidget(buttons);
    resize(720, 560);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_text->toPlainText()); });
    goToLine(m_text, line);
    m_text->setFocus();
}

void TextDialog::setTitle(const QString& title) { setWindowTitle(tr("%1 as Text").arg(title)); }

void TextDialog::setText(const QString& text) {
    if (text == m_text->toPlainText()) return;
    const int line = m_text->textCursor().blockNumber();
    m_text->setPlainText(text);
    goToLine(m_text, line);
}

bool TextDialog::eventFilter(QObject* watched, QEvent* event) {
    const bool byKey = watched == m_text && event->type() == QEvent::KeyPress &&
                       (static_cast<QKeyEvent*>(event)->key() == Qt::Key_Return ||
                        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Enter);
    if (byKey || (watched == m_text->viewport() && event->type() == QEvent::MouseButtonDblClick)) {
        Q_EMIT lineChosen(m_text->textCursor().blockNumber());
        return true;
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace sonde::dialogs
