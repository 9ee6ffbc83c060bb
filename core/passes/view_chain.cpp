#include "core/passes/view_chain.h"

#include <algorithm>

#include "core/graph/memory.h"
#include "core/passes/vocabulary.h"

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
    const bool isOne =
        step.kind == Argument::Kind::Constant && step.constant.kind() == ValueKind::Int && step.constant.toInt() == 1;
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

/// What a slice, select or narrow takes along its axis.
std::optional<Argument> partOf(const InternalGraph& graph, const Expr& expr) {
    const ViewForm form = traitsOf(expr).form;
    if (form == ViewForm::Select) return given(expr, 2, "index");
    if (form == ViewForm::Slice) return sliceOf(given(expr, 2, "start"), given(expr, 3, "end"), stepOfSlice(expr));
    const auto start = intOf(graph, argumentOf(expr, 2, "start"));
    const auto length = intOf(graph, argumentOf(expr, 3, "length"));
    if (!start || !length) return std::nullopt;
    // narrow(x, d, -2, 2) goes to the end.
    const bool isToTheEnd = *start < 0 && *start + *length == 0;
    return sliceOf(Argument::of(Value::ofInt(*start)),
                   isToTheEnd ? none() : Argument::of(Value::ofInt(*start + *length)), none());
}

}  // namespace

bool cutsPart(const InternalGraph& graph, const Expr& expr) {
    const graph::MemoryEffect effect = graph::memoryEffect(graph, expr);
    if (effect.sharing != graph::Sharing::View || effect.isList) return false;
    const ViewForm form = traitsOf(expr).form;
    return form == ViewForm::Index || operators::cutsPart(form);
}

std::optional<Argument> indexOf(const InternalGraph& graph, const Expr& expr) {
    const OpClass opClass = opClassOf(expr);
    if (opClass == OpClass::Index) {
        const Argument& index = expr.arguments[1];
        return index.kind == Argument::Kind::Tuple ? index : Argument::container(Argument::Kind::Tuple, {index});
    }
    const auto axis = axisOf(graph, expr);
    auto part = partOf(graph, expr);
    if (!axis || !part) return std::nullopt;
    std::vector<Argument> parts(*axis, fullSlice());
    parts.push_back(std::move(*part));
    return Argument::container(Argument::Kind::Tuple, std::move(parts));
}

std::optional<Argument> mergedIndex(const InternalGraph& graph, const ViewChain& chain) {
    if (chain.size() == 1) return indexOf(graph, graph.expr(chain.front()));
    std::vector<std::optional<Argument>> byAxis;
    std::vector<bool> selected;  // by the root's axes: gone behind the select
    for (std::size_t i = chain.size(); i-- > 0;) {
        const Expr& view = graph.expr(chain[i]);
        if (opClassOf(view) == OpClass::Index) return std::nullopt;
        const auto current = axisOf(graph, view);
        auto part = partOf(graph, view);
        if (!current || !part) return std::nullopt;
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
        byAxis[axis] = std::move(*part);
        selected[axis] = traitsOf(view).form == ViewForm::Select;
    }
    std::vector<Argument> parts;
    for (const auto& part : byAxis) parts.push_back(part ? *part : fullSlice());
    return Argument::container(Argument::Kind::Tuple, std::move(parts));
}

}  // namespace sonde::passes
