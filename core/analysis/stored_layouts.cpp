#include "core/analysis/stored_layouts.h"

#include <algorithm>
#include <vector>

#include "core/ops/support/packing.h"

namespace sonde::analysis {

using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Shape;
using tensor::Tensor;

namespace {

constexpr std::string_view kOwnDomain = "sonde";

std::optional<std::size_t> rankOf(const InternalGraph& graph, NodeId node) {
    const auto& shape = graph.node(node).type.shape;
    return shape ? std::optional(shape->size()) : std::nullopt;
}

/// The plain form of a value: dimensions, those of padding included.
std::optional<Shape> plainShape(const Tensor& tensor, const std::optional<ops::Packing>& packing) {
    if (!packing) return tensor.shape();
    auto shape = packing->plainShape(tensor.shape(), {});
    return shape ? std::optional(std::move(*shape)) : std::nullopt;
}

std::optional<Tensor> plain(const Tensor& tensor, const std::optional<ops::Packing>& packing, const Shape& shape) {
    if (!packing) return tensor.shape() == shape ? std::optional(tensor) : std::nullopt;
    const auto stored = packing->packedShape(shape);
    if (!stored || *stored != tensor.shape()) return std::nullopt;
    auto unpacked = packing->unpack(tensor, std::vector<std::int64_t>(shape.begin(), shape.end()));
    return unpacked ? std::optional(std::move(*unpacked)) : std::nullopt;
}

std::optional<ops::Packing> parsed(const std::string& text) {
    if (text.empty()) return std::nullopt;
    auto packing = ops::Packing::parse(text);
    return packing ? std::optional(std::move(*packing)) : std::nullopt;
}

}  // namespace

StoredLayouts::StoredLayouts(const InternalGraph& graph) {
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.outputs.size() != 1) continue;
        std::string packing;
        if (expr.op.domain == kOwnDomain) {
            packing = expr.attributes.getString("y_packing", "");
            if (packing.empty() && expr.attributes.getInt("back", 0) == 0)
                packing = expr.attributes.getString("packing", "");
        } else {
            // Operators that know nothing of blocks are done on them where that makes no difference.
            for (const NodeId input : expr.inputs)
                if (const std::string& of = this->of(input);
                    !of.empty() && rankOf(graph, input) && rankOf(graph, input) == rankOf(graph, expr.outputs.front()))
                    packing = of;
        }
        if (!packing.empty()) m_packings.emplace(expr.outputs.front(), std::move(packing));
    }
}

const std::string& StoredLayouts::of(NodeId node) const {
    static const std::string plain;
    const auto found = m_packings.find(node);
    return found == m_packings.end() ? plain : found->second;
}

std::optional<std::pair<Tensor, Tensor>> inOneLayout(const Tensor& a, const std::string& packingOfA, const Tensor& b,
                                                     const std::string& packingOfB) {
    if (packingOfA == packingOfB) return std::nullopt;
    const std::optional<ops::Packing> ofA = parsed(packingOfA), ofB = parsed(packingOfB);
    const std::optional<Shape> shapeOfA = plainShape(a, ofA), shapeOfB = plainShape(b, ofB);
    if (!shapeOfA || !shapeOfB || shapeOfA->rank() != shapeOfB->rank()) return std::nullopt;
    Shape shape = *shapeOfA;  // without the padding of either
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) shape[axis] = std::min(shape[axis], (*shapeOfB)[axis]);
    auto plainA = plain(a, ofA, shape), plainB = plain(b, ofB, shape);
    if (!plainA || !plainB) return std::nullopt;
    return std::pair(std::move(*plainA), std::move(*plainB));
}

}  // namespace sonde::analysis
