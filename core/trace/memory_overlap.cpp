// Writes whose source is a part of the same tensor: PyTorch refuses those that meet what they read, and so does a
// trace, which would read what was there before. It allows what it can show to be apart.

#include <algorithm>
#include <utility>

#include "core/graph/memory.h"
#include "core/graph/view_overlap.h"
#include "core/operators/overlap.h"
#include "core/trace/memory.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

namespace {

using graph::Overlap;
using graph::ViewArgument;
using graph::ViewStep;

ViewArgument viewArgument(const Var& var) {
    switch (var.kind()) {
        case Var::Kind::Value: return ViewArgument::of(var.value());
        case Var::Kind::Slice:
        case Var::Kind::List:
        case Var::Kind::Tuple: break;
        default: return ViewArgument::unknown();
    }
    ViewArgument result = ViewArgument::container(
        var.kind() == Var::Kind::Slice ? ViewArgument::Kind::Slice : ViewArgument::Kind::Tuple, {});
    for (const Var& item : var.items()) result.items.push_back(viewArgument(item));
    return result;
}

ViewStep viewStep(const OperatorCall& call, const Tracer& tracer) {
    ViewStep step{.op = call.op,
                  .form = operators::traitsOf(call.domain, call.op).form,
                  .arguments = {},
                  .keywords = {},
                  .item = {},
                  .dims = {},
                  .call = 0};
    for (std::size_t i = 1; i < call.arguments.size(); ++i) step.arguments.push_back(viewArgument(call.arguments[i]));
    for (const auto& [name, argument] : call.keywords) step.keywords.emplace_back(name, viewArgument(argument));
    if (tracer.recorded() && !call.arguments.empty() && call.arguments.front().isProxy())
        step.dims = graph::knownDims(tracer.recorded()->node(call.arguments.front().node()).type);
    return step;
}

/// How views were cut out of their root, from the root on; what shows all of its base as it is counts for nothing.
std::vector<ViewStep> stepsOf(const Memory::CellPtr& cell, const Tracer& tracer, const Memory::Cell*& root) {
    std::vector<ViewStep> steps;
    const Memory::Cell* at = cell.get();
    for (; at->base; at = at->base.get()) {
        const Cut& cut = *at->cut;
        if (!cut.positions && keepsAll(cut.call)) continue;
        steps.push_back(cut.positions ? ViewStep{} : viewStep(cut.call, tracer));
        steps.back().item = cut.item;
        // An element of a list is told from the others of its call by what they are cut with.
        if (!cut.item) steps.back().call = reinterpret_cast<std::uintptr_t>(at->cut.get());
        if (cut.positions) steps.back().arguments = {ViewArgument::unknown()};
    }
    root = at;
    std::ranges::reverse(steps);
    return steps;
}

/// x[index] of x[index] = value.
ViewStep partOf(const OperatorCall& assignment) {
    ViewStep part;
    part.form = operators::ViewForm::Index;
    part.arguments.push_back(viewArgument(assignment.arguments[1]));
    return part;
}

bool isItemAssignment(const OperatorCall& call) {
    return operators::traitsOf(call.domain, call.op).opClass == operators::OpClass::SetItem &&
           call.arguments.size() > 2;
}

/// PyTorch does not refuse it.
bool isAllowed(Overlap overlap, const OperatorCall& call) {
    if (overlap == Overlap::Apart) return true;
    return (overlap == Overlap::Same || overlap == Overlap::ApartOrSame) && !operators::refusesAnyOverlap(call.op);
}

/// The nodes whose parts the steps of `stepsOf` are; an invalid one where a step has none.
std::vector<graph::NodeId> basesOf(const Memory::CellPtr& cell) {
    std::vector<graph::NodeId> bases;
    for (const Memory::Cell* at = cell.get(); at->base; at = at->base.get()) {
        const Cut& cut = *at->cut;
        if (!cut.positions && keepsAll(cut.call)) continue;
        const bool isNode = !cut.positions && !cut.call.arguments.empty() && cut.call.arguments.front().isProxy();
        bases.push_back(isNode ? cut.call.arguments.front().node() : graph::NodeId());
    }
    std::ranges::reverse(bases);
    return bases;
}

}  // namespace

/// `written`: the argument that the call writes to.
void Memory::checkOverlap(const OperatorCall& call, const CellPtr& target, const Var* written) {
    if (operators::readsNumberFirst(call.op)) return;
    const Cell* root = nullptr;
    std::vector<ViewStep> steps = stepsOf(target, m_tracer, root);
    // x[index] = value writes to a part.
    const bool isItem = isItemAssignment(call);
    if (isItem) steps.push_back(partOf(call));
    const auto check = [&](const Var& argument) {
        if (&argument == written || (isItem && &argument == &call.arguments[1])) return;
        visitProxies(argument, [&](const Var& proxy) {
            const CellPtr cell = &proxy.tracer() == &m_tracer ? findCell(proxy.node()) : nullptr;
            if (!cell) return;
            const Cell* other = nullptr;
            const std::vector<ViewStep> read = stepsOf(cell, m_tracer, other);
            if (other != root) return;
            const Overlap overlap = graph::overlapOf(steps, read);
            if (isAllowed(overlap, call)) return;
            const bool isOpen = overlap == Overlap::Unknown || overlap == Overlap::ApartOrSame;
            if (isOpen && m_sizes.of && !mayOverlapBySize(call, target, cell, isItem)) return;
            refuse(*target, "is written by " + call.display + " from a part of itself: " + operators::kOverlapText);
        });
    };
    for (const Var& argument : call.arguments) check(argument);
    for (const auto& [keyword, argument] : call.keywords) check(argument);
}

/// Whether they still may meet where the sizes are those of this trace. If not, it holds only for the sizes that say
/// so.
bool Memory::mayOverlapBySize(const OperatorCall& call, const CellPtr& target, const CellPtr& read, bool isItem) {
    const Cell* root = nullptr;
    std::vector<ViewStep> steps[] = {stepsOf(target, m_tracer, root), stepsOf(read, m_tracer, root)};
    std::vector<graph::NodeId> bases[] = {basesOf(target), basesOf(read)};
    if (isItem) {
        steps[0].push_back(partOf(call));
        bases[0].push_back(target->node);
    }
    for (std::size_t side = 0; side < 2; ++side) {
        for (std::size_t i = 0; i < steps[side].size(); ++i) {
            if (bases[side][i].valid()) steps[side][i].dims = m_sizes.of(bases[side][i]);
        }
    }
    const auto decides = [&] { return isAllowed(graph::overlapOf(steps[0], steps[1]), call); };
    if (!decides()) return true;
    for (std::size_t side = 0; side < 2; ++side) {
        for (std::size_t i = 0; i < steps[side].size(); ++i) {
            for (std::size_t axis = 0; axis < steps[side][i].dims.size(); ++axis) {
                const std::int64_t size = std::exchange(steps[side][i].dims[axis], -1);
                if (decides()) continue;
                steps[side][i].dims[axis] = size;
                m_sizes.keep(bases[side][i], axis);
            }
        }
    }
    return false;
}

}  // namespace sonde::trace
