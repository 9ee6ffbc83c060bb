// Writes whose source is a part of the same tensor: PyTorch refuses those that meet what they read, and so does a
// trace, which would read what was there before. It allows what it can show to be apart.

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/graph/memory.h"
#include "core/graph/view_overlap.h"
#include "core/operators/overlap.h"
#include "core/trace/memory.h"

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

ViewStep viewStep(const OperatorCall& call, const Recording& recording) {
    ViewStep step{.op = call.op,
                  .form = operators::traitsOf(call.domain, call.op).form,
                  .arguments = {},
                  .keywords = {},
                  .item = {},
                  .dims = {},
                  .call = 0};
    for (std::size_t i = 1; i < call.arguments.size(); ++i) step.arguments.push_back(viewArgument(call.arguments[i]));
    for (const auto& [name, argument] : call.keywords) step.keywords.emplace_back(name, viewArgument(argument));
    const graph::InternalGraph* graph = recording.recordedGraph();
    if (graph && !call.arguments.empty() && call.arguments.front().isProxy())
        step.dims = graph::knownDims(graph->node(call.arguments.front().node()).type);
    return step;
}

/// How views were cut out of their root, from the root on; what shows all of its base as it is counts for nothing.
std::vector<ViewStep> stepsOf(const Memory::CellPtr& cell, const Recording& recording, const Memory::Cell*& root) {
    std::vector<ViewStep> steps;
    const Memory::Cell* at = cell.get();
    for (; at->base; at = at->base.get()) {
        const Cut& cut = *at->cut;
        if (!cut.positions && keepsAll(cut.call)) continue;
        steps.push_back(cut.positions ? ViewStep{} : viewStep(cut.call, recording));
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
bool isAllowed(Overlap overlap, bool allowsSame) {
    return overlap == Overlap::Apart || (allowsSame && (overlap == Overlap::Same || overlap == Overlap::ApartOrSame));
}

/// x[index] = value into elements that are gathered one by one: PyTorch asks whether the value is any part of x.
bool gathers(const OperatorCall& assignment, const Recording& recording) {
    constexpr Function kGetItem{"getitem", "getitem", "operator.getitem", false, "prim"};
    const OperatorCall part(graph::ExprKind::CallFunction, kGetItem, {assignment.arguments[0], assignment.arguments[1]},
                            {});
    return linkOf(part, &recording, false) == Link::None;
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

/// It can be cut out of any base as it was written.
bool isFixed(const Cut& cut) {
    const auto isOfTrace = [](const auto& entry) { return entry.second.hasProxy(); };
    return cut.positions || (std::none_of(cut.call.arguments.begin() + 1, cut.call.arguments.end(),
                                          [](const Var& argument) { return argument.hasProxy(); }) &&
                             std::ranges::none_of(cut.call.keywords, isOfTrace));
}

Overlap overlapOfElements(std::vector<std::int64_t> (&elements)[2], bool isSameShape) {
    if (isSameShape && elements[0] == elements[1] && !elements[0].empty()) return Overlap::Same;
    std::ranges::sort(elements[0]);
    const bool meets = std::ranges::any_of(
        elements[1], [&](std::int64_t element) { return std::ranges::binary_search(elements[0], element); });
    return meets ? Overlap::Meet : Overlap::Apart;
}

}  // namespace

/// `written`: the argument that the call writes to.
void Memory::checkOverlap(const OperatorCall& call, const CellPtr& target, const Var* written) {
    if (operators::readsNumberFirst(call.op)) return;
    const Cell* root = nullptr;
    std::vector<ViewStep> steps = stepsOf(target, m_recording, root);
    // x[index] = value writes to a part.
    const bool isItem = isItemAssignment(call), isGathered = isItem && gathers(call, m_recording);
    const bool allowsSame = !isGathered && !operators::refusesAnyOverlap(call.op);
    const OperatorCall* const part = isItem && !isGathered ? &call : nullptr;
    if (part) steps.push_back(partOf(call));
    const auto check = [&](const Var& argument) {
        if (&argument == written || (isItem && &argument == &call.arguments[1])) return;
        visitProxies(argument, [&](const Var& proxy) {
            const CellPtr cell = &proxy.tracer() == &m_tracer ? findCell(proxy.node()) : nullptr;
            if (!cell) return;
            const Cell* other = nullptr;
            const std::vector<ViewStep> read = stepsOf(cell, m_recording, other);
            if (other != root) return;
            Overlap overlap = graph::overlapOf(steps, read);
            if (isAllowed(overlap, allowsSame)) return;
            const auto isOpen = [&] { return overlap == Overlap::Unknown || overlap == Overlap::ApartOrSame; };
            if (isOpen() && m_sizes.of) overlap = overlapBySize(target, part, cell, allowsSame);
            if (isAllowed(overlap, allowsSame)) return;
            refuse(*target, "is written by " + call.display + " from a part of itself: " +
                                (isOpen() ? operators::kUndecidedOverlapText : operators::kOverlapText));
        });
    };
    for (const Var& argument : call.arguments) check(argument);
    for (const auto& [keyword, argument] : call.keywords) check(argument);
}

/// The same by cutting both out of a tensor that numbers the elements of the root.
Overlap Memory::overlapOfPositions(const CellPtr& written, const CellPtr& read, bool allowsSame) {
    constexpr std::int64_t kMaxElements = 1 << 20;
    std::vector<std::shared_ptr<const Cut>> cuts[2];
    const Cell* root = nullptr;
    for (std::size_t side = 0; side < 2; ++side) {
        for (root = (side == 0 ? written : read).get(); root->base; root = root->base.get())
            cuts[side].push_back(root->cut);
    }
    if (!root->node.valid()) return Overlap::Unknown;
    const tensor::Shape shape(m_sizes.of(root->node));
    if (shape.rank() == 0 || shape.numel() > kMaxElements || !EvaluatorScope::current()) return Overlap::Unknown;
    tensor::Tensor numbers = tensor::Tensor::zeros(tensor::DType::Int64, shape).value();
    std::iota(numbers.mutableData<std::int64_t>(), numbers.mutableData<std::int64_t>() + numbers.numel(), 0);
    std::vector<std::int64_t> elements[2];
    tensor::Shape shapes[2];
    for (std::size_t side = 0; side < 2; ++side) {
        Var part(numbers);
        for (auto cut = cuts[side].rbegin(); cut != cuts[side].rend(); ++cut) {
            if (!isFixed(**cut)) return Overlap::Unknown;
            part = cutAgain(**cut, part);
        }
        if (!part.value().isTensor() || part.value().tensor().dtype() != tensor::DType::Int64) return Overlap::Unknown;
        const tensor::Tensor packed = part.value().tensor().contiguous().value();
        elements[side].assign(packed.data<std::int64_t>(), packed.data<std::int64_t>() + packed.numel());
        shapes[side] = packed.shape();
    }
    const Overlap overlap = overlapOfElements(elements, shapes[0] == shapes[1]);
    for (std::size_t axis = 0; axis < shape.rank() && isAllowed(overlap, allowsSame); ++axis)
        m_sizes.keep(root->node, axis);
    return overlap;
}

/// How they meet where the sizes are those of this trace. If the write is allowed then, the trace holds only for the
/// sizes that say so. `part`: the assignment that writes to an item of the target, if one does.
Overlap Memory::overlapBySize(const CellPtr& target, const OperatorCall* part, const CellPtr& read, bool allowsSame) {
    const Cell* root = nullptr;
    std::vector<ViewStep> steps[] = {stepsOf(target, m_recording, root), stepsOf(read, m_recording, root)};
    std::vector<graph::NodeId> bases[] = {basesOf(target), basesOf(read)};
    if (part) {
        steps[0].push_back(partOf(*part));
        bases[0].push_back(target->node);
    }
    for (std::size_t side = 0; side < 2; ++side) {
        for (std::size_t i = 0; i < steps[side].size(); ++i) {
            if (bases[side][i].valid()) steps[side][i].dims = m_sizes.of(bases[side][i]);
        }
    }
    const Overlap overlap = graph::overlapOf(steps[0], steps[1]);
    if (overlap == Overlap::Unknown && !part) return overlapOfPositions(target, read, allowsSame);
    const auto decides = [&] { return isAllowed(graph::overlapOf(steps[0], steps[1]), allowsSame); };
    if (!decides()) return overlap;
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
    return overlap;
}

}  // namespace sonde::trace
