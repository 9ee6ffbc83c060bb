#include "core/analysis/node_measures.h"

namespace sonde::analysis {

std::optional<std::int64_t> elementCount(const graph::Node& node, const tensor::Value* value) {
    if (!value && node.constant) value = &*node.constant;
    if (value) return value->isTensor() ? std::optional(value->tensor().shape().numel()) : std::nullopt;
    const std::optional<tensor::Shape> shape = node.type.staticShape();
    return shape ? shape->checkedNumel() : std::nullopt;
}

std::optional<std::int64_t> byteCount(const graph::Node& node, const tensor::Value* value) {
    const std::optional<std::int64_t> elements = elementCount(node, value);
    if (!value && node.constant) value = &*node.constant;
    const tensor::DType dtype = value && value->isTensor() ? value->tensor().dtype() : node.type.dtype;
    if (!elements || dtype == tensor::DType::Undefined) return std::nullopt;
    const auto size = static_cast<std::int64_t>(tensor::itemSize(dtype));
    if (size > 0 && *elements > INT64_MAX / size) return std::nullopt;
    return *elements * size;
}

}  // namespace sonde::analysis
