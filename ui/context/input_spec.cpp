#include "ui/context/input_spec.h"

#include "core/io/inputs/inputs.h"

namespace sonde::context {

using tensor::TypeInfo;

InputSpec InputSpec::from(const session::InputSpec& spec) {
    return {QString::fromStdString(spec.source), {spec.image.resize, QString::fromStdString(spec.image.preset)}};
}

ModelInput ModelInput::from(const session::Input& input) {
    return {QString::fromStdString(input.name),
            input.node,
            input.type,
            InputSpec::from(input.spec),
            input.value,
            input.error,
            input.isRequired,
            input.conflict,
            input.isDefault,
            QString::fromStdString(input.note),
            input.files};
}

QString defaultNumbers(const TypeInfo& type) { return QString::fromStdString(session::defaultNumbers(type)); }

QString withBrackets(const QString& numbers, const TypeInfo& type) {
    const QString text = numbers.trimmed();
    if (text.isEmpty() || !(text.front().isLetterOrNumber() || QStringLiteral("-+.").contains(text.front())))
        return text;
    const bool isList = text.contains(QLatin1Char(',')) || (type.shape && !type.shape->empty());
    if (!isList || (type.kind && !type.isTensor() && numberFieldOf(type) != NumberField::List)) return text;
    for (const QString& word : text.split(QLatin1Char(','))) {
        const std::string one = word.trimmed().toStdString();
        if (one.empty() || io::kindOfItem(one) != io::ItemKind::Literal) return text;
    }
    const qsizetype depth = type.shape ? std::max<qsizetype>(1, static_cast<qsizetype>(type.shape->size())) : 1;
    return QString(depth, QLatin1Char('[')) + text + QString(depth, QLatin1Char(']'));
}

QString randomSource(const TypeInfo& type, double low, double high) {
    return QString::fromStdString(session::randomSource(type, low, high));
}

}  // namespace sonde::context
