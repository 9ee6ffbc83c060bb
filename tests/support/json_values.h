#pragma once

#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QString>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "core/tensor/attribute.h"
#include "core/tensor/type_info.h"

namespace sonde::test {

// Values in the lines of tests/data/*/cases.jsonl: tensors {"t": dtype, "s": shape, "v": numbers}, ints {"i": n},
// floats plain; "nan", "inf", "-inf" as text.

inline tensor::DType dtypeNamed(const QString& name) {
    using tensor::DType;
    static const QHash<QString, DType> names{
        {"f32", DType::Float32},    {"f64", DType::Float64}, {"f16", DType::Float16}, {"bf16", DType::BFloat16},
        {"i64", DType::Int64},      {"i32", DType::Int32},   {"i16", DType::Int16},   {"i8", DType::Int8},
        {"i4", DType::Int4},        {"u64", DType::UInt64},  {"u32", DType::UInt32},  {"u16", DType::UInt16},
        {"u8", DType::UInt8},       {"u4", DType::UInt4},    {"bool", DType::Bool},   {"c64", DType::Complex64},
        {"c128", DType::Complex128}};
    return names.value(name, DType::Undefined);
}

inline double numberIn(const QJsonValue& value) {
    if (value.isString()) return value.toString() == "nan" ? NAN : value.toString() == "inf" ? INFINITY : -INFINITY;
    return value.toDouble();
}

inline tensor::Tensor tensorIn(const QJsonObject& object) {
    using tensor::DType, tensor::Shape, tensor::Tensor;
    std::vector<std::int64_t> dims;
    for (const QJsonValue& dim : object["s"].toArray()) dims.push_back(dim.toInteger());
    const DType dtype = dtypeNamed(object["t"].toString());
    std::vector<double> numbers;
    for (const QJsonValue& number : object["v"].toArray()) numbers.push_back(numberIn(number));
    if (dtype == DType::Complex64 || dtype == DType::Complex128) {
        std::vector<std::complex<double>> pairs;
        for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) pairs.emplace_back(numbers[i], numbers[i + 1]);
        return Tensor::of<std::complex<double>>(Shape(dims), pairs).cast(dtype).value();
    }
    return Tensor::of<double>(Shape(dims), numbers).cast(dtype).value();
}

inline tensor::Value valueIn(const QJsonValue& json) {
    using tensor::Value;
    if (json.isNull()) return Value();
    if (json.isBool()) return Value::ofBool(json.toBool());
    if (json.isString()) {
        const QString text = json.toString();
        if (text == "inf" || text == "-inf" || text == "nan") return Value::ofFloat(numberIn(json));
        return Value(text.toStdString());
    }
    if (json.isDouble()) return Value::ofFloat(json.toDouble());
    if (json.isArray()) {
        tensor::ValueList items;
        for (const QJsonValue& item : json.toArray()) items.push_back(valueIn(item));
        return Value::list(std::move(items));
    }
    const QJsonObject object = json.toObject();
    return object.contains("i") ? Value::ofInt(object["i"].toInteger()) : Value(tensorIn(object));
}

/// {"i": 1}, {"f": 0.5}, {"s": "x"}, {"is": […]}, {"fs": […]}, {"ss": […]}, {"tensor": {…}}
inline tensor::Attributes attributesIn(const QJsonObject& object) {
    tensor::Attributes attributes;
    for (auto it = object.begin(); it != object.end(); ++it) {
        const QJsonObject value = it->toObject();
        const std::string name = it.key().toStdString();
        if (value.contains("i")) attributes.set(name, static_cast<std::int64_t>(value["i"].toInteger()));
        if (value.contains("f")) attributes.set(name, numberIn(value["f"]));
        if (value.contains("s")) attributes.set(name, value["s"].toString().toStdString());
        if (value.contains("tensor")) attributes.set(name, tensorIn(value["tensor"].toObject()));
        if (value.contains("is")) {
            std::vector<std::int64_t> list;
            for (const QJsonValue& item : value["is"].toArray()) list.push_back(item.toInteger());
            attributes.set(name, list);
        }
        if (value.contains("fs")) {
            std::vector<double> list;
            for (const QJsonValue& item : value["fs"].toArray()) list.push_back(numberIn(item));
            attributes.set(name, list);
        }
        if (value.contains("ss")) {
            std::vector<std::string> list;
            for (const QJsonValue& item : value["ss"].toArray()) list.push_back(item.toString().toStdString());
            attributes.set(name, list);
        }
    }
    return attributes;
}

inline bool close(double a, double b, double tolerance) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b || std::abs(a - b) <= tolerance + tolerance * std::abs(b);
}

/// Nothing, or what differs. The tolerance is absolute and relative at once.
inline QString difference(const tensor::Value& found, const tensor::Value& wanted, double tolerance = 2e-5) {
    using tensor::DType, tensor::Tensor;
    if (wanted.isTensor()) {
        if (!found.isTensor()) return QString::fromStdString("is " + found.typeText() + ", not a tensor");
        const Tensor &a = found.tensor(), &b = wanted.tensor();
        if (a.dtype() != b.dtype() || a.shape() != b.shape())
            return QString::fromStdString("is " + a.typeText() + " instead of " + b.typeText());
        if (tensor::isComplex(b.dtype())) {
            const Tensor p = a.contiguous()->cast(DType::Complex128).value(), q = b.cast(DType::Complex128).value();
            for (std::int64_t i = 0; i < q.numel(); ++i) {
                const auto x = p.data<std::complex<double>>()[i], y = q.data<std::complex<double>>()[i];
                if (!close(x.real(), y.real(), tolerance) || !close(x.imag(), y.imag(), tolerance)) {
                    return QString("element %1 is %2 + %3i instead of %4 + %5i")
                        .arg(i)
                        .arg(x.real())
                        .arg(x.imag())
                        .arg(y.real())
                        .arg(y.imag());
                }
            }
            return {};
        }
        for (std::int64_t i = 0; i < b.numel(); ++i) {
            if (!close(a.toDouble(i), b.toDouble(i), tolerance))
                return QString("element %1 is %2 instead of %3").arg(i).arg(a.toDouble(i)).arg(b.toDouble(i));
        }
        return {};
    }
    if (wanted.isListLike()) {
        if (!found.isListLike() || found.items().size() != wanted.items().size())
            return QString::fromStdString("is " + found.typeText() + " instead of " + wanted.typeText());
        for (std::size_t i = 0; i < wanted.items().size(); ++i) {
            if (const QString text = difference(found.items()[i], wanted.items()[i], tolerance); !text.isEmpty())
                return QString("item %1 ").arg(i) + text;
        }
        return {};
    }
    if (wanted.isNumber() && found.isNumber() && close(found.number(), wanted.number(), tolerance)) return {};
    return QString::fromStdString("is " + found.text() + " instead of " + wanted.text());
}

/// Nothing, or how what was inferred contradicts what a run gave. Whatever is not known agrees.
inline QString contradiction(const tensor::TypeInfo& inferred, const tensor::Value& real) {
    if (inferred.kind && *inferred.kind != real.kind())
        return QString::fromStdString("inferred " + inferred.text() + " but it is " + real.typeText());
    if (!real.isTensor() || !inferred.isTensor()) return {};
    const tensor::Tensor& tensor = real.tensor();
    bool agrees = inferred.dtype == tensor::DType::Undefined || inferred.dtype == tensor.dtype();
    if (inferred.shape) {
        agrees = agrees && inferred.shape->size() == tensor.rank();
        for (std::size_t i = 0; agrees && i < tensor.rank(); ++i)
            agrees = !(*inferred.shape)[i].known() || (*inferred.shape)[i].value == tensor.dim(i);
    }
    return agrees ? QString()
                  : QString::fromStdString("inferred " + inferred.text() + " but it is " + tensor.typeText());
}

}  // namespace sonde::test
