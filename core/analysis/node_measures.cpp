#include "core/analysis/node_measures.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;

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

std::vector<std::int64_t> parameterCounts(const graph::InternalGraph& graph) {
    std::vector<std::int64_t> counts(graph.exprCount(), 0);
    std::vector<bool> counted(graph.nodeCount(), false);
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        for (const NodeId input : graph.expr(id).inputs) {
            const Expr& producer = graph.expr(graph.node(input).producer);
            if (!producer.isParameter || counted[input.index()]) continue;
            counted[input.index()] = true;
            counts[id.index()] += elementCount(graph.node(input)).value_or(0);
        }
    }
    return counts;
}

}  // namespace sonde::analysis
