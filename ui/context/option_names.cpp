#include "ui/context/option_names.h"

#include <QStringList>

#include "ui/context/text.h"

namespace sonde::context {

namespace {

using exporting::ExportOption;
using exporting::OptionChoice;

QRegularExpression patternOf(const QString& named, const QString& value) {
    return QRegularExpression(QStringLiteral("(?<![\\w-])") + named + QStringLiteral("(?![\\w=-])") + value);
}

/// --option may be left out, and "true" is what it means.
QRegularExpression inferencePattern(const QString& key) {
    return patternOf(QStringLiteral("(?:--option )?%1(?:=true)?").arg(QRegularExpression::escape(key)), {});
}

QRegularExpression ownPattern(const ExportOption& option) {
    QStringList values;
    for (const OptionChoice& choice : option.choices)
        if (!choice.value.empty()) values << QRegularExpression::escape(context::text(choice.value));
    return patternOf(QRegularExpression::escape(QString::fromStdString(option.spelled())),
                     values.isEmpty() ? QString() : QStringLiteral("(?: (%1)(?!\\w))?").arg(values.join(u'|')));
}

std::vector<OptionName> madeNames() {
    std::vector<OptionName> names;
    for (const ExportOption& option : exporting::exportOptions()) {
        if (option.spelling != exporting::Spelling::Inference) {
            const bool isOpposite = option.spelled().starts_with("--no-") && !option.name.starts_with("no-");
            names.push_back({&option, nullptr, ownPattern(option), isOpposite});
        } else if (option.choices.empty()) {
            names.push_back({&option, nullptr, inferencePattern(context::text(option.name)), false});
        } else {
            for (const OptionChoice& choice : option.choices)
                if (!choice.value.empty())
                    names.push_back({&option, &choice,
                                     inferencePattern(QStringLiteral("enable_") + context::text(choice.value)), false});
            names.push_back({&option, nullptr, ownPattern(option), false});
        }
    }
    return names;
}

}  // namespace

QString OptionName::label() const {
    const QString name = context::text(option->label);
    return choice ? name + QStringLiteral(": ") + context::text(choice->value) : name;
}

QString OptionName::place() const {
    return context::text(option->group) + QStringLiteral(" \u203a ") + context::text(option->label);
}

const std::vector<OptionName>& optionNames() {
    static const std::vector<OptionName> names = madeNames();
    return names;
}

}  // namespace sonde::context
