#include "ui/context/option_labels.h"

#include <QRegularExpression>

#include "ui/context/option_names.h"
#include "ui/context/text.h"

namespace sonde::context {

QString withOptionLabels(std::string_view given) {
    QString said = context::text(given);
    for (const OptionName& name : optionNames()) {
        if (name.isOpposite) continue;
        const QString label = QStringLiteral("\u201c%1\u201d").arg(name.label());
        qsizetype at = 0;
        for (QRegularExpressionMatch match; (match = name.pattern.match(said, at)).hasMatch();) {
            const bool hasValue = match.capturedLength(1) > 0;  // which stays, behind its blank
            const qsizetype start = match.capturedStart();
            const qsizetype end = hasValue ? match.capturedStart(1) - 1 : match.capturedEnd();
            said.replace(start, end - start, label);
            at = start + label.size();
        }
    }
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
