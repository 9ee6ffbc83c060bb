#include "core/session/diff/quantised_model.h"

#include "core/exec/flatten.h"
#include "core/graph/traits.h"
#include "core/session/diff/graph_pairs.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using precision::Counterparts;

namespace {

/// The node that others read in place of one, if it is quantised and dequantised at once and nobody reads it directly.
NodeId dequantised(const InternalGraph& graph, NodeId node) {
    NodeId found;
    if (graph.node(node).users.empty()) return node;
    for (const ExprId user : graph.node(node).users) {
        const Expr& quantise = graph.expr(user);
        if (quantise.outputs.size() != 1) return node;
        for (const ExprId next : graph.node(quantise.outputs.front()).users) {
            const Expr& back = graph.expr(next);
            const bool isBack = graph::traitsOf(back).opClass == OpClass::Dequantize && back.outputs.size() == 1 &&
                                !back.inputs.empty() && back.inputs.front() == quantise.outputs.front();
            if (!isBack) return node;
            found = back.outputs.front();
        }
    }
    return found.valid() ? found : node;
}

Counterparts pairedNodes(const InternalGraph& plain, const InternalGraph& other, const base::WorkContext& work) {
    const GraphPairs pairs = pairOperations(plain, other, work);
    Counterparts counterparts;
    for (std::size_t i = 0; i < pairs.ofFirst.size(); ++i) {
        if (!pairs.ofFirst[i].valid() || plain.isErased(ExprId(i)) || exec::isCall(plain.expr(ExprId(i)))) continue;
        const auto &ours = plain.expr(ExprId(i)).outputs, &theirs = other.expr(pairs.ofFirst[i]).outputs;
        for (std::size_t k = 0; k < ours.size() && k < theirs.size(); ++k) {
            const NodeId read = dequantised(other, theirs[k]);
            const graph::Node& node = other.node(read);
            counterparts[node.producer].push_back({ours[k], node.outputIndex});
        }
    }
    return counterparts;
}

}  // namespace

base::Result<precision::Report> measureQuantised(const document::Document& document,
                                                 const document::Document& quantised, const precision::Request& request,
                                                 const base::WorkContext& work) {
    if (document.inputs.size() != quantised.inputs.size())
        return base::usageError("the models have " + std::to_string(document.inputs.size()) + " and " +
                                    std::to_string(quantised.inputs.size()) + " inputs",
                                quantised.location);
    work.report("matching nodes");
    return precision::measureRuns(document.graph, quantised.graph, pairedNodes(*document.graph, *quantised.graph, work),
                                  {}, request, work);
}

}  // namespace sonde::session
