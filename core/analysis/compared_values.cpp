#include "core/analysis/compared_values.h"

#include <algorithm>

namespace sonde::analysis {

using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

Tensor vectorOf(std::span<const double> values) {
    return Tensor::of<double>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

bool ComparedCase::ok() const { return !error && !firstDiverging(); }

const ComparedValue* ComparedCase::firstDiverging() const {
    const auto found = std::find_if(values.begin(), values.end(), [](const ComparedValue& value) { return !value.ok; });
    return found == values.end() ? nullptr : &*found;
}

std::optional<Tensor> asTensor(const Value& value) {
    switch (value.kind()) {
        case ValueKind::Tensor: return value.tensor();
        case ValueKind::Int: return Tensor::scalar<std::int64_t>(value.toInt());
        case ValueKind::Float: return Tensor::scalar<double>(value.toFloat());
        case ValueKind::Bool: return Tensor::scalar<bool>(value.toBool());
        case ValueKind::List:
        case ValueKind::Tuple: {
            std::vector<double> numbers;
            for (const Value& item : value.items()) {
                if (!item.isNumber()) return std::nullopt;
                numbers.push_back(item.number());
            }
            return vectorOf(numbers);
        }
        default: return std::nullopt;
    }
}

}  // namespace sonde::analysis
