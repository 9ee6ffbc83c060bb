#include "ui/context/input_spec.h"

#include <QStringList>

#include <algorithm>

#include "core/io/inputs/inputs.h"

namespace sonde::context {

using tensor::DType;
using tensor::TypeInfo;
using tensor::ValueKind;

namespace {

constexpr std::int64_t kMaxFirstList = 16;

bool hasOneElement(const TypeInfo& type) {
    return type.isTensor() && type.shape &&
           std::ranges::all_of(*type.shape, [](const tensor::Dim& dim) { return dim.value == 1; });
}

}  // namespace

bool ModelInput::hasChangedFile() const {
    return std::ranges::any_of(files, [](const auto& file) { return file->hasChanged(); });
}

bool InputSpec::isFile() const {
    if (source.isEmpty()) return false;
    const io::ItemKind kind = io::kindOfItem(source.toStdString());
    return kind == io::ItemKind::File || kind == io::ItemKind::Archive;
}

bool InputSpec::isNumbers() const {
    return !source.isEmpty() && io::kindOfItem(source.toStdString()) == io::ItemKind::Literal;
}

NumberField numberFieldOf(const TypeInfo& type) {
    if (type.kind == ValueKind::Bool || (type.dtype == DType::Bool && hasOneElement(type))) return NumberField::Flag;
    if (type.kind == ValueKind::Int || type.kind == ValueKind::Float) return NumberField::Number;
    const bool isReal = tensor::isInteger(type.dtype) || tensor::isFloating(type.dtype);
    return isReal && hasOneElement(type) ? NumberField::Number : NumberField::List;
}

bool isGivenAsNumbers(const TypeInfo& type) {
    if (type.kind && !type.isTensor()) return true;
    if (numberFieldOf(type) != NumberField::List) return !type.shape || type.shape->size() <= 1;
    const bool isSmall = type.shape && type.shape->size() == 1 && type.shape->front().known() &&
                         type.shape->front().value <= kMaxFirstList;
    return isSmall && (tensor::isInteger(type.dtype) || type.dtype == DType::Bool);
}

QString defaultNumbers(const TypeInfo& type) {
    if (type.kind == ValueKind::String) return QStringLiteral("''");
    const bool isBool = type.kind == ValueKind::Bool || type.dtype == DType::Bool;
    const bool isReal = type.kind == ValueKind::Float || tensor::isFloating(type.dtype);
    const QString one = type.dtype == DType::String ? QStringLiteral("''")
                        : isBool                    ? QStringLiteral("false")
                        : isReal                    ? QStringLiteral("0.5")
                                                    : QStringLiteral("0");
    if (numberFieldOf(type) != NumberField::List) return one;
    if (type.kind && !type.isTensor()) {
        const qsizetype count = type.kind == ValueKind::Tuple ? static_cast<qsizetype>(type.elements.size()) : 1;
        return QLatin1Char('[') + QStringList(count, QStringLiteral("0")).join(QLatin1Char(',')) + QLatin1Char(']');
    }
    const auto shape = io::usualShape(type);
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= std::clamp<std::int64_t>(size, 0, kMaxFirstList + 1);
    if (count > kMaxFirstList || count == 0) return QLatin1Char('[') + one + QLatin1Char(']');
    QString text = one;
    for (std::size_t axis = shape.rank(); axis-- > 0;)
        text = QLatin1Char('[') + QStringList(static_cast<qsizetype>(shape[axis]), text).join(QLatin1Char(',')) +
               QLatin1Char(']');
    return text;
}

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

QString randomSource(const tensor::TypeInfo& type, double low, double high) {
    QString text = QStringLiteral("#rand(%1,%2").arg(low).arg(high);
    if (type.shape)
        for (const std::int64_t size : io::usualShape(type)) text += QStringLiteral(",%1").arg(size);
    return text + QLatin1Char(')');
}

InputSpec defaultSpec(const tensor::TypeInfo& type) {
    if (isGivenAsNumbers(type)) return {defaultNumbers(type), {}};
    // Integers are mostly indices: zero is always one.
    const bool real = tensor::isFloating(type.dtype) || type.dtype == tensor::DType::Undefined;
    return {randomSource(type, 0, real ? 1 : 0), {}};
}

}  // namespace sonde::context
