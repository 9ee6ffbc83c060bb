#include "core/analysis/compared_values.h"

#include <algorithm>
#include <unordered_map>

namespace sonde::analysis {

using tensor::DType;
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

std::string ComparedValue::pairingText() const {
    return outputByPosition.empty() ? std::string() : "compared with output " + outputByPosition + " (by position)";
}

std::string ComparedValue::typeText() const { return differentTypes(dtype, expectedType); }

std::string differentTypes(DType actual, DType expected) {
    if (actual == expected || actual == DType::Undefined || expected == DType::Undefined) return {};
    return std::string(tensor::name(expected)) + " in the reference, " + std::string(tensor::name(actual)) +
           " in the model";
}

std::string listOfKeys(const std::vector<std::string>& keys) {
    constexpr std::size_t kMaxListed = 8;
    const std::size_t listed = std::min(keys.size(), kMaxListed);
    std::string text;
    for (std::size_t i = 0; i < listed; ++i) text += (i ? ", " : "") + keys[i];
    return listed == keys.size() ? text : text + " and " + std::to_string(keys.size() - listed) + " more";
}

namespace {

/// x.shape, x.stats and x.head say something of one value, x. One of these alone may be a name.
std::vector<std::string> withoutSummarySuffixes(const std::vector<std::string>& keys) {
    const auto valueOf = [](const std::string& key) {
        for (const std::string_view suffix : {".shape", ".stats", ".head"})
            if (key.ends_with(suffix)) return key.substr(0, key.size() - suffix.size());
        return key;
    };
    std::unordered_map<std::string, std::size_t> count;
    for (const std::string& key : keys) ++count[valueOf(key)];
    std::vector<std::string> values;
    for (const std::string& key : keys) {
        const std::string value = valueOf(key);
        const auto found = count.find(value);
        if (found == count.end()) continue;  // counted
        values.push_back(found->second == 1 ? key : value);
        count.erase(found);
    }
    return values;
}

}  // namespace

std::string unmatchedText(const std::vector<std::string>& keys) {
    if (keys.empty()) return {};
    const std::vector<std::string> values = withoutSummarySuffixes(keys);
    return std::to_string(values.size()) + (values.size() == 1 ? " reference value has" : " reference values have") +
           " no counterpart in the model: " + listOfKeys(values);
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
