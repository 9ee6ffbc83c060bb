#include "core/analysis/seen_types.h"

#include <algorithm>

namespace sonde::analysis {

using graph::NodeId;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;

namespace {

/// A sequence that grows in a loop would be walked once for each pass.
constexpr std::size_t kMaxItems = 64;

bool isShort(const Value& value) {
    switch (value.kind()) {
        case ValueKind::Tuple:
        case ValueKind::List:
        case ValueKind::Sequence:
            return value.items().size() <= kMaxItems && std::ranges::all_of(value.items(), isShort);
        default: return value.isTensor();
    }
}

}  // namespace

bool isExact(const TypeInfo& type) {
    if (type.isTensor()) return type.dtype != tensor::DType::Undefined && type.staticShape().has_value();
    const bool holds =
        type.kind == ValueKind::Tuple || type.kind == ValueKind::List || type.kind == ValueKind::Sequence;
    return holds && !type.elements.empty() && std::ranges::all_of(type.elements, isExact);
}

bool agree(const TypeInfo& a, const TypeInfo& b) {
    if (a.isTensor() || b.isTensor() || a.kind != b.kind) return a == b;
    if (a.elements.empty() || b.elements.empty()) return a.elements.size() == b.elements.size();
    if (a.elements.size() == b.elements.size()) return std::ranges::equal(a.elements, b.elements, agree);
    if (b.elements.size() == 1)
        return std::ranges::all_of(a.elements, [&](const TypeInfo& item) { return agree(item, b.elements.front()); });
    return a.elements.size() == 1 && agree(b, a);
}

SeenTypes::SeenTypes(std::shared_ptr<const graph::InternalGraph> graph)
    : m_graph(std::move(graph)), m_states(m_graph->exprCount()) {}

void SeenTypes::add(graph::ExprId id, std::span<const Value> outputs) {
    State& state = m_states[id.index()];
    const std::vector<NodeId>& nodes = m_graph->expr(id).outputs;
    if (state == State::Unknown)
        state = std::ranges::all_of(nodes, [&](NodeId node) { return isExact(m_graph->node(node).type); })
                    ? State::Exact
                    : State::Open;
    if (state == State::Exact) return;
    for (std::size_t i = 0; i < std::min(nodes.size(), outputs.size()); ++i) {
        if (isExact(m_graph->node(nodes[i]).type) || !isShort(outputs[i])) continue;
        TypeInfo type = TypeInfo::of(outputs[i]);
        const auto [known, isNew] = m_seen.try_emplace(nodes[i], type);
        if (!isNew && known->second != type) known->second = {};
    }
}

std::map<NodeId, TypeInfo> SeenTypes::types() const {
    std::map<NodeId, TypeInfo> types = m_seen;
    std::erase_if(types, [](const auto& entry) { return !isExact(entry.second); });
    return types;
}

}  // namespace sonde::analysis
