#include "core/graph/replace_constant.h"

namespace sonde::graph {

void replaceConstant(InternalGraph& graph, NodeId node, tensor::Value value) {
    graph.setConstant(node, std::move(value));
    Expr& producer = graph.mutableExpr(graph.node(node).producer);
    producer.op = {};
    producer.attributes = {};
}

}  // namespace sonde::graph
