#include "core/session/diff/module_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/traits.h"

namespace sonde::session::diff {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::Trait;

namespace {

std::string parentOf(const std::string& module) {
    const std::size_t dot = module.rfind('.');
    return dot == std::string::npos ? std::string() : module.substr(0, dot);
}

bool isNorm(const Expr& expr) { return graph::traitsOf(expr).opClass == operators::OpClass::BatchNorm; }

/// What is in a module and those below it.
struct Inside {
    std::size_t operations = 0, pairs = 0, products = 0, openProducts = 0, attentions = 0;

    /// One operation does what the module does: attention with its projections.
    bool isFused() const { return attentions > 0 && attentions == operations; }
    bool mayBe(const Inside& other) const {
        if (isFused() != other.isFused()) return true;
        return pairs > 0 && other.pairs > 0 &&
               (products == other.products || (openProducts == 0) == (other.openProducts == 0));
    }
};
using Insides = std::map<std::string, Inside>;

Insides insidesOf(const GraphSide& side) {
    Insides insides;
    const std::set<graph::BodyId> branches = ownBranches(side);
    for (const ExprId id : side.order)
        for (std::string module = moduleOf(side.graph, id); !module.empty(); module = parentOf(module)) {
            Inside& inside = insides[module];
            const bool isMatched = side.isMatched(id),
                       isOne = isProduct(side.graph.expr(id)) && !branches.contains(side.graph.expr(id).body);
            ++inside.operations;
            inside.attentions += graph::traitsOf(side.graph.expr(id)).is(Trait::Attends) ? 1 : 0;
            inside.pairs += isMatched ? 1 : 0;
            inside.products += isOne ? 1 : 0;
            inside.openProducts += isOne && !isMatched ? 1 : 0;
        }
    return insides;
}

/// A product and the normalisation behind it, which the other file has as one: either has the counterpart.
bool isFolded(const GraphSide& side, ExprId id) {
    const Expr& expr = side.graph.expr(id);
    const std::vector<NodeId> inputs = side.inputsOf(id);
    if (isNorm(expr) && !inputs.empty()) {
        const ExprId before = side.producer(inputs.front());
        return isProduct(side.graph.expr(before)) && side.isMatched(before);
    }
    if (!isProduct(expr) || expr.outputs.empty()) return false;
    const std::vector<ExprId>& users = side.users[expr.outputs.front().index()];
    return std::ranges::any_of(users,
                               [&](ExprId user) { return isNorm(side.graph.expr(user)) && side.isMatched(user); });
}

}  // namespace

std::string moduleOf(const InternalGraph& graph, ExprId id) {
    const Expr& expr = graph.expr(id);
    const bool isFound = expr.scope.valid() && graph.scope(expr.scope).inferred;
    return isFound ? std::string() : expr.qualname.value_or("");
}

std::set<graph::BodyId> ownBranches(const GraphSide& side) {
    std::set<graph::BodyId> own, shared;
    for (const ExprId id : side.order) {
        graph::BodyId body = side.graph.expr(id).body;
        const bool isMatched = side.isMatched(id);
        for (ExprId owner = side.graph.body(body).owner; owner.valid(); owner = side.graph.body(body).owner) {
            if (!isCallWithBody(side.graph.expr(owner))) (isMatched ? shared : own).insert(body);
            body = side.graph.expr(owner).body;
        }
    }
    for (const graph::BodyId body : shared) own.erase(body);
    return own;
}

bool isProduct(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    return traits.is(Trait::Convolves) || traits.is(Trait::Multiplies) || traits.is(Trait::Attends);
}

std::vector<bool> inPairedModules(const GraphSide& side, const GraphSide& other) {
    const Insides own = insidesOf(side), others = insidesOf(other);
    std::vector<bool> found(side.graph.exprCount(), false);
    for (const ExprId id : side.order) {
        if (side.isMatched(id)) continue;
        std::string module = moduleOf(side.graph, id);
        while (!module.empty() && !others.contains(module)) module = parentOf(module);
        const bool isKnown = !module.empty() && own.at(module).mayBe(others.at(module));
        found[id.index()] = isKnown || isFolded(side, id);
    }
    return found;
}

}  // namespace sonde::session::diff
