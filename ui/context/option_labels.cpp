#include "ui/context/option_labels.h"

#include <QRegularExpression>

#include <vector>

#include "core/export/export_options.h"
#include "ui/context/text.h"

namespace sonde::context {

namespace {

/// How a text may name an option, and what the dialog calls it.
struct OptionName {
    QRegularExpression pattern;
    QString label;
};

OptionName optionName(const QString& before, const QString& key, const QString& label) {
    return {QRegularExpression(
                QStringLiteral("(?<![\\w-])%1%2(?:=true)?(?![\\w=-])").arg(before, QRegularExpression::escape(key))),
            QStringLiteral("\u201c%1\u201d").arg(label)};
}

/// Of the rows of all exports; the layouts are "Layout: nchw88", as in the preview.
std::vector<OptionName> optionNames() {
    const QString inference = QStringLiteral("(?:--option )?");
    std::vector<OptionName> names;
    for (const exporting::ExportOption& option : exporting::exportOptions()) {
        const QString name = context::text(option.name), label = context::text(option.label);
        if (option.spelling != exporting::Spelling::Inference) {
            if (const QString spelled = context::text(option.spelled()); spelled == QStringLiteral("--") + name)
                names.push_back(optionName({}, spelled, label));
        } else if (option.choices.empty()) {
            names.push_back(optionName(inference, name, label));
        } else {
            for (const exporting::OptionChoice& choice : option.choices)
                if (!choice.value.empty())
                    names.push_back(optionName(inference, QStringLiteral("enable_") + context::text(choice.value),
                                               label + QStringLiteral(": ") + context::text(choice.value)));
        }
    }
    return names;
}

}  // namespace

QString withOptionLabels(std::string_view given) {
    static const std::vector<OptionName> names = optionNames();
    QString said = context::text(given);
    for (const OptionName& each : names) said.replace(each.pattern, each.label);
    return said;
}

QString withUnbrokenOptions(QString given) {
    static const QRegularExpression option(QStringLiteral("(?<![\\w-])--[a-z][\\w-]*"));
    constexpr QChar kWordJoiner(0x2060);
    qsizetype at = 0;
    for (QRegularExpressionMatch match; (match = option.match(given, at)).hasMatch();) {
        QString joined = match.captured();
        joined.replace(u'-', QString(u'-') + kWordJoiner);
        given.replace(match.capturedStart(), match.capturedLength(), joined);
        at = match.capturedStart() + joined.size();
    }
    return given;
}

}  // namespace sonde::context
