#include "core/graph/same_weight.h"

namespace sonde::graph {

using tensor::Tensor;

std::vector<NodeId> sameWeight(const InternalGraph& graph, NodeId constant) {
    std::vector<NodeId> nodes{constant};
    const tensor::Value& value = *graph.node(constant).constant;
    if (!value.isTensor() || !graph.expr(graph.node(constant).producer).isParameter) return nodes;
    const Tensor& tensor = value.tensor();
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& other = graph.node(NodeId(i));
        if (other.id == constant || !other.constant || !other.constant->isTensor() || graph.isErased(other.producer))
            continue;
        const Tensor& same = other.constant->tensor();
        if (same.storage() == tensor.storage() && same.offsetElements() == tensor.offsetElements() &&
            same.dtype() == tensor.dtype() && same.shape() == tensor.shape() && same.strides() == tensor.strides())
            nodes.push_back(other.id);
    }
    return nodes;
}

}  // namespace sonde::graph
