// Weights, buffers and constants: one tensor, however often and in whatever body it is read.

#include "core/graph/stored_tensor.h"
#include "core/passes/inplace_walk.h"

namespace sonde::passes {

namespace {

/// The memory of two tensors that share a storage meets.
bool overlap(const Tensor& a, const Tensor& b) {
    const auto range = [](const Tensor& tensor) {
        std::int64_t low = tensor.offsetElements(), high = low;
        for (std::size_t d = 0; d < tensor.rank(); ++d) {
            const std::int64_t reach = (tensor.dim(d) - 1) * tensor.strides()[d];
            (reach < 0 ? low : high) += reach;
        }
        const auto item = static_cast<std::int64_t>(tensor::itemSize(tensor.dtype()));
        return std::pair(low * item, (high + 1) * item);
    };
    const auto first = range(a), second = range(b);
    return first.first < second.second && second.first < first.second;
}

}  // namespace

/// Attributes are one tensor by their path, or if they are the same memory.
std::string InplaceWalk::attributeKey(const Frame& main, const Expr& expr) const {
    if (const Tensor* tensor = storedTensor(m_graph, expr.outputs.front())) {
        for (const auto& [key, object] : main.attributes) {
            const Tensor* other = storedTensor(m_graph, main.memory.place(main.memory.placeOf(object)).original);
            const bool isSame = other && other->storage() == tensor->storage() &&
                                other->offsetElements() == tensor->offsetElements() &&
                                other->shape() == tensor->shape() && other->strides() == tensor->strides() &&
                                other->dtype() == tensor->dtype();
            if (isSame) return key;
        }
    }
    return expr.kind == ExprKind::GetAttr ? expr.target : "#" + std::to_string(expr.id.value);
}

/// Every read of one attribute is the same tensor, in whatever body.
base::Result<void> InplaceWalk::takeAttribute(Frame& frame, ExprId id) {
    const Frame* main = &frame;
    while (main->outer) main = main->outer;
    SONDE_ASSIGN(const Id object, attributeObject(frame, attributeKey(*main, m_graph.expr(id)), id));
    frame.memory.addName(m_graph.expr(id).outputs.front(), object);
    return {};
}

base::Result<InplaceWalk::Id> InplaceWalk::attributeObject(Frame& frame, const std::string& key, ExprId id) {
    const NodeId node = m_graph.expr(id).outputs.front();
    if (frame.outer) {
        SONDE_ASSIGN(const Id outer, attributeObject(*frame.outer, key, id));
        return addEntry(frame, outer, node, false);
    }
    if (const auto known = frame.attributes.find(key); known != frame.attributes.end()) return known->second;
    const Id object = frame.memory.addFresh(node, id);
    const Tensor* tensor = storedTensor(m_graph, node);
    frame.memory.place(frame.memory.placeOf(object)).isPacked = !tensor || tensor->isContiguous();
    for (const auto& [otherKey, other] : frame.attributes) {
        const Tensor* memory = storedTensor(m_graph, frame.memory.place(frame.memory.placeOf(other)).original);
        if (!tensor || !memory || memory->storage() != tensor->storage() || !overlap(*memory, *tensor)) continue;
        frame.memory.link(frame.memory.storageIdOfObject(object), frame.memory.storageIdOfObject(other));
    }
    return frame.attributes[key] = object;
}

}  // namespace sonde::passes
