#include "core/graph/internal_graph.h"

#include <algorithm>
#include <cassert>

namespace sonde::graph {

namespace {

/// Operations are large: a list that grows fourfold moves each a third of a time, not once. What is not used of it is
/// not touched.
template <typename T>
void makeRoom(std::vector<T>& list) {
    constexpr std::size_t kFewElements = 64;
    if (list.size() == list.capacity() && list.size() >= kFewElements) list.reserve(4 * list.size());
}

}  // namespace

std::string_view name(ExprKind kind) {
    switch (kind) {
        case ExprKind::Input: return "Input";
        case ExprKind::Constant: return "Constant";
        case ExprKind::GetAttr: return "GetAttr";
        case ExprKind::CallModule: return "CallModule";
        case ExprKind::CallMethod: return "CallMethod";
        case ExprKind::CallFunction: return "CallFunction";
        case ExprKind::Apply: return "Apply";
        case ExprKind::Output: return "Output";
    }
    return "?";
}

InternalGraph::InternalGraph() {
    m_scopes.push_back(Scope{rootScope(), ScopeId{}, "", "", 0, false});
    m_bodies.push_back(Body{mainId(), ExprId{}, "", {}, {}, {}, {}});
}

NodeId InternalGraph::findNode(std::string_view nodeName) const {
    const auto found = m_nodeByName.find(std::string(nodeName));
    return found == m_nodeByName.end() ? NodeId{} : found->second;
}

std::vector<ExprId> InternalGraph::recursiveOrder(BodyId bodyId) const {
    std::vector<ExprId> result;
    // An explicit stack: bodies nest as deep as the model's file says.
    std::vector<std::pair<BodyId, std::size_t>> stack{{bodyId, 0}};
    while (!stack.empty()) {
        auto& [current, next] = stack.back();
        const Body& list = body(current);
        if (next >= list.order.size()) {
            stack.pop_back();
            continue;
        }
        const ExprId id = list.order[next++];
        result.push_back(id);
        const std::vector<BodyId>& inner = expr(id).bodies;
        for (std::size_t i = inner.size(); i-- > 0;) stack.emplace_back(inner[i], 0);
    }
    return result;
}

bool InternalGraph::encloses(ScopeId a, ScopeId b) const {
    while (b.valid()) {
        if (a == b) return true;
        b = scope(b).parent;
    }
    return false;
}

ScopeId InternalGraph::addScope(ScopeId parent, std::string qualname, std::string moduleClass, int call,
                                bool inferred) {
    const ScopeId id(m_scopes.size());
    m_scopes.push_back(Scope{id, parent, std::move(qualname), std::move(moduleClass), call, inferred});
    return id;
}

BodyId InternalGraph::addBody(ExprId owner, std::string label) {
    const BodyId id(m_bodies.size());
    m_bodies.push_back(Body{id, owner, std::move(label), {}, {}, {}, {}});
    if (owner.valid()) m_exprs[owner.index()].bodies.push_back(id);
    return id;
}

ExprId InternalGraph::addExpr(Expr newExpr, std::span<const std::string> outputNames,
                              std::optional<std::size_t> position) {
    const ExprId id(m_exprs.size());
    newExpr.id = id;
    if (!newExpr.body.valid()) newExpr.body = mainId();
    if (!newExpr.scope.valid()) newExpr.scope = rootScope();
    newExpr.outputs.clear();
    std::vector<ExprId>& order = m_bodies[newExpr.body.index()].order;
    order.insert(position ? order.begin() + static_cast<std::ptrdiff_t>(*position) : order.end(), id);
    makeRoom(m_exprs);
    m_exprs.push_back(std::move(newExpr));
    for (const std::string& outputName : outputNames) addOutput(id, outputName);
    link(id);
    return id;
}

NodeId InternalGraph::addOutput(ExprId id, std::string outputName) {
    std::vector<NodeId>& outputs = m_exprs[id.index()].outputs;
    const NodeId nodeId(m_nodes.size());
    Node node;
    node.id = nodeId;
    node.name = std::move(outputName);
    node.producer = id;
    node.outputIndex = outputs.size();
    m_nodeByName.emplace(node.name, nodeId);
    makeRoom(m_nodes);
    m_nodes.push_back(std::move(node));
    outputs.push_back(nodeId);
    return nodeId;
}

NodeId InternalGraph::addInput(BodyId bodyId, std::string nodeName, TypeInfo type, std::string parameter,
                               std::optional<std::size_t> position) {
    Expr input;
    input.kind = ExprKind::Input;
    input.target = parameter.empty() ? nodeName : std::move(parameter);
    input.body = bodyId;
    const Body& list = body(bodyId);
    if (list.owner.valid()) {
        input.scope = expr(list.owner).scope;
        input.qualname = expr(list.owner).qualname;
    } else {
        input.qualname = "";
    }
    const ExprId id =
        addExpr(std::move(input), std::span<const std::string>(&nodeName, 1), position.value_or(list.inputs.size()));
    const NodeId node = expr(id).outputs.front();
    m_nodes[node.index()].type = std::move(type);
    m_bodies[bodyId.index()].inputs.push_back(node);
    return node;
}

void InternalGraph::setResult(BodyId bodyId, Argument result) {
    Body& list = m_bodies[bodyId.index()];
    list.outputs.clear();
    result.forEachNode([&list](NodeId node) { list.outputs.push_back(node); });
    list.result = std::move(result);
}

void InternalGraph::link(ExprId id) {
    Expr& e = m_exprs[id.index()];
    e.inputs.clear();
    const auto add = [&](NodeId node) {
        e.inputs.push_back(node);
        m_nodes[node.index()].users.push_back(id);
    };
    for (const Argument& argument : e.arguments) argument.forEachNode(add);
    for (const auto& [key, argument] : e.keywords) argument.forEachNode(add);
}

void InternalGraph::unlink(ExprId id) {
    Expr& e = m_exprs[id.index()];
    for (NodeId node : e.inputs) {
        std::vector<ExprId>& users = m_nodes[node.index()].users;
        if (const auto found = std::find(users.begin(), users.end(), id); found != users.end()) users.erase(found);
    }
    e.inputs.clear();
}

void InternalGraph::setArguments(ExprId id, std::vector<Argument> arguments,
                                 std::vector<std::pair<std::string, Argument>> keywords) {
    unlink(id);
    m_exprs[id.index()].arguments = std::move(arguments);
    m_exprs[id.index()].keywords = std::move(keywords);
    link(id);
}

void InternalGraph::replaceUses(NodeId from, NodeId to) {
    if (from == to) return;
    const auto redirect = [&](NodeId& node) {
        if (node == from) node = to;
    };
    std::vector<ExprId> users = node(from).users;
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (ExprId user : users) {
        unlink(user);
        Expr& e = m_exprs[user.index()];
        for (Argument& argument : e.arguments) argument.forEachNode(redirect);
        for (auto& [key, argument] : e.keywords) argument.forEachNode(redirect);
        link(user);
    }
    for (Body& list : m_bodies) {
        list.result.forEachNode(redirect);
        for (NodeId& output : list.outputs) redirect(output);
    }
}

void InternalGraph::erase(ExprId id) {
    Expr& e = m_exprs[id.index()];
    assert(std::all_of(e.outputs.begin(), e.outputs.end(), [this](NodeId n) { return node(n).users.empty(); }));
    unlink(id);
    Body& body = m_bodies[e.body.index()];
    for (NodeId output : e.outputs) {
        m_nodeByName.erase(node(output).name);
        if (e.kind == ExprKind::Input) std::erase(body.inputs, output);
    }
    std::erase(body.order, id);
    e.id = ExprId{};
}

base::Result<void> InternalGraph::rename(NodeId id, std::string newName) {
    const NodeId holder = findNode(newName);
    if (holder.valid() && holder != id) return base::usageError("the name '" + newName + "' is already in use");
    m_nodeByName.erase(node(id).name);
    m_nodeByName.emplace(newName, id);
    m_nodes[id.index()].name = std::move(newName);
    return {};
}

}  // namespace sonde::graph
