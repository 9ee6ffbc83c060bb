#pragma once

#include <QString>
#include <QStringList>

#include <vector>

class QSettings;

namespace sonde::context {

/// What is written on the nodes of some operators: a line of text each, with fields in braces ("{op} {attr:strides}").
/// The first line is the card's title. Lines that come out empty are left out.
struct LabelRule {
    QString operators;  ///< "Conv Gemm": names separated by spaces; "*": all without a rule
    QStringList lines;

    bool operator==(const LabelRule&) const = default;
};

/// All rules; none: operator, module and name, the default.
using LabelRules = std::vector<LabelRule>;

/// The lines for an operator; null if no rule is about it.
const QStringList* linesFor(const LabelRules& rules, const QString& op);

/// A field that a line may hold: "{shape}".
struct LabelField {
    QString name;
    QString description;
    bool ofRun;  ///< known only after a run
};
const std::vector<LabelField>& labelFields();

/// The name that a field has now: rules that were stored by earlier versions say {deviation}, {minimum}, {maximum}.
QString canonicalField(const QString& field);
/// The names in braces of a text, in order.
QStringList fieldsIn(const QString& text);
/// Names in braces that are not fields, for the dialog to report.
QStringList unknownFields(const LabelRules& rules);

/// Rules to start from.
struct LabelPreset {
    QString title;
    LabelRules rules;
};
const std::vector<LabelPreset>& labelPresets();

void writeLabelRules(QSettings& settings, const LabelRules& rules);
LabelRules readLabelRules(QSettings& settings);

}  // namespace sonde::context
