// What a body (of a called module, of a branch) has done to tensors that are older than it is.

#include <algorithm>

#include "core/trace/memory.h"

namespace sonde::trace {

using graph::NodeId;

Memory::Effects Memory::effectsSince(const Mark& mark, const std::vector<NodeId>& inputs, const Var& result) {
    checkReforms(mark, inputs);
    Effects effects;
    std::vector<CellPtr> changed;
    for (std::size_t i = mark.changes; i < m_changed.size(); ++i) {
        if (std::ranges::find(changed, m_changed[i]) == changed.end()) changed.push_back(m_changed[i]);
    }
    std::vector<CellPtr> cells;
    for (const NodeId input : inputs) {
        const CellPtr cell = findCell(input);
        cells.push_back(cell);
        if (!cell || (cell->version == 0 && cell->stale.empty())) continue;
        effects.inputs.emplace_back(cells.size() - 1, Var::proxy(m_tracer, refresh(cell)));
    }
    for (const CellPtr& cell : changed) {
        const bool isOuter = cell->serial <= mark.serial || cell->slot;
        if (!isOuter || std::ranges::find(cells, cell) != cells.end()) continue;
        if (!cell->node.valid() || !m_recording.isRecordedHere(cell->node)) continue;
        if (!cell->stale.empty()) refuse(cell->node, cell->stale);
        effects.outer.emplace_back(cell, cell->base ? Var() : Var::proxy(m_tracer, cell->node));
    }
    std::size_t leaf = 0;
    const std::function<void(const Var&)> visit = [&](const Var& var) {
        if (var.isProxy()) noteShared(effects, inputs, leaf++, var);
        else if (var.kind() != Var::Kind::Value) std::ranges::for_each(var.items(), visit);
        else if (var.slot()) effects.shared.push_back({leaf++, 0, {true, {}, false}, var.slot()});
        else if (var.value().isTensor()) ++leaf;
    };
    visit(result);
    return effects;
}

void Memory::noteShared(Effects& effects, const std::vector<NodeId>& inputs, std::size_t leaf, const Var& result) {
    const CellPtr cell = findCell(result.node());
    if (!cell) {
        const Shown whole{true, {}, false};
        const auto plain = std::ranges::find(inputs, result.node());
        if (plain != inputs.end())
            effects.shared.push_back({leaf, static_cast<std::size_t>(plain - inputs.begin()), whole, {}});
        else if (const auto slot = m_slotOf.find(result.node()); slot != m_slotOf.end())
            effects.shared.push_back({leaf, 0, whole, slot->second});
        return;
    }
    std::vector<const Cell*> roots;
    collectRoots(cell, roots);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const CellPtr input = findCell(inputs[i]);
        if (input && std::ranges::find(roots, input.get()) != roots.end())
            effects.shared.push_back({leaf, i, shownOf(*cell, *input), {}});
    }
    for (const Cell* root : roots) {
        if (root->slot) effects.shared.push_back({leaf, 0, shownOf(*cell, *root), root->slot});
    }
}

void Memory::takeOver(const CellPtr& cell, const Var& value) {
    change(cell);
    if (value.isProxy()) {
        cell->node = value.node();
        ++cell->version;
        bind(cell->node, cell);
    } else {
        cell->baseVersion = -1;  // cut again when it is read
    }
}

void Memory::collectRoots(const CellPtr& cell, std::vector<const Cell*>& roots) {
    for (CellPtr at = cell; at; at = at->base) {
        for (const auto& [other, version] : at->perhaps) collectRoots(other, roots);
        if (!at->base) roots.push_back(at.get());
    }
}

bool Memory::mayShareMemory(const Var& a, const Var& b) {
    if (!a.isProxy() || !b.isProxy()) return false;
    std::vector<const Cell*> first, second;
    collectRoots(cellOf(a), first);
    collectRoots(cellOf(b), second);
    return std::ranges::find_first_of(first, second) != first.end();
}

}  // namespace sonde::trace
