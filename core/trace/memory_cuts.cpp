// Views as calls: made again on another base, and turned round for what was written through them.

#include <algorithm>

#include "core/graph/memory.h"
#include "core/trace/error.h"
#include "core/trace/memory.h"

namespace sonde::trace {

using graph::NodeId;
using tensor::ValueKind;

namespace {

Var aten(std::string_view op, std::vector<Var> arguments) {
    const std::string_view display = graph::withoutOverload(op);
    return callFunction(Function{op, display, display}, std::move(arguments));
}
Var item(const Var& list, std::size_t index) { return list[Var(index)]; }

using operators::ViewForm;

ViewForm formOf(const OperatorCall& call) { return operators::traitsOf(call.domain, call.op).form; }

/// The dimension that chunk, split and the like go along.
Var dimensionOf(const OperatorCall& call) {
    const ViewForm form = formOf(call);
    if (form == ViewForm::VerticalSplit) return Var(0);
    if (form == ViewForm::DepthSplit) return Var(2);
    const Var* given = call.argument(form == ViewForm::Unbind ? 1 : 2, "dim");
    return given && !given->isNone() ? *given : Var(0);
}

/// All parts joined again.
Var joined(const OperatorCall& call, const Var& parts) {
    const bool isUnbind = formOf(call) == ViewForm::Unbind;
    if (formOf(call) == ViewForm::HorizontalSplit)
        throw TraceError(TraceErrorKind::Runtime, "a write through hsplit is not supported; use split");
    return callFunction(
        Function{isUnbind ? "stack" : "cat", isUnbind ? "stack" : "cat", isUnbind ? "torch.stack" : "torch.cat"},
        {parts, dimensionOf(call)});
}

std::vector<std::int64_t> inverseOf(const Var& dims) {
    const std::vector<Var> items = dims.iterate();
    const auto rank = static_cast<std::int64_t>(items.size());
    std::vector<std::int64_t> inverse(items.size());
    for (std::int64_t i = 0; i < rank; ++i) {
        const std::int64_t dim = items[static_cast<std::size_t>(i)].toInt();
        const std::int64_t at = dim < 0 ? dim + rank : dim;
        if (at < 0 || at >= rank)
            throw TraceError(TraceErrorKind::Value, "permute got a dimension that does not exist");
        inverse[static_cast<std::size_t>(at)] = i;
    }
    return inverse;
}

/// Counted from the back, the end of a dimension is no number.
Var endOfNarrow(const Var& start, const Var& length) {
    const auto isInt = [](const Var& var) {
        return var.kind() == Var::Kind::Value && var.value().kind() == ValueKind::Int;
    };
    const bool isToTheEnd = isInt(start) && isInt(length) && start.toInt() < 0 && start.toInt() + length.toInt() >= 0;
    return isToTheEnd ? Var() : start + length;
}

Var flat(const Var& base) {
    return callMethod(Function{"reshape", "reshape", "reshape"}, {base, Var(std::vector<std::int64_t>{-1})});
}
constexpr Function kGetElements{"getitem", "getitem", "operator.getitem", true, "prim"};
constexpr Function kSetItem{"setitem", "setitem", "operator.setitem", true, "prim"};

/// The arguments of a view after its base, with `first` in front.
std::vector<Var> behind(const OperatorCall& call, std::vector<Var> first) {
    first.insert(first.end(), call.arguments.begin() + 1, call.arguments.end());
    return first;
}

Var withPart(const OperatorCall& call, const Var& base, const Var& value) {
    return callFunction(Function{"slice_scatter", "slice_scatter", "torch.slice_scatter"}, behind(call, {base, value}),
                        call.keywords);
}

/// view(x, dtype) shows the same bytes as other elements.
bool isOtherType(const OperatorCall& call) {
    const bool isSure = operators::traitsOf(call.domain, call.op).memory.sharing == graph::Sharing::View;
    return isSure && call.arguments.size() > 1 && call.arguments[1].kind() == Var::Kind::Value &&
           call.arguments[1].value().kind() == ValueKind::Int;
}

}  // namespace

Var cutAgain(const Cut& cut, const Var& base) {
    const WritesAsValues values;
    if (cut.positions) return callFunction(kGetElements, {flat(base), Var(*cut.positions)});
    const Var made = cut.call.on(base);
    return cut.item ? item(made, *cut.item) : made;
}

Var putBack(const Cut& cut, const Var& base, const Var& value) {
    const WritesAsValues values;
    if (cut.positions) return aten("view_as", {callFunction(kSetItem, {flat(base), Var(*cut.positions), value}), base});
    const OperatorCall& call = cut.call;
    const operators::Traits& traits = operators::traitsOf(call.domain, call.op);
    if (keepsAll(call)) return value;
    if (traits.memory.isList) {
        if (!cut.item) return joined(call, value);
        const Var parts = call.on(base);
        std::vector<Var> items = parts.isProxy() ? std::vector<Var>{} : parts.iterate();
        if (items.empty()) return joined(call, callFunction(kSetItem, {parts, Var(*cut.item), value}));
        items.at(*cut.item) = value;
        return joined(call, Var::list(std::move(items)));
    }
    if (traits.opClass == operators::OpClass::GetAttr) {
        const std::string attribute = call.arguments.at(1).value().toString();
        if (operators::traitsOf("aten", operators::operatorOfAttribute(attribute)).form == ViewForm::Transpose)
            return value.attr(attribute);
    }
    switch (traits.form) {
        case ViewForm::Index: return callFunction(kSetItem, {base, call.arguments.at(1), value});
        case ViewForm::Slice: return withPart(call, base, value);
        case ViewForm::Narrow: {
            const Var start = *call.argument(2, "start"), length = *call.argument(3, "length");
            return aten("slice_scatter", {base, value, *call.argument(1, "dim"), start, endOfNarrow(start, length)});
        }
        case ViewForm::Select:
            return aten("select_scatter", {base, value, *call.argument(1, "dim"), *call.argument(2, "index")});
        case ViewForm::Diagonal:
            return callFunction(Function{"diagonal_scatter", "diagonal_scatter", "torch.diagonal_scatter"},
                                behind(call, {base, value}), call.keywords);
        case ViewForm::Transpose: return call.on(value);
        case ViewForm::Permute: return aten("permute", {value, Var(inverseOf(*call.argument(1, "dims")))});
        case ViewForm::MoveDim:
            return aten(call.op, {value, *call.argument(2, "destination"), *call.argument(1, "source")});
        case ViewForm::AsReal: return aten("view_as_complex", {value});
        case ViewForm::AsComplex: return aten("view_as_real", {value});
        case ViewForm::NewShape:
            if (isOtherType(call))
                throw TraceError(TraceErrorKind::Runtime,
                                 "a write through a view with another element type is not supported");
            return aten("view_as", {value, base});
        case ViewForm::Expand: return aten("view_as", {value, base});  // one that repeats none
        default: break;
    }
    if (operators::keepsOrder(traits.form)) return aten("view_as", {value, base});
    throw TraceError(TraceErrorKind::Runtime, "a write in place through " + call.display + " is not supported");
}

void Memory::share(const Var& view, const Var& base, const Shown& shown) {
    if (view.isProxy() && base.isProxy()) showPart(view, cellOf(base), shown);
}

void Memory::share(const Var& view, const std::shared_ptr<const Slot>& slot, const Shown& shown) {
    // Parts of it are cut in the bodies that read it.
    if (view.isProxy()) showPart(view, slotCell(slot), shown.same ? shown : Shown());
}

void Memory::showPart(const Var& view, const CellPtr& known, const Shown& shown) {
    CellPtr cell = findCell(view.node());
    if (!cell) cell = makeCell(view.node());
    std::vector<std::shared_ptr<const Cut>> cuts = shown.cuts;
    if (shown.same) {
        const OperatorCall alias(graph::ExprKind::CallFunction, kAlias, {view}, {});
        cuts = {std::make_shared<const Cut>(Cut{alias, {}, {}})};
    }
    if (!cuts.empty() && !cell->base) {
        CellPtr at = known;
        for (std::size_t i = 0; i < cuts.size(); ++i) {
            // What is cut on the way has a node when it is needed.
            const CellPtr next = i + 1 < cuts.size() ? makeCell(NodeId()) : cell;
            next->cut = cuts[i];
            next->base = at;
            next->baseVersion = at->version;
            next->overlaps = known->overlaps || shown.overlaps;
            at = next;
        }
    } else {
        cell->perhaps.emplace_back(known, known->version);
    }
    bind(view.node(), cell);
}

/// What a cell of a body shows of an input of it, as calls that can be made outside of it.
Shown Memory::shownOf(const Cell& cell, const Cell& input) {
    Shown shown;
    const Cell* at = &cell;
    for (; at != &input; at = at->base.get()) {
        if (!at->base || !at->perhaps.empty()) return {};
        const Cut& cut = *at->cut;
        shown.overlaps = shown.overlaps || at->overlaps;
        if (!cut.positions && !cut.item && keepsAll(cut.call)) continue;
        const auto isOfBody = [](const Var& argument) { return argument.hasProxy(); };
        const bool isFixed =
            cut.positions ||
            (std::none_of(cut.call.arguments.begin() + 1, cut.call.arguments.end(), isOfBody) &&
             std::ranges::none_of(cut.call.keywords, [&](const auto& entry) { return isOfBody(entry.second); }));
        if (!isFixed) return {};
        shown.cuts.push_back(at->cut);
    }
    if (!input.perhaps.empty()) return {};
    std::ranges::reverse(shown.cuts);
    shown.same = shown.cuts.empty();
    return shown;
}

}  // namespace sonde::trace
