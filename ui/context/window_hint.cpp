#include "ui/context/window_hint.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <utility>

#include "ui/context/option_labels.h"
#include "ui/context/option_names.h"
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

/// A clause with the options of an export by their names in the export dialog; empty if it cannot be said so.
QString inDialog(QString clause) {
    for (const OptionName& each : optionNames()) {
        for (auto found = each.pattern.match(clause); found.hasMatch(); found = each.pattern.match(clause)) {
            if (each.isOpposite) return {};
            QString name = u'"' + each.place() + u'"';
            const std::string value = found.captured(1).toStdString();
            const auto given = std::ranges::find(each.option->choices, value, &exporting::OptionChoice::value);
            const exporting::OptionChoice* choice = each.choice;
            if (!value.empty() && given != each.option->choices.end()) choice = &*given;
            if (choice) name = translated("%1 to \"%2\"").arg(name, context::text(choice->help));
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
    const auto name = std::ranges::find_if(
        optionNames(), [&where](const OptionName& each) { return !each.choice && each.option->spelled() == where; });
    return name == optionNames().end() ? QString() : name->place();
}

}  // namespace sonde::context
