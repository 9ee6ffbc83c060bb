#include "ui/context/label_rules.h"

#include <QCoreApplication>
#include <QHash>
#include <QRegularExpression>
#include <QSettings>

#include <algorithm>

namespace sonde::context {

namespace {

const QString kKey = QStringLiteral("labels");

QString tr(const char* text) { return QCoreApplication::translate("LabelRules", text); }

}  // namespace

const QStringList* linesFor(const LabelRules& rules, const QString& op) {
    const QStringList* all = nullptr;
    for (const LabelRule& rule : rules) {
        for (const QString& name : rule.operators.split(u' ', Qt::SkipEmptyParts)) {
            if (name.compare(op, Qt::CaseInsensitive) == 0) return &rule.lines;
            if (name == u"*" && !all) all = &rule.lines;
        }
    }
    return all;
}

const std::vector<LabelField>& labelFields() {
    static const std::vector<LabelField> fields{
        {QStringLiteral("op"), tr("operator"), false},
        {QStringLiteral("qualname"), tr("module"), false},
        {QStringLiteral("last"), tr("last part of the module's name"), false},
        {QStringLiteral("name"), tr("generated name"), false},
        {QStringLiteral("class"), tr("class of the module"), false},
        {QStringLiteral("attrs"), tr("all attributes"), false},
        {QStringLiteral("attr:NAME"), tr("one attribute"), false},
        {QStringLiteral("shape"), tr("shape of the output"), false},
        {QStringLiteral("type"), tr("type and shape of the output"), false},
        {QStringLiteral("inputs"), tr("shapes of the inputs"), false},
        {QStringLiteral("parameters"), tr("parameter count"), false},
        {QStringLiteral("source"), tr("file and line, if the model has them"), false},
        {QStringLiteral("time"), tr("time in the last run"), true},
        {QStringLiteral("mean"), tr("mean of the value"), true},
        {QStringLiteral("std"), tr("standard deviation of the value"), true},
        {QStringLiteral("min"), tr("minimum of the value"), true},
        {QStringLiteral("max"), tr("maximum of the value"), true},
        {QStringLiteral("bad"), tr("count of NaN and infinite elements"), true},
        {QStringLiteral("difference"), tr("maximum absolute difference in the comparison"), true},
    };
    return fields;
}

QString canonicalField(const QString& field) {
    static const QHash<QString, QString> former{{QStringLiteral("deviation"), QStringLiteral("std")},
                                                {QStringLiteral("minimum"), QStringLiteral("min")},
                                                {QStringLiteral("maximum"), QStringLiteral("max")}};
    return former.value(field, field);
}

QStringList fieldsIn(const QString& text) {
    static const QRegularExpression braces(QStringLiteral("\\{([^{}]*)\\}"));
    QStringList found;
    for (auto match = braces.globalMatch(text); match.hasNext();) found << match.next().captured(1);
    return found;
}

QStringList unknownFields(const LabelRules& rules) {
    QStringList unknown;
    for (const LabelRule& rule : rules)
        for (const QString& line : rule.lines)
            for (const QString& field : fieldsIn(line)) {
                const bool known = field.startsWith(QLatin1String("attr:")) ||
                                   std::any_of(labelFields().begin(), labelFields().end(), [&](const LabelField& one) {
                                       return one.name == canonicalField(field);
                                   });
                if (!known && !unknown.contains(field)) unknown << field;
            }
    return unknown;
}

const std::vector<LabelPreset>& labelPresets() {
    static const std::vector<LabelPreset> presets{
        {tr("Operator, module, name"), {}},
        {tr("Operator and shape"), {{QStringLiteral("*"), {QStringLiteral("{op}"), QStringLiteral("{shape}")}}}},
        {tr("Module first"),
         {{QStringLiteral("*"), {QStringLiteral("{qualname}"), QStringLiteral("{op}"), QStringLiteral("{type}")}}}},
        {tr("Attributes and shapes"),
         {{QStringLiteral("*"),
           {QStringLiteral("{op}"), QStringLiteral("{qualname}"), QStringLiteral("{inputs} → {shape}"),
            QStringLiteral("{attrs}")}}}},
        {tr("Kernel of convolutions"),
         {{QStringLiteral("Conv ConvTranspose Conv2d"),
           {QStringLiteral("{op} {attr:kernel_shape}{attr:kernel_size}"), QStringLiteral("{last}"),
            QStringLiteral("stride {attr:strides}{attr:stride}")}},
          {QStringLiteral("*"), {QStringLiteral("{op}"), QStringLiteral("{last}")}}}},
        {tr("Time and value"),
         {{QStringLiteral("*"),
           {QStringLiteral("{op}"), QStringLiteral("{qualname}"), QStringLiteral("{time}"),
            QStringLiteral("{mean} ± {std}")}}}},
    };
    return presets;
}

void writeLabelRules(QSettings& settings, const LabelRules& rules) {
    settings.remove(kKey);
    settings.beginWriteArray(kKey, static_cast<int>(rules.size()));
    for (int i = 0; i < static_cast<int>(rules.size()); ++i) {
        settings.setArrayIndex(i);
        settings.setValue(QStringLiteral("operators"), rules[static_cast<std::size_t>(i)].operators);
        settings.setValue(QStringLiteral("lines"), rules[static_cast<std::size_t>(i)].lines);
    }
    settings.endArray();
}

LabelRules readLabelRules(QSettings& settings) {
    LabelRules rules;
    const int count = settings.beginReadArray(kKey);
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        rules.push_back({settings.value(QStringLiteral("operators")).toString(),
                         settings.value(QStringLiteral("lines")).toStringList()});
    }
    settings.endArray();
    return rules;
}

}  // namespace sonde::context
