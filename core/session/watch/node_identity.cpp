#include "core/session/watch/node_identity.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/number_text.h"
#include "core/layout/outline.h"
#include "core/session/watch/plain_operator.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

// FNV-1a: the same in every process, as hashes are stored.
constexpr std::uint64_t kHashStart = 14695981039346656037U;
constexpr std::uint64_t kHashFactor = 1099511628211U;

std::uint64_t hashWith(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kHashFactor;
    return (hash ^ 0xFFU) * kHashFactor;
}

std::uint64_t hashWith(std::uint64_t hash, std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((number >> shift) & 0xFFU)) * kHashFactor;
    return hash;
}

/// Operators of ONNX that ATen calls otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSameOperators{
    {{"convolution", "conv"},
     {"conv2d", "conv"},
     {"linear", "gemm"},
     {"addmm", "gemm"},
     {"batchnorm", "batchnormalization"},
     {"layernorm", "layernormalization"}}};

bool isWeight(const Expr& expr) { return layout::Outline::isConstant(expr); }

std::uint64_t hashOfType(const graph::Node& node) {
    const auto shape = node.type.staticShape();
    std::uint64_t hash = kHashStart;
    if (shape)
        for (std::size_t axis = 0; axis < shape->rank(); ++axis)
            hash = hashWith(hash, static_cast<std::uint64_t>((*shape)[axis]));
    return hash;
}

std::uint64_t hashOfOperation(const Expr& expr, const std::string& op) {
    std::uint64_t hash = hashWith(hashWith(kHashStart, static_cast<std::uint64_t>(expr.kind)), op);
    for (const tensor::Attribute& attribute : expr.attributes.items())
        hash = hashWith(hashWith(hash, attribute.name), tensor::text(attribute.value, 200));
    for (const graph::Argument& argument : expr.arguments)
        if (argument.kind == graph::Argument::Kind::Constant) hash = hashWith(hash, argument.constant.text(200));
    return hash;
}

}  // namespace

std::string plainOperator(const Expr& expr) {
    std::string_view full = expr.op.name;
    if (full.empty()) full = expr.kind == graph::ExprKind::CallModule ? expr.moduleClass : expr.target;
    if (expr.kind == graph::ExprKind::CallModule) full = full.substr(full.find_last_of('.') + 1);
    else full = full.substr(0, full.find('.'));
    std::string plain;
    for (const char c : full.substr(full.find_last_of(':') + 1))
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto same = std::ranges::find(kSameOperators, plain, &std::pair<std::string_view, std::string_view>::first);
    return same == kSameOperators.end() ? plain : std::string(same->second);
}

std::string_view name(FoundBy found) {
    switch (found) {
        case FoundBy::Name: return "name";
        case FoundBy::Module: return "module";
        case FoundBy::Structure: return "structure";
        case FoundBy::Missing: break;
    }
    return "missing";
}

// --- as a text ------------------------------------------------------------------------------------------------------

std::string NodeIdentity::text() const {
    std::string text = name + '\t' + qualname;
    if (op.empty()) return text;
    text += '\t' + op;
    for (const std::uint64_t number :
         {std::uint64_t{output}, std::uint64_t{position}, std::uint64_t{count}, std::uint64_t{isModuleOutput},
          static_cast<std::uint64_t>(call), structure, std::uint64_t{structureCount}, upstream,
          std::uint64_t{upstreamCount}, downstream, std::uint64_t{downstreamCount}})
        text += '\t' + std::to_string(number);
    return text;
}

NodeIdentity NodeIdentity::of(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\t', at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    NodeIdentity identity;
    identity.name = parts[0];
    if (parts.size() > 1) identity.qualname = parts[1];
    if (parts.size() != 14) return identity;
    std::array<std::uint64_t, 11> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = base::parseNumber<std::uint64_t>(parts[3 + i]);
        if (!number) return identity;
        numbers[i] = *number;
    }
    identity.op = parts[2];
    identity.output = static_cast<std::uint32_t>(numbers[0]);
    identity.position = static_cast<std::uint32_t>(numbers[1]);
    identity.count = static_cast<std::uint32_t>(numbers[2]);
    identity.isModuleOutput = numbers[3] != 0;
    identity.call = static_cast<int>(std::min<std::uint64_t>(numbers[4], 1U << 30));
    identity.structure = numbers[5];
    identity.structureCount = static_cast<std::uint32_t>(numbers[6]);
    identity.upstream = numbers[7];
    identity.upstreamCount = static_cast<std::uint32_t>(numbers[8]);
    identity.downstream = numbers[9];
    identity.downstreamCount = static_cast<std::uint32_t>(numbers[10]);
    return identity;
}

// --- the index ------------------------------------------------------------------------------------------------------

IdentityIndex::IdentityIndex(const InternalGraph& graph)
    : m_graph(graph), m_order(graph.recursiveOrder(graph.mainId())), m_ops(graph.exprCount()) {
    for (const ExprId id : m_order) m_ops[id.index()] = plainOperator(graph.expr(id));
    hashStructure();
    indexModules();
    for (const ExprId id : m_order) {
        for (const NodeId node : graph.expr(id).outputs) {
            for (Hashes* hashes : {&m_structure, &m_upstream, &m_downstream})
                hashes->nodes[hashes->of[node.index()]].push_back(node);
            m_places[{qualnameOf(node), opOf(node), static_cast<std::uint32_t>(graph.node(node).outputIndex)}]
                .push_back(node);
        }
    }
}

std::string_view IdentityIndex::qualnameOf(NodeId node) const {
    const Expr& producer = m_graph.expr(m_graph.node(node).producer);
    // Groups that were found in the graph are numbered as they come: another export has others.
    if (producer.scope.valid() && m_graph.scope(producer.scope).inferred) return {};
    const auto& qualname = producer.qualname;
    return qualname ? std::string_view(*qualname) : std::string_view();
}

/// From everything that a value is computed from, and everything that is computed from it.
void IdentityIndex::hashStructure() {
    std::vector<std::uint64_t> up(m_graph.exprCount(), kHashStart), own(m_graph.exprCount(), kHashStart);
    for (const ExprId id : m_order) own[id.index()] = hashOfOperation(m_graph.expr(id), m_ops[id.index()]);
    for (std::size_t i = 0; i < m_graph.inputs().size(); ++i) {
        std::uint64_t& hash = own[m_graph.node(m_graph.inputs()[i]).producer.index()];
        hash = hashWith(hash, std::uint64_t{i});
    }
    for (const ExprId id : m_order) {
        const Expr& expr = m_graph.expr(id);
        std::uint64_t hash = own[id.index()];
        for (const NodeId input : expr.inputs) {
            const graph::Node& node = m_graph.node(input);
            if (isWeight(m_graph.expr(node.producer))) hash = hashWith(hash, hashOfType(node));
            else hash = hashWith(hashWith(hash, up[node.producer.index()]), std::uint64_t{node.outputIndex});
        }
        up[id.index()] = hash;
    }
    std::vector<std::uint64_t> down(m_graph.nodeCount(), 0);
    for (std::size_t i = 0; i < m_graph.outputs().size(); ++i)
        down[m_graph.outputs()[i].index()] += hashWith(kHashStart, std::uint64_t{i});
    for (Hashes* hashes : {&m_structure, &m_upstream, &m_downstream}) hashes->of.assign(m_graph.nodeCount(), 0);
    for (auto id = m_order.rbegin(); id != m_order.rend(); ++id) {
        const Expr& expr = m_graph.expr(*id);
        std::uint64_t below = own[id->index()];
        for (const NodeId output : expr.outputs) below = hashWith(below, down[output.index()]);
        // A sum: users come in any order.
        for (std::size_t i = 0; i < expr.inputs.size(); ++i)
            down[expr.inputs[i].index()] += hashWith(below, std::uint64_t{i});
        for (const NodeId output : expr.outputs) {
            const std::uint64_t position = m_graph.node(output).outputIndex;
            m_upstream.of[output.index()] = hashWith(up[id->index()], position);
            m_downstream.of[output.index()] = hashWith(hashWith(own[id->index()], down[output.index()]), position);
            m_structure.of[output.index()] = hashWith(m_upstream.of[output.index()], down[output.index()]);
        }
    }
}

/// What calls of modules return: the last value that something outside reads or the model returns, else the last one.
void IdentityIndex::indexModules() {
    std::vector<bool> isResult(m_graph.nodeCount(), false);
    for (const NodeId node : m_graph.outputs()) isResult[node.index()] = true;
    const auto isInside = [this](graph::ScopeId inner, graph::ScopeId outer) {
        for (; inner.valid(); inner = m_graph.scope(inner).parent)
            if (inner == outer) return true;
        return false;
    };
    std::map<std::pair<std::string_view, int>, bool> isRead;
    std::map<std::string_view, int> leafCalls;
    for (const ExprId id : m_order) {
        const Expr& expr = m_graph.expr(id);
        if (isWeight(expr) || expr.kind == graph::ExprKind::Input) continue;
        if (expr.kind == graph::ExprKind::CallModule && !expr.outputs.empty())
            m_moduleOutputs[{expr.target, leafCalls[expr.target]++}] = expr.outputs.front();
        for (const NodeId output : expr.outputs) {
            for (graph::ScopeId scope = expr.scope; scope.valid(); scope = m_graph.scope(scope).parent) {
                const graph::Scope& call = m_graph.scope(scope);
                if (call.qualname.empty() || call.inferred) break;
                const auto& users = m_graph.node(output).users;
                const bool leaves = isResult[output.index()] || std::ranges::any_of(users, [&](ExprId user) {
                                        return !isInside(m_graph.expr(user).scope, scope);
                                    });
                const std::pair<std::string_view, int> key{call.qualname, call.call};
                if (!leaves && isRead[key]) continue;
                isRead[key] = isRead[key] || leaves;
                m_moduleOutputs[key] = output;
            }
        }
    }
    for (const auto& [key, node] : m_moduleOutputs)
        if (key.first == qualnameOf(node)) m_callOfOutput[node] = key.second;
}

NodeIdentity IdentityIndex::of(NodeId node) const {
    NodeIdentity identity;
    identity.name = m_graph.node(node).name;
    identity.qualname = qualnameOf(node);
    identity.op = opOf(node);
    identity.output = static_cast<std::uint32_t>(m_graph.node(node).outputIndex);
    const std::vector<NodeId>& place = m_places.at({identity.qualname, identity.op, identity.output});
    identity.position = static_cast<std::uint32_t>(std::ranges::find(place, node) - place.begin());
    identity.count = static_cast<std::uint32_t>(place.size());
    if (const auto call = m_callOfOutput.find(node); call != m_callOfOutput.end()) {
        identity.isModuleOutput = true;
        identity.call = call->second;
    }
    identity.structure = m_structure.of[node.index()];
    identity.upstream = m_upstream.of[node.index()];
    identity.downstream = m_downstream.of[node.index()];
    identity.structureCount = m_structure.count(node);
    identity.upstreamCount = m_upstream.count(node);
    identity.downstreamCount = m_downstream.count(node);
    return identity;
}

NodeId IdentityIndex::Hashes::only(std::uint64_t hash, std::uint32_t count) const {
    const auto found = nodes.find(hash);
    return count == 1 && found != nodes.end() && found->second.size() == 1 ? found->second.front() : NodeId();
}

/// This node is known to be elsewhere in the program, and exactly one other node is where that one was.
bool IdentityIndex::isOther(const NodeIdentity& identity, NodeId node) const {
    if (identity.structure == 0 || m_structure.of[node.index()] == identity.structure) return false;
    return m_structure.only(identity.structure, identity.structureCount).valid();
}

bool IdentityIndex::contradicts(const NodeIdentity& identity, NodeId node) const {
    if (identity.op.empty()) return false;
    if (identity.output != m_graph.node(node).outputIndex || isOther(identity, node)) return true;
    if (qualnameOf(node) != identity.qualname) return true;
    // Of a module with a name a node of the same name is the same, whatever another tracer calls the operator.
    if (opOf(node) != identity.op) return identity.qualname.empty();
    // Numbers as names shift when a node is added: only what is around tells.
    if (!identity.qualname.empty() || identity.structure == 0) return false;
    return m_upstream.of[node.index()] != identity.upstream && m_downstream.of[node.index()] != identity.downstream;
}

NodeId IdentityIndex::byName(const NodeIdentity& identity) const {
    const NodeId node = m_graph.findNode(identity.name);
    return node.valid() && !contradicts(identity, node) ? node : NodeId();
}

NodeId IdentityIndex::byModule(const NodeIdentity& identity) const {
    if (identity.qualname.empty()) return {};
    if (identity.op.empty()) {  // of an earlier version, which kept no more: the last value of the module
        NodeId last;
        for (const ExprId id : m_graph.main().order) {
            const Expr& expr = m_graph.expr(id);
            if (expr.qualname == identity.qualname && !expr.outputs.empty() && !isWeight(expr))
                last = expr.outputs.front();
        }
        return last;
    }
    const auto place = m_places.find({identity.qualname, identity.op, identity.output});
    if (place != m_places.end() && place->second.size() == identity.count && identity.position < identity.count) {
        const NodeId node = place->second[identity.position];
        if (!isOther(identity, node)) return node;
    }
    if (!identity.isModuleOutput) return {};
    const auto output = m_moduleOutputs.find({identity.qualname, identity.call});
    return output == m_moduleOutputs.end() ? NodeId() : output->second;
}

NodeId IdentityIndex::byStructure(const NodeIdentity& identity) const {
    if (identity.structure == 0) return {};
    if (const NodeId node = m_structure.only(identity.structure, identity.structureCount); node.valid()) return node;
    // A change behind it leaves what is upstream, one before it what is downstream. Of a model with another block more
    // both say something, and not the same.
    const NodeId up = m_upstream.only(identity.upstream, identity.upstreamCount);
    const NodeId down = m_downstream.only(identity.downstream, identity.downstreamCount);
    if (up.valid() && down.valid()) return up == down ? up : NodeId();
    if (up.valid()) return m_downstream.nodes.contains(identity.downstream) ? NodeId() : up;
    return m_upstream.nodes.contains(identity.upstream) ? NodeId() : down;
}

IdentityIndex::Found IdentityIndex::find(const NodeIdentity& identity) const {
    if (const NodeId node = byName(identity); node.valid()) return {node, FoundBy::Name};
    if (const NodeId node = byModule(identity); node.valid()) return {node, FoundBy::Module};
    if (const NodeId node = byStructure(identity); node.valid()) return {node, FoundBy::Structure};
    return {};
}

}  // namespace sonde::session
