#include "core/passes/shared_memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/graph/memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

SharedMemory::SharedMemory(const InternalGraph& graph) {
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    m_position.assign(graph.exprCount(), 0);
    std::vector<ExprId> reforming;
    for (std::size_t i = 0; i < order.size(); ++i) {
        m_position[order[i].index()] = i;
        const Expr& expr = graph.expr(order[i]);
        if (!mutates(expr)) continue;
        const graph::MemoryEffect effect = graph::memoryEffect(graph, expr);
        const Argument* target = graph::writtenArgument(graph, expr);
        if (!target && !expr.arguments.empty()) target = &expr.arguments.front();
        if (effect.reforms) reforming.push_back(expr.id);
        if (target && target->kind == Argument::Kind::Node) m_writes.push_back({expr.id, target->node});
    }
    if (m_writes.empty()) return;
    m_class.resize(graph.nodeCount());
    std::iota(m_class.begin(), m_class.end(), std::size_t{0});
    std::map<std::string, NodeId> attributes;
    std::map<const void*, NodeId> storages;
    for (ExprId id : order) {
        const Expr& expr = graph.expr(id);
        if ((expr.kind == ExprKind::GetAttr || expr.kind == ExprKind::Constant) && !expr.outputs.empty()) {
            const NodeId node = expr.outputs.front();
            if (expr.kind == ExprKind::GetAttr) join(node, attributes.try_emplace(expr.target, node).first->second);
            const auto& constant = graph.node(node).constant;
            if (constant && constant->isTensor() && constant->tensor().storage()) {
                join(node, storages.try_emplace(constant->tensor().storage().get(), node).first->second);
            }
            continue;
        }
        joinExpr(graph, expr);
    }
    m_isWritten.assign(graph.nodeCount(), false);
    m_isReformed.assign(graph.nodeCount(), false);
    for (const Write& write : m_writes) m_isWritten[find(write.target)] = true;
    for (ExprId id : reforming) {
        for (NodeId output : graph.expr(id).outputs) m_isReformed[find(output)] = true;
    }
}

std::size_t SharedMemory::find(NodeId node) const {
    std::size_t at = node.index();
    while (m_class[at] != at) at = m_class[at] = m_class[m_class[at]];
    return at;
}

void SharedMemory::join(NodeId a, NodeId b) {
    if (a.valid() && b.valid()) m_class[find(a)] = find(b);
}

void SharedMemory::joinExpr(const InternalGraph& graph, const Expr& expr) {
    if (!expr.bodies.empty()) joinBodies(graph, expr);
    const graph::Sharing sharing = graph::memoryEffect(graph, expr).sharing;
    const bool isOpaque =
        expr.callable || expr.kind == ExprKind::Output || (expr.op.name.empty() && expr.bodies.empty());
    const bool isBranch = !expr.bodies.empty() && !expr.op.name.empty();
    if (sharing == graph::Sharing::Fresh && !isOpaque && !isBranch) return;
    if (const Argument* written = graph::writtenArgument(graph, expr)) {
        for (NodeId output : expr.outputs)
            join(output, written->kind == Argument::Kind::Node ? written->node : NodeId{});
        return;
    }
    const bool all = isOpaque || isBranch || sharing == graph::Sharing::Holds || sharing == graph::Sharing::MaybeView;
    for (NodeId output : expr.outputs) {
        for (std::size_t i = 0; i < expr.inputs.size() && (all || i == 0); ++i) join(output, expr.inputs[i]);
    }
}

void SharedMemory::joinBodies(const InternalGraph& graph, const Expr& expr) {
    const bool isCall = expr.op.name.empty();
    for (BodyId id : expr.bodies) {
        const graph::Body& body = graph.body(id);
        for (std::size_t i = 0; i < body.inputs.size(); ++i) {
            if (isCall && i < expr.inputs.size()) join(body.inputs[i], expr.inputs[i]);
            else if (!isCall && !expr.inputs.empty())
                join(body.inputs[i], expr.inputs.front());  // with all: joinExpr joins them
        }
        for (std::size_t i = 0; i < body.outputs.size() && !expr.outputs.empty(); ++i) {
            const bool oneByOne = expr.outputs.size() == body.outputs.size();
            join(body.outputs[i], expr.outputs[oneByOne ? i : 0]);
            for (std::size_t k = 1; !oneByOne && k < expr.outputs.size(); ++k) join(expr.outputs[0], expr.outputs[k]);
        }
    }
}

bool SharedMemory::isWrittenBetween(NodeId node, ExprId first, ExprId last) const {
    if (!isWritten(node)) return false;
    if (node.index() >= m_class.size()) return true;
    return std::ranges::any_of(m_writes, [&](const Write& write) {
        const std::size_t at = position(write.expr);
        return find(write.target) == find(node) && position(first) < at && at < position(last);
    });
}

bool SharedMemory::isWrittenBehind(NodeId node, ExprId expr) const {
    if (!isWritten(node)) return false;
    return node.index() >= m_class.size() || std::ranges::any_of(m_writes, [&](const Write& write) {
               return find(write.target) == find(node) && position(write.expr) > position(expr);
           });
}

bool SharedMemory::readsWrittenConstant(const InternalGraph& graph, const Expr& expr) const {
    return anyWrite() && std::ranges::any_of(
                             expr.inputs, [&](NodeId input) { return graph.node(input).constant && isWritten(input); });
}

std::vector<NodeId> SharedMemory::sharers(NodeId node) const {
    std::vector<NodeId> nodes;
    if (node.index() >= m_class.size()) return {node};
    for (std::size_t i = 0; i < m_class.size(); ++i) {
        if (find(NodeId(i)) == find(node)) nodes.emplace_back(i);
    }
    return nodes;
}

bool SharedMemory::writesOutside(const InternalGraph& graph, const Expr& expr) const {
    if (!anyWrite() || expr.bodies.empty()) return false;
    std::set<BodyId> inside;
    std::set<ExprId> within;
    for (BodyId body : expr.bodies) {
        inside.insert(body);
        for (ExprId id : graph.recursiveOrder(body)) {
            within.insert(id);
            inside.insert(graph.expr(id).bodies.begin(), graph.expr(id).bodies.end());
        }
    }
    return std::ranges::any_of(m_writes, [&](const Write& write) {
        if (!within.contains(write.expr)) return false;
        return std::ranges::any_of(sharers(write.target), [&](NodeId node) {
            const ExprId producer = graph.node(node).producer;
            return !graph.isErased(producer) && producer != expr.id && !inside.contains(graph.expr(producer).body);
        });
    });
}

}  // namespace sonde::passes
