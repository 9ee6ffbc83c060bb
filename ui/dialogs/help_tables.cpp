#include "ui/dialogs/help_tables.h"

#include <QTextBlock>
#include <QTextDocument>
#include <QTextDocumentFragment>
#include <QTextTable>

#include <algorithm>

#include "ui/theme/theme.h"

namespace sonde::dialogs {

namespace {

/// Characters of code that fit beside each other in the help.
constexpr qsizetype kMaxCodeWidth = 76;
/// Of a folded table's width, in percent.
constexpr int kFirstColumn = 34;

QTextCursor contentOf(const QTextTableCell& cell) {
    QTextCursor cursor = cell.firstCursorPosition();
    cursor.setPosition(cell.lastCursorPosition().position(), QTextCursor::KeepAnchor);
    return cursor;
}

/// The longest piece of code in a cell.
qsizetype codeWidth(const QTextTableCell& cell) {
    qsizetype width = 0;
    for (QTextBlock block = cell.firstCursorPosition().block();
         block.isValid() && block.position() <= cell.lastPosition(); block = block.next())
        for (auto each = block.begin(); !each.atEnd(); ++each)
            if (each.fragment().charFormat().fontFixedPitch()) width = std::max(width, each.fragment().text().size());
    return width;
}

bool isWide(const QTextTable& table) {
    qsizetype width = 0;
    for (int column = 0; column < table.columns(); ++column) {
        qsizetype widest = 0;
        for (int row = 1; row < table.rows(); ++row) widest = std::max(widest, codeWidth(table.cellAt(row, column)));
        width += widest;
    }
    return table.columns() > 2 && width > kMaxCodeWidth;
}

/// The cells of a row after the first, one below the other in the second.
void foldRow(const QTextTable& table, int row, const QStringList& titles) {
    const QString nothing = QStringLiteral("–");
    QList<std::pair<QString, QTextDocumentFragment>> lines;
    for (int column = 1; column < table.columns(); ++column) {
        const QTextCursor content = contentOf(table.cellAt(row, column));
        if (content.selectedText().trimmed() != nothing) lines.append({titles[column], content.selection()});
    }
    QTextCursor cursor = contentOf(table.cellAt(row, 1));
    cursor.removeSelectedText();
    QTextCharFormat plain;
    plain.setFont(cursor.document()->defaultFont());
    QTextCharFormat caption = plain;
    caption.setForeground(theme::color(theme::ColorRole::MutedText));
    if (lines.isEmpty()) cursor.insertText(nothing, plain);
    for (qsizetype i = 0; i < lines.size(); ++i) {
        if (i > 0) cursor.insertBlock();
        cursor.insertText(lines[i].first + QStringLiteral(": "), caption);
        cursor.insertFragment(lines[i].second);
    }
}

void fold(QTextTable& table) {
    QStringList titles;
    for (int column = 0; column < table.columns(); ++column)
        titles << contentOf(table.cellAt(0, column)).selectedText().trimmed();
    for (int row = 1; row < table.rows(); ++row) foldRow(table, row, titles);
    QTextCursor head = contentOf(table.cellAt(0, 1));
    head.insertText(titles.mid(1).join(QStringLiteral(", ")), head.charFormat());
    table.removeColumns(2, table.columns() - 2);
    QTextTableFormat format = table.format();
    format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
    format.setColumnWidthConstraints({QTextLength(QTextLength::PercentageLength, kFirstColumn),
                                      QTextLength(QTextLength::PercentageLength, 100 - kFirstColumn)});
    table.setFormat(format);
}

}  // namespace

void foldWideTables(QTextDocument& page) {
    QTextCursor all(&page);
    all.beginEditBlock();  // laid out once
    for (QTextFrame* frame : page.rootFrame()->childFrames())
        if (auto* table = qobject_cast<QTextTable*>(frame); table && isWide(*table)) fold(*table);
    all.endEditBlock();
}

}  // namespace sonde::dialogs
