#pragma once

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"

namespace sonde::test {

/// What numpy and torch say (tests/data/weights/generate.py).
inline QJsonObject weightCases() {
    QFile file(QStringLiteral(SONDE_TEST_DATA "/weights/cases.json"));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

/// The elements of generated cases, as generate.py's numbers() has them.
inline std::vector<double> generatedNumbers(std::size_t count, std::uint64_t seed, bool cubed = false) {
    std::vector<double> values;
    std::uint64_t state = seed;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const double x = static_cast<double>(state >> 40) / 8388608 - 1;
        values.push_back(cubed ? x * x * x : x);
    }
    return values;
}

inline tensor::Tensor weightOf(const std::vector<double>& values, tensor::Shape shape,
                               tensor::DType dtype = tensor::DType::Float32) {
    return tensor::Tensor::of<double>(std::move(shape), values).cast(dtype).value();
}

inline std::vector<double> numbersIn(const QJsonValue& array) {
    std::vector<double> numbers;
    for (const QJsonValue& value : array.toArray())
        numbers.push_back(value.isNull()                                ? NAN
                          : value == QJsonValue(QStringLiteral("inf"))  ? INFINITY
                          : value == QJsonValue(QStringLiteral("-inf")) ? -INFINITY
                                                                        : value.toDouble());
    return numbers;
}

inline bool isNear(double a, double b, double tolerance = 1e-9) {
    return a == b || std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

}  // namespace sonde::test
