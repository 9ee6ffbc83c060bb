#include "ui/context/window_hint.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

namespace sonde::context {

namespace {

/// What the window offers in place of an option or verb. One that begins like the next is said in its place.
struct Substitute {
    const char* command;
    const char* advice;
};
constexpr Substitute kSubstitutes[] = {
    {"--leaf", QT_TRANSLATE_NOOP("WindowHint", "make the module's class a leaf in the Tracing panel")},
    {"--tracer traced-module",
     QT_TRANSLATE_NOOP("WindowHint", "choose the tracer \"Traced module\" in the Tracing panel and trace again")},
    {"--tracer", QT_TRANSLATE_NOOP("WindowHint", "choose another tracer in the Tracing panel")},
    {"--concrete", QT_TRANSLATE_NOOP("WindowHint", "fix the parameter's value in the Tracing panel")},
    {"--example",
     QT_TRANSLATE_NOOP("WindowHint", "set the inputs and tick \"Follow the input values\" in the Tracing panel")},
    {"--input-data", QT_TRANSLATE_NOOP("WindowHint", "set the inputs in the Inputs panel")},
    {"--no-groups",
     QT_TRANSLATE_NOOP("WindowHint", "clear \"Find groups in models without module names\" in the settings")},
    {"sonde dump", QT_TRANSLATE_NOOP("WindowHint", "File \u203a Export Model (Ctrl+J) adds them under Test cases")},
    {"sonde models", QT_TRANSLATE_NOOP("WindowHint", "File \u203a Open Built-in Model lists them")},
};

bool namesCommand(const QString& clause) {
    static const QRegularExpression command(QStringLiteral(R"((^|[^\w-])--[a-z]|\bsonde [a-z]|\bPATH#NAME\b)"));
    return command.match(clause).hasMatch();
}

}  // namespace

QString windowHint(const std::string& hint) {
    QStringList clauses;
    for (const QString& clause : QString::fromStdString(hint).split(QStringLiteral("; "), Qt::SkipEmptyParts)) {
        if (!namesCommand(clause)) {
            clauses << clause;
            continue;
        }
        QLatin1String last;
        for (const Substitute& substitute : kSubstitutes) {
            const QLatin1String command(substitute.command);
            if (!clause.contains(command) || last.startsWith(command)) continue;
            last = command;
            const QString advice = QCoreApplication::translate("WindowHint", substitute.advice);
            if (!clauses.contains(advice)) clauses << advice;
        }
    }
    return clauses.join(QStringLiteral("; "));
}

QString windowPlace(const std::string& where) {
    return where.starts_with("--") ? QString() : QString::fromStdString(where);
}

}  // namespace sonde::context
