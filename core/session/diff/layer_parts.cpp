#include "core/session/diff/layer_parts.h"

#include <algorithm>
#include <optional>

#include "core/analysis/folded_layers.h"
#include "core/graph/traits.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;
using operators::OpClass;
using operators::Trait;

namespace {

constexpr std::size_t kMaxParts = 64;  ///< of one layer

/// The operation that alone reads the elements of a result; others may ask for its shape.
std::optional<ExprId> onlyReader(const GraphSide& side, ExprId id) {
    std::optional<ExprId> reader;
    for (const NodeId output : side.graph.expr(id).outputs)
        for (const ExprId user : side.users[output.index()]) {
            if (graph::traitsOf(side.graph.expr(user)).query != operators::ShapeQuery::None || reader == user) continue;
            if (reader) return std::nullopt;
            reader = user;
        }
    return reader;
}

}  // namespace

std::pair<ExprId, ExprId> sameResults(const GraphSide& a, ExprId ours, const GraphSide& b, ExprId theirs) {
    const Expr &first = a.graph.expr(ours), &second = b.graph.expr(theirs);
    if (!isLayerWithWeights(first) || !isLayerWithWeights(second) || first.outputs.empty() || second.outputs.empty())
        return {ours, theirs};
    const auto [x, y] = analysis::equalResults(a.graph, first.outputs.front(), b.graph, second.outputs.front());
    const auto operation = [](const GraphSide& side, NodeId node, ExprId own) {
        const ExprId id = side.graph.node(side.origin[node.index()]).producer;
        return id == own || isValueExpr(side.graph.expr(id)) || side.isMatched(id) ? own : id;
    };
    return {operation(a, x, ours), operation(b, y, theirs)};
}

void markParts(GraphSide& side, ExprId first, ExprId whole) {
    std::vector<ExprId> parts;
    for (ExprId at = first; at != whole;) {
        parts.push_back(at);
        const auto next = onlyReader(side, at);
        if (!next || parts.size() > kMaxParts) return;
        at = *next;
    }
    for (const ExprId part : parts)
        if (!side.isMatched(part)) side.partOf[part.index()] = whole;
}

void markFoldedParts(GraphSide& a, ExprId ours, GraphSide& b, ExprId theirs) {
    const bool isOurLayer = isLayerWithWeights(a.graph.expr(ours));
    if (isOurLayer == isLayerWithWeights(b.graph.expr(theirs))) return;
    GraphSide& side = isOurLayer ? b : a;
    const ExprId whole = isOurLayer ? theirs : ours;
    ExprId at = whole;
    for (std::size_t step = 0; step < kMaxParts && side.isAffine(at); ++step) {
        at = side.producer(side.computedInputsOf(at).front());
        if (isValueExpr(side.graph.expr(at)) || side.isMatched(at)) return;
        if (isLayerWithWeights(side.graph.expr(at))) return markParts(side, at, whole);
    }
}

std::vector<NodeId> readByLayer(const GraphSide& side, ExprId id) {
    ExprId at = id;
    for (std::size_t step = 0; step < kMaxParts; ++step) {
        const std::vector<NodeId> inputs = side.computedInputsOf(at);
        const auto part =
            std::ranges::find_if(inputs, [&](NodeId input) { return side.partOf[side.producer(input).index()] == id; });
        if (part == inputs.end()) return inputs;
        at = side.producer(*part);
    }
    return {};
}

bool haveAsManyOperands(const GraphSide& a, ExprId ours, const GraphSide& b, ExprId theirs) {
    const operators::Traits &own = graph::traitsOf(a.graph.expr(ours)), &other = graph::traitsOf(b.graph.expr(theirs));
    if (own.opClass != other.opClass || !own.is(Trait::Broadcasts) || !other.is(Trait::Broadcasts)) return true;
    return a.computedInputsOf(ours).size() == b.computedInputsOf(theirs).size();
}

}  // namespace sonde::session::diff
