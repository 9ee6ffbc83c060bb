// Writes whose source is a part of the same tensor: PyTorch refuses those that meet what they read, and so does a
// trace, which would read what was there before. It allows what it can show to be apart.

#include <algorithm>

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

}  // namespace

/// `written`: the argument that the call writes to.
void Memory::checkOverlap(const OperatorCall& call, const CellPtr& target, const Var* written) {
    if (operators::readsNumberFirst(call.op)) return;
    const Cell* root = nullptr;
    std::vector<ViewStep> steps = stepsOf(target, m_tracer, root);
    // x[index] = value writes to a part.
    const bool isItem =
        operators::traitsOf(call.domain, call.op).opClass == operators::OpClass::SetItem && call.arguments.size() > 2;
    if (isItem) {
        ViewStep part;
        part.form = operators::ViewForm::Index;
        part.arguments.push_back(viewArgument(call.arguments[1]));
        steps.push_back(std::move(part));
    }
    const auto check = [&](const Var& argument) {
        if (&argument == written || (isItem && &argument == &call.arguments[1])) return;
        visitProxies(argument, [&](const Var& proxy) {
            const CellPtr cell = &proxy.tracer() == &m_tracer ? findCell(proxy.node()) : nullptr;
            if (!cell) return;
            const Cell* other = nullptr;
            const std::vector<ViewStep> read = stepsOf(cell, m_tracer, other);
            if (other != root) return;
            const Overlap overlap = graph::overlapOf(steps, read);
            if (overlap == Overlap::Apart || (overlap == Overlap::Same && !operators::refusesAnyOverlap(call.op)))
                return;
            refuse(target->node,
                   "is written by " + call.display + " from a part of itself: " + operators::kOverlapText);
        });
    };
    for (const Var& argument : call.arguments) check(argument);
    for (const auto& [keyword, argument] : call.keywords) check(argument);
}

}  // namespace sonde::trace
