// What the results of calls show of the memory of their arguments.

#include <algorithm>

#include "core/trace/memory.h"

namespace sonde::trace {

using graph::NodeId;

bool Memory::allPacked(const OperatorCall& call) const {
    const std::function<bool(const Var&)> packed = [&](const Var& var) {
        if (var.isProxy()) {
            const auto kind = m_recording.kindOf(var.node());
            return isPacked(var.node()) || (kind && *kind != tensor::ValueKind::Tensor);
        }
        if (var.kind() != Var::Kind::Value) return std::ranges::all_of(var.items(), packed);
        return !var.value().isTensor() || var.value().tensor().isContiguous();
    };
    return std::ranges::all_of(call.arguments, packed) &&
           std::ranges::all_of(call.keywords, [&](const auto& entry) { return packed(entry.second); });
}

void Memory::noteResult(const OperatorCall& call, Link link, const Var& result) {
    const bool hasBase = !call.arguments.empty() && call.arguments[0].isProxy();
    if (link != Link::None && !hasBase && noteResultOfList(call, result)) return;
    if (link == Link::None || !hasBase) {
        const bool packed = makesPacked(call) || (keepsPacked(call) && allPacked(call));
        if (packed) visitProxies(result, [this](const Var& proxy) { markPacked(proxy.node()); });
        return;
    }
    const NodeId baseNode = call.arguments[0].node();
    const bool packedBase = isPacked(baseNode);
    const bool packed = operators::traitsOf(call.domain, call.op).form == operators::ViewForm::Contiguous ||
                        (packedBase && (link == Link::Same || keepsOrder(call) || takesLeadingPart(call)));
    const CellPtr base = cellOf(baseNode);
    const bool isSure = link != Link::Conditional;
    if (result.isProxy()) {
        noteView(call, base, result, std::nullopt, packed, isSure);
    } else if (result.kind() != Var::Kind::Value) {
        for (std::size_t i = 0; i < result.items().size(); ++i) {
            if (result.items()[i].isProxy()) noteView(call, base, result.items()[i], i, packed, isSure);
        }
    }
}

/// What a call makes of tensors in a list may show any of them: broadcast_tensors, cartesian_prod of one.
bool Memory::noteResultOfList(const OperatorCall& call, const Var& result) {
    std::vector<CellPtr> held;
    for (const Var& argument : call.arguments) {
        if (argument.isProxy()) continue;
        visitProxies(argument, [&](const Var& proxy) { held.push_back(cellOf(proxy.node())); });
    }
    if (held.empty()) return false;
    visitProxies(result, [&](const Var& proxy) {
        const CellPtr cell = makeCell(proxy.node());
        for (const CellPtr& each : held) cell->perhaps.emplace_back(each, each->version);
        cell->overlaps = mayOverlap(call);
        bind(proxy.node(), cell);
    });
    return true;
}

void Memory::noteView(const OperatorCall& call, const CellPtr& base, const Var& result, std::optional<std::size_t> item,
                      bool packed, bool sure) {
    CellPtr cell = makeCell(result.node());
    if (sure) {
        cell->base = base;
        cell->baseVersion = base->version;
        cell->cut = std::make_shared<const Cut>(Cut{call, item, {}});
    } else {
        cell->perhaps.emplace_back(base, base->version);
    }
    cell->overlaps =
        base->overlaps || (mayOverlap(call) && m_recording.mayRepeat(result.node(), call.arguments[0].node()));
    if (packed && !cell->overlaps) markPacked(result.node());
    bind(result.node(), cell);
}

}  // namespace sonde::trace
