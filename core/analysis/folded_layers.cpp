#include "core/analysis/folded_layers.h"

#include <algorithm>
#include <vector>

#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using operators::Trait;

namespace {

constexpr std::size_t kMaxFolded = 8;  // operations behind one layer

bool isParameter(const InternalGraph& graph, NodeId node) {
    const ExprKind kind = graph.expr(graph.node(node).producer).kind;
    return kind == ExprKind::Constant || kind == ExprKind::GetAttr;
}

/// What is computed: the expr itself, or of a called module what makes its result.
const Expr& operationOf(const InternalGraph& graph, const Expr& expr) {
    if (!expr.op.name.empty() || expr.bodies.size() != 1) return expr;
    const std::vector<NodeId>& results = graph.body(expr.bodies.front()).outputs;
    return results.size() == 1 ? graph.expr(graph.node(results.front()).producer) : expr;
}

bool isLayer(const Expr& operation) {
    const operators::Traits& traits = graph::traitsOf(operation);
    return traits.is(Trait::Convolves) || traits.is(Trait::Multiplies);
}

/// y = x·scale + shift with constants.
bool isFoldable(const InternalGraph& graph, const Expr& operation) {
    switch (graph::traitsOf(operation).opClass) {
        case OpClass::BatchNorm:
        case OpClass::Add:
        case OpClass::Sub:
        case OpClass::ReverseSub:
        case OpClass::Mul:
        case OpClass::Div: break;
        default: return false;
    }
    return operation.outputs.size() == 1 &&
           std::ranges::count_if(operation.inputs, [&](NodeId input) { return !isParameter(graph, input); }) == 1;
}

/// What could be folded into a layer, in order.
struct Folded {
    std::vector<OpClass> classes;
    std::vector<NodeId> results;
};

/// The result of a called module is that of the call.
NodeId outsideOfCall(const InternalGraph& graph, NodeId node) {
    const graph::Body& body = graph.body(graph.expr(graph.node(node).producer).body);
    if (!body.owner.valid() || body.outputs != std::vector{node}) return node;
    const Expr& owner = graph.expr(body.owner);
    return owner.op.name.empty() && owner.bodies.size() == 1 && owner.outputs.size() == 1 ? owner.outputs.front()
                                                                                          : node;
}

Folded foldableBehind(const InternalGraph& graph, NodeId node) {
    Folded found;
    node = outsideOfCall(graph, node);
    while (found.results.size() < kMaxFolded) {
        const auto& users = graph.node(node).users;
        if (users.size() != 1) break;
        const Expr& user = graph.expr(users.front());
        const Expr& operation = operationOf(graph, user);
        if (user.body != graph.expr(graph.node(node).producer).body || user.outputs.size() != 1 ||
            !isFoldable(graph, operation))
            break;
        node = user.outputs.front();
        found.classes.push_back(graph::traitsOf(operation).opClass);
        found.results.push_back(node);
    }
    return found;
}

std::vector<const tensor::Value*> parametersOf(const InternalGraph& graph, const Expr& operation) {
    std::vector<const tensor::Value*> values;
    for (const NodeId input : operation.inputs)
        if (const auto& constant = graph.node(input).constant; constant && !constant->isNone())
            values.push_back(&*constant);
    return values;
}

/// Nothing was folded into a layer that has the weight and bias of the other one.
bool haveSameParameters(const InternalGraph& from, const Expr& ours, const InternalGraph& to, const Expr& theirs) {
    const auto a = parametersOf(from, ours), b = parametersOf(to, theirs);
    return std::ranges::equal(a, b, [](const tensor::Value* one, const tensor::Value* other) {
        return one == other || tensor::identical(*one, *other);
    });
}

/// Whether a list ends in another one, which is shorter.
bool endsIn(const std::vector<OpClass>& list, const std::vector<OpClass>& end) {
    return list.size() > end.size() && std::equal(end.rbegin(), end.rend(), list.rbegin());
}

}  // namespace

std::pair<NodeId, NodeId> equalResults(const InternalGraph& from, NodeId ours, const InternalGraph& to, NodeId theirs) {
    const std::pair<NodeId, NodeId> own{ours, theirs};
    const Expr& a = operationOf(from, from.expr(from.node(ours).producer));
    const Expr& b = operationOf(to, to.expr(to.node(theirs).producer));
    if (!isLayer(a) || !isLayer(b)) return own;
    const Folded behindOurs = foldableBehind(from, ours), behindTheirs = foldableBehind(to, theirs);
    const bool areTheirsFolded = endsIn(behindOurs.classes, behindTheirs.classes);
    if (!areTheirsFolded && !endsIn(behindTheirs.classes, behindOurs.classes)) return own;
    if (haveSameParameters(from, a, to, b)) return own;
    const std::size_t more = areTheirsFolded ? behindOurs.results.size() - behindTheirs.results.size()
                                             : behindTheirs.results.size() - behindOurs.results.size();
    return areTheirsFolded ? std::pair(behindOurs.results[more - 1], theirs)
                           : std::pair(ours, behindTheirs.results[more - 1]);
}

}  // namespace sonde::analysis
