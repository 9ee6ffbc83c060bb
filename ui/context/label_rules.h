#pragma once

#include <QString>
#include <QStringList>

#include <vector>

class QSettings;

namespace sonde::context {

/// What is written on the nodes of some operators: a line of text each, with fields in braces ("{op} {attr:strides}").
/// The first line is the card's title. Lines that come out empty are left out.
struct LabelRule {
    QString operators;  ///< "Conv Gemm": names with blanks between; "*": all that have no rule of their own
    QStringList lines;

    bool operator==(const LabelRule&) const = default;
};

/// All rules; none: operator, module and name, as Sonde writes them of itself.
using LabelRules = std::vector<LabelRule>;

/// The lines for an operator; null if no rule is about it.
const QStringList* linesFor(const LabelRules& rules, const QString& op);

/// A field that a line may hold: "{shape}".
struct LabelField {
    QString name;
    QString sentence;
    bool ofRun;  ///< known only after a run
};
const std::vector<LabelField>& labelFields();

/// The names in braces of a text, in order.
QStringList fieldsIn(const QString& text);
/// Fields of the rules that are none, for the dialog to complain about.
QStringList unknownFields(const LabelRules& rules);

/// Rules that one can begin with.
struct LabelPreset {
    QString title;
    LabelRules rules;
};
const std::vector<LabelPreset>& labelPresets();

void writeLabelRules(QSettings& settings, const LabelRules& rules);
LabelRules readLabelRules(QSettings& settings);

}  // namespace sonde::context
