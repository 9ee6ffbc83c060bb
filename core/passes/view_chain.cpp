#include "core/passes/view_chain.h"

#include <algorithm>

#include "core/passes/vocabulary.h"
#include "core/tensor/slice_value.h"

namespace sonde::passes {

namespace {

using tensor::ValueKind;

Argument none() { return Argument::of(Value()); }
Argument sliceOf(Argument start, Argument stop, Argument step) {
    return Argument::container(Argument::Kind::Slice, {std::move(start), std::move(stop), std::move(step)});
}
Argument fullSlice() { return sliceOf(none(), none(), none()); }

Argument given(const Expr& expr, std::size_t index, std::string_view keyword) {
    const Argument* argument = argumentOf(expr, index, keyword);
    return argument ? *argument : none();
}

/// A step of 1 says nothing.
Argument stepOfSlice(const Expr& expr) {
    Argument step = given(expr, 4, "step");
    const bool isOne = step.kind == Argument::Kind::Constant && step.constant.kind() == ValueKind::Int && step.constant.toInt() == 1;
    return isOne ? none() : step;
}

/// The axis of a slice or select, counted from the front.
std::optional<std::size_t> axisOf(const InternalGraph& graph, const Expr& expr) {
    const Argument* argument = argumentOf(expr, 1, "dim");
    std::int64_t axis = 0;
    if (argument) {
        const auto known = intOf(graph, argument);
        if (!known) return std::nullopt;
        axis = *known;
    }
    if (axis < 0) {
        const auto& shape = graph.node(expr.inputs.front()).type.shape;
        if (!shape) return std::nullopt;
        axis += static_cast<std::int64_t>(shape->size());
    }
    // Bounded, so that a hostile axis makes no giant index.
    if (axis < 0 || axis > 64) return std::nullopt;
    return static_cast<std::size_t>(axis);
}

/// A part of an index that cuts: everything but masks, lists and nodes that may be tensors.
bool isBasic(const InternalGraph& graph, const Argument& part) {
    switch (part.kind) {
        case Argument::Kind::Slice: return true;
        case Argument::Kind::Constant: {
            const ValueKind kind = part.constant.kind();
            return kind == ValueKind::Int || kind == ValueKind::None || kind == ValueKind::Object;
        }
        case Argument::Kind::Tuple:
            return std::all_of(part.items.begin(), part.items.end(), [&](const Argument& item) {
                return item.kind != Argument::Kind::Tuple && isBasic(graph, item);
            });
        case Argument::Kind::Node: return graph.node(part.node).type.kind == ValueKind::Int;
        default: return false;
    }
}

}  // namespace

bool cutsPart(const InternalGraph& graph, const Expr& expr) {
    if (!makesView(expr)) return false;
    switch (meaningOf(expr)) {
        case Meaning::Slice:
        case Meaning::Select: return true;
        case Meaning::Index: {
            const Argument* index = argumentOf(expr, 1);
            return expr.op.domain == "prim" && index && isBasic(graph, *index);
        }
        default: return false;
    }
}

ViewChain viewChainOf(const Rewrite& rewrite, NodeId node) {
    ViewChain chain;
    for (const Expr* expr = &rewrite.producer(node); makesView(*expr); expr = &rewrite.producer(node)) {
        if (expr->arguments.empty() || expr->arguments[0].kind != Argument::Kind::Node) break;
        // An index with a mask or a tensor takes a copy.
        const Argument* index = argumentOf(*expr, 1);
        const bool takesCopy = meaningOf(*expr) == Meaning::Index && index && index->kind == Argument::Kind::Node &&
                               rewrite.graph().node(index->node).type.isTensor();
        if (takesCopy) break;
        chain.views.push_back(expr->id);
        node = expr->arguments[0].node;
    }
    chain.root = node;
    return chain;
}

std::optional<Argument> indexOf(const InternalGraph& graph, const Expr& expr) {
    const Meaning meaning = meaningOf(expr);
    if (meaning == Meaning::Index) {
        const Argument& index = expr.arguments[1];
        return index.kind == Argument::Kind::Tuple ? index : Argument::container(Argument::Kind::Tuple, {index});
    }
    const auto axis = axisOf(graph, expr);
    if (!axis) return std::nullopt;
    std::vector<Argument> parts(*axis, fullSlice());
    if (meaning == Meaning::Select) parts.push_back(given(expr, 2, "index"));
    else parts.push_back(sliceOf(given(expr, 2, "start"), given(expr, 3, "end"), stepOfSlice(expr)));
    return Argument::container(Argument::Kind::Tuple, std::move(parts));
}

std::optional<Argument> mergedIndex(const InternalGraph& graph, const ViewChain& chain) {
    if (chain.views.size() == 1) return indexOf(graph, graph.expr(chain.views.front()));
    std::vector<std::optional<Argument>> byAxis;
    std::vector<bool> selected;  // by the root's axes: gone behind the select
    for (std::size_t i = chain.views.size(); i-- > 0;) {
        const Expr& view = graph.expr(chain.views[i]);
        if (meaningOf(view) == Meaning::Index) return std::nullopt;
        const auto current = axisOf(graph, view);
        if (!current) return std::nullopt;
        // The current-th axis that is still there.
        std::size_t axis = 0;
        for (std::size_t left = *current;; ++axis) {
            if (axis < selected.size() && selected[axis]) continue;
            if (left-- == 0) break;
        }
        if (axis >= byAxis.size()) {
            byAxis.resize(axis + 1);
            selected.resize(axis + 1, false);
        }
        if (byAxis[axis]) return std::nullopt;
        const bool isSelect = meaningOf(view) == Meaning::Select;
        if (isSelect) byAxis[axis] = given(view, 2, "index");
        else byAxis[axis] = sliceOf(given(view, 2, "start"), given(view, 3, "end"), stepOfSlice(view));
        selected[axis] = isSelect;
    }
    std::vector<Argument> parts;
    for (const auto& part : byAxis) parts.push_back(part ? *part : fullSlice());
    return Argument::container(Argument::Kind::Tuple, std::move(parts));
}

}  // namespace sonde::passes
