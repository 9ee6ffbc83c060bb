// Writes that PyTorch refuses because of where their elements are in memory: into a tensor that shows one element
// several times, and from a part of what is written. As values they would give something. What the calls of the views
// tell is refused here; where only sizes and numbers of a run tell, a check is put in front of the write, which cuts
// the same views out of a tensor of positions.

#include <algorithm>

#include "core/graph/view_overlap.h"
#include "core/operators/overlap.h"
#include "core/passes/inplace.h"
#include "core/passes/inplace_walk.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

using graph::Overlap;
using graph::ViewArgument;
using graph::ViewStep;

ViewArgument viewArgument(const InternalGraph& graph, const Argument& argument) {
    switch (argument.kind) {
        case Argument::Kind::Omitted: return {};
        case Argument::Kind::Node:
        case Argument::Kind::Constant: {
            const Value* known = constantOf(graph, &argument);
            return known ? ViewArgument::of(*known) : ViewArgument::unknown();
        }
        case Argument::Kind::Dict: return ViewArgument::unknown();
        default: break;
    }
    ViewArgument result = ViewArgument::container(
        argument.kind == Argument::Kind::Slice ? ViewArgument::Kind::Slice : ViewArgument::Kind::Tuple, {});
    for (const Argument& item : argument.items) result.items.push_back(viewArgument(graph, item));
    return result;
}

std::vector<std::int64_t> dimsOf(const InternalGraph& graph, const Argument& argument) {
    return argument.kind == Argument::Kind::Node ? graph::knownDims(graph.node(argument.node).type)
                                                 : std::vector<std::int64_t>();
}

/// A call of a view, or of a list of views together with the call that takes one of them.
ViewStep viewStep(const InternalGraph& graph, const std::vector<ExprId>& calls) {
    const Expr& expr = graph.expr(calls.front());
    ViewStep step{.op = expr.op.name,
                  .form = traitsOf(expr).form,
                  .arguments = {},
                  .keywords = {},
                  .item = {},
                  .dims = {},
                  .call = 0};
    for (std::size_t i = 1; i < expr.arguments.size(); ++i)
        step.arguments.push_back(viewArgument(graph, expr.arguments[i]));
    for (const auto& [name, argument] : expr.keywords) step.keywords.emplace_back(name, viewArgument(graph, argument));
    if (!expr.arguments.empty()) step.dims = dimsOf(graph, expr.arguments.front());
    step.call = calls.front().value + std::uint64_t{1};
    if (calls.size() < 2) return step;
    const auto item = intOf(graph, argumentOf(graph.expr(calls[1]), 1));
    if (item && *item >= 0) step.item = static_cast<std::size_t>(*item);
    else step.call = 0, step.arguments.push_back(ViewArgument::unknown());
    return step;
}

bool showsAll(const Expr& expr) {
    const ViewForm form = traitsOf(expr).form;
    return form == ViewForm::Same || form == ViewForm::Contiguous;
}

/// More elements than there are to show, or (expand) as many, by the shapes of the nodes. None: not known.
std::optional<bool> repeats(const InternalGraph& graph, const Expr& view) {
    const auto shown = graph.node(view.outputs.front()).type.staticShape();
    const auto whole = view.arguments.empty() || view.arguments.front().kind != Argument::Kind::Node
                           ? std::nullopt
                           : graph.node(view.arguments.front().node).type.staticShape();
    if (!shown || !whole) return std::nullopt;
    if (shown->numel() > whole->numel()) return true;
    return traitsOf(view).form == ViewForm::Expand ? std::optional(false) : std::nullopt;
}

/// x[index] of x[index] = value.
Expr itemOf(const Expr& assignment) {
    Expr item;
    item.kind = ExprKind::CallFunction;
    item.op = {"prim", "getitem", 0};
    item.target = "operator.getitem";
    item.arguments = {assignment.arguments[0], assignment.arguments[1]};
    return item;
}

Expr checkOf(std::string_view name, std::vector<Argument> arguments) {
    Expr expr;
    expr.kind = ExprKind::CallFunction;
    expr.op = {"sonde", std::string(name), 1};
    expr.target = std::string(name);
    expr.arguments = std::move(arguments);
    return expr;
}

}  // namespace

/// The calls that cut a place out of its storage, from the storage on.
std::vector<InplaceWalk::Steps> InplaceWalk::stepsOf(const Frame& frame, Id place) const {
    std::vector<Steps> steps;
    for (Id at = place; frame.memory.place(at).parent != kNone; at = frame.memory.place(at).parent) {
        const Steps& cut = frame.memory.place(at).steps;
        if (!cut.empty() && (cut.size() > 1 || !showsAll(m_graph.expr(cut.front())))) steps.push_back(cut);
    }
    std::ranges::reverse(steps);
    return steps;
}

/// `inputs`: the nodes that the expr names, as the program has them. Errors: the write is refused.
base::Result<void> InplaceWalk::checkOverlap(Frame& frame, ExprId id, NodeId target,
                                             const std::vector<NodeId>& inputs) {
    const Expr expr = m_graph.expr(id);
    SONDE_ASSIGN(const Id object, objectOf(frame, target));
    const Id place = frame.memory.placeOf(object);
    const std::vector<Steps> written = stepsOf(frame, place);
    SONDE_TRY(checkRepeats(frame, id, place, written));
    if (operators::readsNumberFirst(expr.op.name)) return {};
    const bool isItem = opClassOf(expr) == OpClass::SetItem && expr.arguments.size() > 2;
    // Elements that are gathered one by one: PyTorch asks whether the value is any part of the tensor.
    const bool gathers = isItem && graph::memoryEffect(m_graph, itemOf(expr)).sharing == graph::Sharing::Fresh;
    std::vector<ViewStep> parts = viewSteps(written);
    if (isItem && !gathers) {
        ViewStep part;
        part.form = ViewForm::Index;
        part.arguments.push_back(viewArgument(m_graph, expr.arguments[1]));
        part.dims = dimsOf(m_graph, expr.arguments[0]);
        parts.push_back(std::move(part));
    }
    // What is written to is read by no other argument; an index is read before.
    std::size_t skipped = 0;
    for (std::size_t i = 0; i < (isItem ? std::size_t{2} : std::size_t{0}); ++i)
        expr.arguments[i].forEachNode([&](NodeId) { ++skipped; });
    bool isTarget = !isItem;
    for (std::size_t i = skipped; i < inputs.size(); ++i) {
        if (isTarget && inputs[i] == target) {
            isTarget = false;
            continue;
        }
        const Id other = frame.memory.objectOf(inputs[i]);
        if (other == kNone || frame.memory.storageIdOfObject(other) != frame.memory.storageIdOfObject(object)) continue;
        const std::vector<Steps> read = stepsOf(frame, frame.memory.placeOf(other));
        const Overlap overlap = graph::overlapOf(parts, viewSteps(read));
        const bool allowsSame = !gathers && !operators::refusesAnyOverlap(expr.op.name);
        const bool mayBeSame = overlap == Overlap::Same || overlap == Overlap::ApartOrSame;
        if (overlap == Overlap::Apart || (mayBeSame && allowsSame)) continue;
        if (overlap == Overlap::Same || overlap == Overlap::Meet)
            return impossible({id, operators::kOverlapText, "write from a clone"});
        guardOverlap(frame, id, place, written, isItem && !gathers ? &expr.arguments[1] : nullptr, &read, allowsSame);
    }
    return {};
}

std::vector<ViewStep> InplaceWalk::viewSteps(const std::vector<Steps>& steps) const {
    std::vector<ViewStep> result;
    for (const Steps& step : steps) result.push_back(viewStep(m_graph, step));
    return result;
}

base::Result<void> InplaceWalk::checkRepeats(Frame& frame, ExprId id, Id place, const std::vector<Steps>& written) {
    // No step tells how the result of a branch or a call came to be, and a value that is put back into it would change
    // one of the places where it shows an element.
    Id root = place;
    while (frame.memory.place(root).parent != kNone) root = frame.memory.place(root).parent;
    if (frame.memory.place(root).mayOverlap)
        return impossible({id, "what it writes to may show one element several times, as expand does: not supported",
                           "write to a clone"});
    bool isOpen = false;
    for (const Steps& step : written) {
        const Expr& view = m_graph.expr(step.back());
        if (!traitsOf(view).is(Trait::Overlaps)) continue;
        const std::optional<bool> known = repeats(m_graph, view);
        if (known == true) return impossible({id, operators::kRepeatText, "write to a clone"});
        isOpen = isOpen || !known;
    }
    if (isOpen) guardOverlap(frame, id, place, written, nullptr, nullptr, false);
    return {};
}

/// Puts the check in front of the write. Without `read`: that no element is written twice.
void InplaceWalk::guardOverlap(Frame& frame, ExprId id, Id place, const std::vector<Steps>& written,
                               const Argument* index, const std::vector<Steps>* read, bool allowsSame) {
    const NodeId whole = frame.memory.place(frame.memory.storage(frame.memory.place(place).storage).root).original;
    Cursor cursor = Cursor::before(m_rewrite, id);
    const std::string name = m_graph.node(m_rewrite.output(id)).name;
    const auto insert = [&](Expr expr, std::string_view candidate) {
        const ExprId made = cursor.insert(std::move(expr), candidate, "checks what " + name + " writes to");
        m_rewrite.addOrigins(made, id);
        return m_rewrite.output(made);
    };
    const NodeId positions = insert(checkOf("positions", {Argument::of(whole)}), name + "_positions");
    const auto cut = [&](const std::vector<Steps>& steps) {
        NodeId at = positions;
        for (const Steps& step : steps) {
            at = takenAgain(cursor, step, at);
            m_graph.setType(at, {});
        }
        return at;
    };
    NodeId target = cut(written);
    if (index) {
        Expr part = itemOf(m_graph.expr(id));
        part.arguments = {Argument::of(target), *index};
        target = insert(std::move(part), name + "_positions");
    }
    insert(checkOf(kOverlapGuard, {Argument::of(target), read ? Argument::of(cut(*read)) : Argument::omitted(),
                                   Argument::of(Value::ofBool(allowsSame)), Argument::of(Value('\'' + name + '\''))}),
           name + "_guard");
    m_guarded.insert(id);
}

}  // namespace sonde::passes
