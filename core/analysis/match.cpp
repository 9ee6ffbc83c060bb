#include "core/analysis/match.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analysis/folded_layers.h"
#include "core/graph/guard.h"
#include "core/graph/traits.h"
#include "core/tensor/type_info.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

/// Where a value stands in its model, without its name.
using Place = std::tuple<std::string, std::string, std::string, std::size_t>;

const Expr& producerOf(const InternalGraph& graph, NodeId node) { return graph.expr(graph.node(node).producer); }

/// What the operation is, comparable between graphs: a call of a module is known by the module's class.
std::string what(const Expr& expr) { return expr.op.name.empty() ? expr.moduleClass : expr.op.name; }

std::vector<NodeId> nodesOf(const InternalGraph& graph) {
    std::vector<NodeId> nodes;
    for (const ExprId id : graph.recursiveOrder(graph.mainId()))
        for (const NodeId output : graph.expr(id).outputs) nodes.push_back(output);
    return nodes;
}

std::map<Place, std::vector<NodeId>> byPlace(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
    std::map<Place, std::vector<NodeId>> places;
    for (const NodeId node : nodes) {
        const Expr& expr = producerOf(graph, node);
        if (!expr.qualname || expr.kind == graph::ExprKind::Input) continue;
        places[{*expr.qualname, what(expr), expr.op.domain, graph.node(node).outputIndex}].push_back(node);
    }
    return places;
}

using Call = std::pair<std::string, int>;

/// A call that wrote its result in place as well has it once more for each value that it wrote to (remove-inplace).
bool hasOneResult(const InternalGraph& graph, const Expr& expr) {
    if (expr.outputs.size() == 1) return true;
    if (expr.outputs.empty() || expr.kind != graph::ExprKind::CallModule || expr.bodies.size() != 1) return false;
    const std::vector<NodeId>& results = graph.body(expr.bodies.front()).outputs;
    return results.size() == expr.outputs.size() &&
           std::ranges::all_of(results, [&](NodeId result) { return result == results.front(); });
}

/// Whether an operation computes one value, the first of its outputs.
bool isComputed(const InternalGraph& graph, const Expr& expr) {
    return expr.kind != graph::ExprKind::Input && expr.kind != graph::ExprKind::Constant &&
           expr.kind != graph::ExprKind::GetAttr && expr.kind != graph::ExprKind::Output && hasOneResult(graph, expr);
}

/// What each call of a module gives: the one of the values it computes itself that is read outside of it, or the last
/// one if none is read; nothing if there are several. And the call of every value.
struct Results {
    std::map<Call, NodeId> of;
    std::set<Call> calls;
    std::map<NodeId, Call> callOf;

    Results(const InternalGraph& graph, const std::vector<NodeId>& nodes) {
        std::map<std::string, int> opaque;
        for (const NodeId node : nodes) {
            const Expr& expr = producerOf(graph, node);
            if (!isOfModule(graph, expr) || node != expr.outputs.front()) continue;
            // A module that was not traced into is one operation for each call.
            int call = 0;
            if (expr.kind == graph::ExprKind::CallModule) call = opaque[*expr.qualname]++;
            else if (expr.scope.valid() && graph.scope(expr.scope).qualname == *expr.qualname)
                call = graph.scope(expr.scope).call;
            of[{*expr.qualname, call}] = node;
            callOf[node] = {*expr.qualname, call};
            calls.insert(callOf[node]);
        }
        std::map<Call, std::vector<NodeId>> read;
        for (const auto& [node, call] : callOf)
            if (isReadOutside(graph, node, call.first)) read[call].push_back(node);
        for (const NodeId output : std::set<NodeId>(graph.outputs().begin(), graph.outputs().end()))
            if (const auto call = callOf.find(output); call != callOf.end()) {
                std::vector<NodeId>& values = read[call->second];
                if (std::ranges::find(values, output) == values.end()) values.push_back(output);
            }
        for (const auto& [call, values] : read) {
            if (values.size() == 1) of[call] = values.front();
            else of.erase(call);
        }
    }

  private:
    static bool isOfModule(const InternalGraph& graph, const Expr& expr) {
        return isComputed(graph, expr) && expr.qualname && !expr.qualname->empty() && expr.body == graph.mainId();
    }

    static bool isReadOutside(const InternalGraph& graph, NodeId node, const std::string& module) {
        return std::ranges::any_of(graph.node(node).users, [&](ExprId user) {
            const auto& reader = graph.expr(user).qualname;
            return !reader || !(*reader == module || reader->starts_with(module + '.'));
        });
    }
};

/// "HardSwish", "hardswish" and a call of a module of the class "Hardswish" are one operation, as are "Relu" and
/// "relu_".
bool isSameOperation(const Expr& a, const Expr& b) {
    const auto plain = [](const Expr& expr) {
        const std::string& title = expr.op.name.empty() ? expr.moduleClass : expr.op.name;
        const std::string name =
            expr.op.name.empty() ? title.substr(title.rfind('.') + 1) : title.substr(0, title.find('.'));
        std::string text;
        for (const char c : name)
            if (c != '_') text += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        return text;
    };
    const std::string text = plain(a);
    return !text.empty() && text == plain(b);
}

/// `node`, or what modules that are not in `others` make of it one after the other. What follows `counterpart` in the
/// other graph as well is no part of that: it only has no module there.
NodeId throughOwnModules(const InternalGraph& graph, NodeId node, const Results& own, const Results& others,
                         const InternalGraph& otherGraph, NodeId counterpart) {
    for (std::size_t step = 0; step < own.of.size(); ++step) {
        const auto& users = graph.node(node).users;
        if (users.size() != 1 || !isComputed(graph, graph.expr(users.front()))) return node;
        const auto call = own.callOf.find(graph.expr(users.front()).outputs.front());
        if (call == own.callOf.end() || others.calls.contains(call->second)) return node;
        const auto result = own.of.find(call->second);
        if (result == own.of.end() || result->second == node) return node;
        const NodeId next = result->second;
        const auto& after = otherGraph.node(counterpart).users;
        const bool isThere = std::ranges::any_of(
            after, [&](ExprId user) { return isSameOperation(otherGraph.expr(user), producerOf(graph, next)); });
        if (isThere) return node;
        node = next;
    }
    return node;
}

bool mayBeEqual(const graph::Node& a, const graph::Node& b) {
    if (a.type.kind && b.type.kind && *a.type.kind != *b.type.kind) return false;
    return !a.type.shape || !b.type.shape || a.type.shape->size() == b.type.shape->size();
}

/// What the values ask that nobody reads but checks (Trait::Effect, guards): a hash of the operators and of the numbers
/// in their arguments, by the node's index; none for values that are read otherwise. Checks are counted as they come,
/// and another tracer or a file has other ones: what has the name of a condition may well compare with another number.
class Conditions {
  public:
    explicit Conditions(const InternalGraph& graph) : m_asked(graph.nodeCount()) {
        std::vector<bool> isResult(graph.nodeCount(), false);
        for (std::size_t i = 0; i < graph.bodyCount(); ++i)
            for (const NodeId node : graph.body(graph::BodyId(i)).outputs) isResult[node.index()] = true;
        for (const NodeId node : graph.outputs()) isResult[node.index()] = true;
        const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
        std::vector<bool> isForChecks(graph.nodeCount(), false);
        for (auto id = order.rbegin(); id != order.rend(); ++id) {
            const Expr& expr = graph.expr(*id);
            if (!isComputed(graph, expr) || isResult[expr.outputs.front().index()]) continue;
            const auto& users = graph.node(expr.outputs.front()).users;
            isForChecks[expr.outputs.front().index()] = !users.empty() && std::ranges::all_of(users, [&](ExprId user) {
                const Expr& reader = graph.expr(user);
                return isCheck(reader) || (isComputed(graph, reader) && isForChecks[reader.outputs.front().index()]);
            });
        }
        for (const ExprId id : order)
            if (const Expr& expr = graph.expr(id); isComputed(graph, expr) && isForChecks[expr.outputs.front().index()])
                m_asked[expr.outputs.front().index()] = hashOf(expr);
    }

    std::optional<std::size_t> asked(NodeId node) const { return m_asked[node.index()]; }

  private:
    static bool isCheck(const Expr& expr) {
        return graph::isGuard(expr) || graph::traitsOf(expr).is(operators::Trait::Effect);
    }

    static std::size_t mixed(std::size_t hash, std::size_t with) { return hash * 1099511628211U ^ with; }  // FNV-1

    std::size_t hashOf(const Expr& expr) const {
        std::size_t hash = std::hash<std::string>()(what(expr));
        for (const graph::Argument& argument : expr.arguments) hash = mixed(hash, hashOf(argument));
        for (const auto& [name, argument] : expr.keywords)
            hash = mixed(mixed(hash, std::hash<std::string>()(name)), hashOf(argument));
        return hash;
    }

    std::size_t hashOf(const graph::Argument& argument) const {
        std::size_t hash = static_cast<std::size_t>(argument.kind);
        if (argument.kind == graph::Argument::Kind::Node)
            hash = mixed(hash, m_asked[argument.node.index()].value_or(0));
        if (argument.kind == graph::Argument::Kind::Constant && !argument.constant.isTensor())
            hash = mixed(hash, std::hash<std::string>()(argument.constant.text()));
        for (const graph::Argument& item : argument.items) hash = mixed(hash, hashOf(item));
        return hash;
    }

    std::vector<std::optional<std::size_t>> m_asked;
};

/// Counterparts as they are found. Each node has one at most.
class Pairs {
  public:
    Pairs(const InternalGraph& from, const InternalGraph& to)
        : m_from(from), m_to(to), m_ourConditions(from), m_theirConditions(to), m_match(from.nodeCount()),
          m_isOurTaken(from.nodeCount(), false), m_isTheirTaken(to.nodeCount(), false) {}

    /// Of a layer that has taken in what follows the other one, the plain layer has no counterpart.
    void add(NodeId ours, NodeId theirs) {
        if (!theirs.valid() || m_isOurTaken[ours.index()] || m_isTheirTaken[theirs.index()]) return;
        const auto ourQuestion = m_ourConditions.asked(ours), theirQuestion = m_theirConditions.asked(theirs);
        if (ourQuestion && theirQuestion && *ourQuestion != *theirQuestion) return;
        const auto [a, b] = equalResults(m_from, ours, m_to, theirs);
        m_isOurTaken[ours.index()] = true;
        m_isTheirTaken[theirs.index()] = true;
        if (m_match[a.index()].valid() || (b != theirs && m_isTheirTaken[b.index()])) return;
        m_isOurTaken[a.index()] = true;
        m_isTheirTaken[b.index()] = true;
        m_match[a.index()] = b;
    }

    std::vector<NodeId> take() { return std::move(m_match); }

  private:
    const InternalGraph &m_from, &m_to;
    Conditions m_ourConditions, m_theirConditions;
    std::vector<NodeId> m_match;
    std::vector<bool> m_isOurTaken, m_isTheirTaken;
};

/// By name alone: not what is of another class and has another shape.
bool mayBeNamesakes(const InternalGraph& from, NodeId ours, const InternalGraph& to, NodeId theirs) {
    const graph::Node &a = from.node(ours), &b = to.node(theirs);
    if (graph::traitsOf(producerOf(from, ours)).opClass == graph::traitsOf(producerOf(to, theirs)).opClass) return true;
    if (!mayBeEqual(a, b)) return false;
    return !a.type.shape || !b.type.shape ||
           std::ranges::equal(*a.type.shape, *b.type.shape, [](const tensor::Dim& one, const tensor::Dim& other) {
               return !one.known() || !other.known() || one == other;
           });
}

}  // namespace

std::vector<NodeId> matchNodes(const InternalGraph& from, const InternalGraph& to) {
    Pairs pairs(from, to);
    const auto pair = [&pairs](NodeId a, NodeId b) { pairs.add(a, b); };
    const std::vector<NodeId> nodes = nodesOf(from), others = nodesOf(to);
    std::map<std::string_view, NodeId> named;
    for (const NodeId node : others) named.emplace(to.node(node).name, node);
    const auto sameName = [&](NodeId node) {
        const auto found = named.find(from.node(node).name);
        return found == named.end() ? NodeId() : found->second;
    };
    for (const NodeId node : nodes) {
        const NodeId same = sameName(node);
        if (same.valid() && what(producerOf(from, node)) == what(producerOf(to, same))) pair(node, same);
    }
    const auto places = byPlace(from, nodes), otherPlaces = byPlace(to, others);
    for (const auto& [place, here] : places) {
        const auto there = otherPlaces.find(place);
        if (there == otherPlaces.end() || there->second.size() != here.size()) continue;
        for (std::size_t i = 0; i < here.size(); ++i) pair(here[i], there->second[i]);
    }
    for (const NodeId node : nodes) {
        const NodeId same = sameName(node);
        if (same.valid() && mayBeNamesakes(from, node, to, same)) pair(node, same);
    }
    if (from.inputs().size() == to.inputs().size())
        for (std::size_t i = 0; i < from.inputs().size(); ++i) pair(from.inputs()[i], to.inputs()[i]);
    const Results given(from, nodes), othersGiven(to, others);
    for (const auto& [call, node] : given.of) {
        const auto there = othersGiven.of.find(call);
        if (there == othersGiven.of.end()) continue;
        const NodeId a = throughOwnModules(from, node, given, othersGiven, to, there->second),
                     b = throughOwnModules(to, there->second, othersGiven, given, from, node);
        if (mayBeEqual(from.node(a), to.node(b))) pair(a, b);
    }
    // Outputs may be in another order, as those of a dictionary are: by their place alone last.
    if (from.outputs().size() == to.outputs().size())
        for (std::size_t i = 0; i < from.outputs().size(); ++i) pair(from.outputs()[i], to.outputs()[i]);
    return pairs.take();
}

}  // namespace sonde::analysis
