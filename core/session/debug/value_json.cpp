#include "core/session/debug/value_json.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/analysis/tensor_stats.h"
#include "core/io/json/number_json.h"

namespace sonde::session::debug {

using io::finiteOrText;
using nlohmann::ordered_json;
using tensor::DType;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

namespace {

constexpr int kMaxNesting = 64;

ordered_json element(const Tensor& tensor, std::int64_t index) {
    if (tensor.dtype() == DType::Bool) return tensor.toInt64(index) != 0;
    if (tensor.dtype() == DType::UInt64) return static_cast<std::uint64_t>(tensor.toInt64(index));
    if (tensor::isInteger(tensor.dtype())) return tensor.toInt64(index);
    if (tensor::isFloating(tensor.dtype())) return finiteOrText(tensor.toDouble(index));
    return tensor.elementText(index, 17);
}

/// One axis of a tensor, from its element `index` on.
ordered_json nested(const Tensor& tensor, std::size_t axis, std::int64_t& index) {
    if (axis == tensor.rank()) return element(tensor, index++);
    ordered_json list = ordered_json::array();
    for (std::int64_t i = 0; i < tensor.dim(axis); ++i) list.push_back(nested(tensor, axis + 1, index));
    return list;
}

ordered_json json(const Value& value, int depth) {
    if (depth > kMaxNesting) return value.text();
    ordered_json list = ordered_json::array();
    switch (value.kind()) {
        case ValueKind::None: return nullptr;
        case ValueKind::Int: return value.toInt();
        case ValueKind::Float: return finiteOrText(value.toFloat());
        case ValueKind::Bool: return value.toBool();
        case ValueKind::String: return value.toString();
        case ValueKind::Tensor: {
            std::int64_t index = 0;
            if (value.tensor().numel() <= kMaxShown) return nested(value.tensor(), 0, index);
            for (; index < kShownOfMany; ++index) list.push_back(element(value.tensor(), index));
            return list;
        }
        case ValueKind::Dict:
            for (const auto& [key, item] : value.dictItems())
                list.push_back({json(key, depth + 1), json(item, depth + 1)});
            return list;
        case ValueKind::Object: return value.text();
        default: break;
    }
    for (const Value& item : value.items()) list.push_back(json(item, depth + 1));
    return list;
}

}  // namespace

void addValue(ordered_json& answer, const Value& value) {
    answer["value"] = json(value, 0);
    if (!value.isTensor()) {
        answer["type"] = value.typeText();
        return;
    }
    answer["dtype"] = tensor::name(value.tensor().dtype());
    answer["shape"] = ordered_json::array();
    for (std::size_t i = 0; i < value.tensor().rank(); ++i) answer["shape"].push_back(value.tensor().dim(i));
    if (value.tensor().numel() > kMaxShown) answer["truncated"] = true;
}

ordered_json statsJson(const Tensor& tensor) {
    const analysis::TensorStats stats = analysis::tensorStats(tensor);
    const bool isEmpty = stats.finiteCount() == 0 || tensor.dtype() == DType::String;
    const auto finite = [&](double value) { return isEmpty ? ordered_json() : finiteOrText(value); };
    ordered_json shape = ordered_json::array();
    for (std::size_t i = 0; i < tensor.rank(); ++i) shape.push_back(tensor.dim(i));
    return {{"min", finite(stats.minimum)}, {"max", finite(stats.maximum)},
            {"mean", finite(stats.mean)},   {"std", finite(stats.deviation)},
            {"nan", stats.nanCount},        {"inf", stats.infCount},
            {"zero", stats.zeroCount},      {"dtype", tensor::name(tensor.dtype())},
            {"shape", std::move(shape)}};
}

}  // namespace sonde::session::debug
