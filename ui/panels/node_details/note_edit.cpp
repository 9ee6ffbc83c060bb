#include "ui/panels/node_details/note_edit.h"

#include <QKeyEvent>
#include <QScopedValueRollback>
#include <QTextBlock>

#include <algorithm>
#include <cmath>

namespace sonde::panels {

namespace {

constexpr int kMaxLines = 6;

}  // namespace

NoteEdit::NoteEdit(context::Notes& notes, QWidget* parent) : QPlainTextEdit(parent), m_notes(notes) {
    setObjectName(QStringLiteral("note"));
    setAccessibleName(tr("Note on the node"));
    setPlaceholderText(tr("Write a note\u2026"));
    setToolTip(tr("A note on this node (Ctrl+T). It is kept for this model, and in session files"));
    setTabChangesFocus(true);
    setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    document()->setDocumentMargin(3);
    connect(this, &QPlainTextEdit::textChanged, this, [this] {
        if (!m_isTaking) m_notes.type(m_node, toPlainText());
        fitHeight();
    });
    connect(&notes, &context::Notes::changed, this, &NoteEdit::take);
    setNode({});
}

void NoteEdit::setNode(graph::NodeId node) {
    if (node != m_node) m_notes.flush();
    const bool isOther = node != m_node;
    m_node = node;
    setVisible(node.valid());
    // The same node of another model has a note of its own; what is being typed stays.
    if (isOther) document()->setModified(false);
    if (isOther || !hasFocus()) take();
}

/// What is stored, which may have been cleaned of control characters; not while it is being typed.
void NoteEdit::take() {
    const QString text = m_node.valid() ? m_notes.of(m_node) : QString();
    if (text == toPlainText() || (hasFocus() && document()->isModified())) return;
    const QScopedValueRollback guard(m_isTaking, true);
    setPlainText(text);
    document()->setModified(false);
}

void NoteEdit::focusOutEvent(QFocusEvent* event) {
    QPlainTextEdit::focusOutEvent(event);
    m_notes.flush();
    document()->setModified(false);
    take();
}

void NoteEdit::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && event->modifiers() == Qt::NoModifier) {
        Q_EMIT left();
        return;
    }
    QPlainTextEdit::keyPressEvent(event);
}

void NoteEdit::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    fitHeight();
}

void NoteEdit::changeEvent(QEvent* event) {
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) fitHeight();
}

/// Lines as they are wrapped: QPlainTextEdit counts heights in lines.
void NoteEdit::fitHeight() {
    const int all = static_cast<int>(std::ceil(document()->size().height()));
    const int lines = std::clamp(all, 1, kMaxLines);
    setVerticalScrollBarPolicy(all > kMaxLines ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
    const int frame = 2 * frameWidth() + static_cast<int>(2 * document()->documentMargin());
    const int height = lines * fontMetrics().lineSpacing() + frame;
    if (minimumHeight() != height || maximumHeight() != height) setFixedHeight(height);
}

}  // namespace sonde::panels
