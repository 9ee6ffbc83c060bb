#pragma once

#include <QRegularExpression>
#include <QString>
#include <QStringList>

#include "tests/support/source_tree.h"

namespace sonde::test {

/// The pages for people who come from other systems, and that of the demo: all that they show is checked.
inline QStringList checkedHelpPages() {
    return {QStringLiteral("from-torch-fx.md"),      QStringLiteral("from-megengine.md"),
            QStringLiteral("tracer-module-path.md"), QStringLiteral("tracer-robust.md"),
            QStringLiteral("tracer-custom.md"),      QStringLiteral("tracer-traced-module.md"),
            QStringLiteral("record-and-dump.md"),    QStringLiteral("find-the-nan.md"),
            QStringLiteral("auditing.md"),           QStringLiteral("outputs.md")};
}

/// A command line of a page, "sonde trace model.pt  # exit status 3", and the lines of its output below it.
struct HelpCommand {
    QString line;
    int status = 0;
    QStringList output;  ///< "…" stands for any lines
};

/// What a help page shows: indented blocks, code in tables by their columns, and code in its text.
struct HelpPage {
    QList<HelpCommand> commands;
    QStringList snippets;  ///< C++
    QStringList places;    ///< in the window: "Run ▸ Watch Point (F9)"
    QStringList problems;  ///< what cannot be checked
};

namespace detail {

inline void takeBlock(const QStringList& block, HelpPage& page) {
    static const QRegularExpression status(QStringLiteral(R"(\s+# exit status (\d)$)"));
    if (block.isEmpty()) return;
    if (!block.front().trimmed().startsWith(u"sonde ")) {
        page.snippets << block.join(u'\n');
        return;
    }
    for (const QString& indented : block) {
        const QString line = indented.trimmed();
        if (!line.startsWith(u"sonde ")) {
            page.commands.back().output << line.simplified();
            continue;
        }
        const QRegularExpressionMatch match = status.match(line);
        page.commands << HelpCommand{QString(line).remove(status), match.captured(1).toInt(), {}};
    }
}

inline void takeCells(const QStringList& titles, const QStringList& cells, const QString& line, HelpPage& page) {
    static const QRegularExpression code(QStringLiteral("`([^`]+)`"));
    for (qsizetype i = 1; i < cells.size() && i < titles.size(); ++i) {
        if (cells[i].isEmpty()) page.problems << "an empty cell: " + line;
        for (QRegularExpressionMatchIterator all = code.globalMatch(cells[i]); all.hasNext();) {
            const QString text = all.next().captured(1);
            if (titles[i] == u"C++") page.snippets << text;
            else if (titles[i] == u"command line" && text.startsWith(u"sonde "))
                page.commands << HelpCommand{text, 0, {}};
            else if (titles[i] == u"command line") page.problems << "not a whole command: " + text;
        }
    }
}

}  // namespace detail

inline HelpPage readHelpPage(const QString& name) {
    static const QRegularExpression code(QStringLiteral("`([^`]+)`")),
        ours(QStringLiteral(R"(^(analysis|document|exec|exporting|graph|io|nn|passes|session|tensor|trace)::)")),
        place(QStringLiteral(R"(\*\*([^*]+ ▸ [^*]+)\*\*(?: \(([^)]+)\))?)"));
    HelpPage page;
    QStringList block, titles;
    for (const QString& line : sourceLines(QStringLiteral("resources/help/") + name)) {
        if (line.startsWith(u"    ")) {
            block << line.mid(4);
            continue;
        }
        if (!line.isEmpty() || !block.isEmpty()) {
            detail::takeBlock(block, page);
            block.clear();
        }
        for (QRegularExpressionMatchIterator all = place.globalMatch(line); all.hasNext();) {
            const QRegularExpressionMatch match = all.next();
            page.places << match.captured(1) +
                               (match.captured(2).isEmpty() ? QString() : " (" + match.captured(2) + ')');
        }
        if (line.startsWith(u'|')) {
            QStringList cells = line.split(u'|').mid(1);
            if (!cells.isEmpty()) cells.removeLast();
            for (QString& cell : cells) cell = cell.trimmed();
            if (titles.isEmpty()) titles = cells;
            else if (!cells.join(QString()).startsWith(u"---")) detail::takeCells(titles, cells, line, page);
            continue;
        }
        titles.clear();
        for (QRegularExpressionMatchIterator all = code.globalMatch(line); all.hasNext();) {
            const QString text = all.next().captured(1);
            if (text.startsWith(u"sonde ")) page.commands << HelpCommand{text, 0, {}};
            else if (ours.match(text).hasMatch()) page.snippets << text;
        }
    }
    detail::takeBlock(block, page);
    return page;
}

}  // namespace sonde::test
