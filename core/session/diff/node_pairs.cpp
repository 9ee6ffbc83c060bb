#include "core/session/diff/node_pairs.h"

#include <unordered_map>

#include "core/session/diff/graph_side.h"

namespace sonde::session {

using diff::FlatGraph;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// What the outermost call around an operation gives of it, by the operation's own result.
std::unordered_map<NodeId, NodeId> callResults(const FlatGraph& flat) {
    std::unordered_map<NodeId, NodeId> results;
    for (const ExprId id : flat.graph.recursiveOrder(flat.graph.mainId())) {
        const graph::Expr& expr = flat.graph.expr(id);
        if (!diff::isCallWithBody(expr)) continue;
        for (const NodeId output : expr.outputs)
            if (flat.origin[output.index()] != output) results.try_emplace(flat.origin[output.index()], output);
    }
    return results;
}

std::vector<NodeId> counterparts(const FlatGraph& own, const FlatGraph& other, const std::vector<ExprId>& match) {
    std::vector<NodeId> found(own.graph.nodeCount());
    const auto callsOfOther = callResults(other);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const NodeId node(i);
        if (own.graph.isErased(own.graph.node(node).producer)) continue;
        const NodeId origin = own.origin[i];
        const ExprId id = own.graph.node(origin).producer;
        if (!id.valid() || id.index() >= match.size() || !match[id.index()].valid()) continue;
        const auto& outputs = other.graph.expr(match[id.index()]).outputs;
        const std::uint32_t index = own.graph.node(origin).outputIndex;
        if (index >= outputs.size()) continue;
        found[i] = outputs[index];
        if (origin == node) continue;
        if (const auto call = callsOfOther.find(outputs[index]); call != callsOfOther.end()) found[i] = call->second;
    }
    const auto &inputs = own.graph.inputs(), &others = other.graph.inputs();
    for (std::size_t i = 0; i < inputs.size() && i < others.size(); ++i) found[inputs[i].index()] = others[i];
    return found;
}

}  // namespace

NodePairs nodePairs(const InternalGraph& first, const InternalGraph& second, const GraphPairs& pairs,
                    const ParameterDiff& parameters) {
    const bool isPlain = !pairs.isOneVocabulary;
    const FlatGraph a(first, isPlain), b(second, isPlain);
    NodePairs found{counterparts(a, b, pairs.ofFirst), counterparts(b, a, pairs.ofSecond)};
    for (const auto& [ours, theirs] : parameters.pairs) {
        found.ofFirst[ours.index()] = theirs;
        found.ofSecond[theirs.index()] = ours;
    }
    return found;
}

}  // namespace sonde::session
