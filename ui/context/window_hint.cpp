#include "ui/context/window_hint.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <utility>

#include "core/export/export_options.h"
#include "ui/context/option_labels.h"
#include "ui/context/text.h"

namespace sonde::context {

namespace {

QString translated(const char* words) { return QCoreApplication::translate("WindowHint", words); }

/// What menus and settings offer.
const std::vector<CommandAdvice>& ownAdvice() {
    static const std::vector<CommandAdvice> all{
        {QStringLiteral("--no-groups"),
         translated("clear \"Find groups in models without module names\" in the settings")},
        {QStringLiteral("sonde dump"), translated("File \u203a Export Model (Ctrl+J) adds them under Test cases")},
        {QStringLiteral("sonde save"), translated("File \u203a Export Model (Ctrl+J) writes it as ONNX")},
        {QStringLiteral("sonde models"), translated("File \u203a Open Built-in Model lists them")},
    };
    return all;
}

/// What addAdvice() was given.
std::vector<CommandAdvice>& addedAdvice() {
    static std::vector<CommandAdvice> all;
    return all;
}

bool namesCommand(const QString& clause) {
    static const QRegularExpression command(QStringLiteral(R"((^|[^\w-])--[a-z]|\bsonde [a-z]|\bPATH#NAME\b)"));
    return command.match(clause).hasMatch();
}

/// What is advised in place of the commands of a clause. Of two commands that begin alike the longer one counts.
QStringList adviceFor(const QString& clause) {
    std::vector<const CommandAdvice*> found;
    for (const auto* all : {&std::as_const(addedAdvice()), &ownAdvice()})
        for (const CommandAdvice& each : *all)
            if (clause.contains(each.command)) found.push_back(&each);
    QStringList advice;
    for (const CommandAdvice* one : found) {
        const bool isPart = std::ranges::any_of(found, [one](const CommandAdvice* other) {
            return other != one && other->command.startsWith(one->command);
        });
        if (!isPart) advice << one->advice;
    }
    return advice;
}

/// "File › Format": where the export dialog has an option.
QString dialogName(const exporting::ExportOption& option) {
    return context::text(option.group) + QStringLiteral(" \u203a ") + context::text(option.label);
}

/// An option in a text, with one of its values if that follows.
QRegularExpression patternOf(const exporting::ExportOption& option) {
    QStringList values;
    for (const exporting::OptionChoice& choice : option.choices)
        if (!choice.value.empty()) values << QRegularExpression::escape(context::text(choice.value));
    const QString value = values.isEmpty() ? QString() : QStringLiteral("(?: (%1)(?!\\w))?").arg(values.join(u'|'));
    return QRegularExpression(QStringLiteral("(?<![\\w-])") +
                              QRegularExpression::escape(QString::fromStdString(option.spelled())) +
                              QStringLiteral("(?![\\w-])") + value);
}

/// Switches that are on by default are spelled --no-NAME: what is said of that is the opposite of what holds for NAME.
bool isNegated(const exporting::ExportOption& option) {
    return option.spelled().starts_with("--no-") && !option.name.starts_with("no-");
}

/// A clause with the options of an export by their names in the export dialog; empty if it cannot be said so.
QString inDialog(QString clause) {
    for (const exporting::ExportOption& option : exporting::exportOptions()) {
        const QRegularExpression pattern = patternOf(option);
        for (auto found = pattern.match(clause); found.hasMatch(); found = pattern.match(clause)) {
            if (isNegated(option)) return {};
            QString name = u'"' + dialogName(option) + u'"';
            const std::string value = found.captured(1).toStdString();
            const auto choice = std::ranges::find(option.choices, value, &exporting::OptionChoice::value);
            if (!value.empty() && choice != option.choices.end())
                name = translated("%1 to \"%2\"").arg(name, context::text(choice->help));
            clause.replace(found.capturedStart(), found.capturedLength(), name);
        }
    }
    clause.replace(QStringLiteral("leave out \""), translated("clear \""));
    clause.replace(QStringLiteral("add \""), translated("set \""));
    return namesCommand(clause) ? QString() : clause;
}

}  // namespace

void addAdvice(const std::vector<CommandAdvice>& advice) {
    std::vector<CommandAdvice>& known = addedAdvice();
    for (const CommandAdvice& each : advice)
        if (std::ranges::find(known, each.command, &CommandAdvice::command) == known.end()) known.push_back(each);
}

QString windowText(const base::Error& error) {
    base::Error shown = error;
    shown.where = windowPlace(error.where).toStdString();
    return withOptionLabels(shown.text());
}

QString windowTextWithHint(const base::Error& error) {
    const QString hint = windowHint(error.hint);
    return hint.isEmpty() ? windowText(error) : windowText(error) + QStringLiteral("; ") + hint;
}

QString windowHint(const std::string& hint) {
    QStringList clauses;
    for (const QString& clause : QString::fromStdString(hint).split(QStringLiteral("; "), Qt::SkipEmptyParts)) {
        if (!namesCommand(clause)) {
            clauses << clause;
            continue;
        }
        QStringList instead = adviceFor(clause);
        if (instead.isEmpty()) instead << inDialog(clause);
        for (const QString& each : instead)
            if (!each.isEmpty() && !clauses.contains(each)) clauses << each;
    }
    return clauses.join(QStringLiteral("; "));
}

QString windowPlace(const std::string& where) {
    if (!where.starts_with("--")) return QString::fromStdString(where);
    const auto option = std::ranges::find(exporting::exportOptions(), where, &exporting::ExportOption::spelled);
    return option == exporting::exportOptions().end() ? QString() : dialogName(*option);
}

}  // namespace sonde::context
