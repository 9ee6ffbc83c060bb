#include "core/analysis/call_spelling.h"

#include <algorithm>
#include <span>

#include "core/analysis/call_arguments.h"
#include "core/analysis/model_summary.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using graph::InternalGraph;
using operators::OpClass;

namespace {

constexpr std::string_view kAxisNames[] = {"axis", "axes", "dim", "dims", "dim0", "dim1"};

/// Of the value that the axes of an operation are of; -1: it is not known.
std::int64_t rankOfAxes(const InternalGraph& graph, const Expr& expr) {
    const OpClass kind = graph::traitsOf(expr).opClass;
    // A new dimension is one of the result.
    const auto rankOf = [&](const std::vector<graph::NodeId>& nodes) -> std::int64_t {
        if (nodes.empty()) return -1;
        const auto& shape = graph.node(nodes.front()).type.shape;
        return shape ? std::ssize(*shape) : -1;
    };
    if (kind == OpClass::ExpandDims || kind == OpClass::Stack) return rankOf(expr.outputs);
    // Of others with more dimensions in the result it may be either.
    const std::int64_t own = rankOf(expr.inputs);
    return rankOf(expr.outputs) > own && kind != OpClass::Index ? -1 : own;
}

}  // namespace

const ops::FormalAttribute* formalAttribute(const Expr& expr, std::string_view name) {
    const ops::OpDef* const op = definitionOf(expr);
    if (!op) return nullptr;
    const auto formal = std::ranges::find(op->attributes, name, &ops::FormalAttribute::name);
    return formal == op->attributes.end() ? nullptr : &*formal;
}

const tensor::AttributeValue* effectiveAttribute(const Expr& expr, std::string_view name) {
    if (const tensor::AttributeValue* const given = expr.attributes.find(name)) return given;
    const ops::FormalAttribute* const formal = formalAttribute(expr, name);
    return formal && formal->fallback ? &*formal->fallback : nullptr;
}

bool isAxisName(std::string_view name) { return std::ranges::find(kAxisNames, name) != std::end(kAxisNames); }

std::optional<std::vector<std::int64_t>> axesFromFront(const InternalGraph& graph, const Expr& expr,
                                                       const tensor::Value& value) {
    auto axes = CallArguments::integers(value);
    const std::int64_t rank = rankOfAxes(graph, expr);
    if (!axes || rank < 0) return std::nullopt;
    for (std::int64_t& axis : *axes)
        if (axis < 0) axis += rank;
    return axes;
}

std::optional<std::vector<std::int64_t>> axesFromFront(const InternalGraph& graph, const Expr& expr,
                                                       const tensor::AttributeValue* value) {
    std::vector<std::int64_t> axes;
    if (const auto* const one = value ? std::get_if<std::int64_t>(value) : nullptr) axes = {*one};
    else if (const auto* const all = value ? std::get_if<std::vector<std::int64_t>>(value) : nullptr) axes = *all;
    tensor::ValueList list;
    for (const std::int64_t axis : axes) list.push_back(tensor::Value::ofInt(axis));
    return axes.empty() ? std::nullopt : axesFromFront(graph, expr, tensor::Value::list(std::move(list)));
}

bool isCommutative(const Expr& expr) {
    const OpClass opClass = graph::traitsOf(expr).opClass;
    // a + alpha·b
    const auto isFactor = [](const Argument& argument) {
        return argument.kind == Argument::Kind::Constant && argument.constant.isNumber() &&
               argument.constant.number() != 1;
    };
    if (expr.arguments.size() > 2 && std::ranges::any_of(std::span(expr.arguments).subspan(2), isFactor)) return false;
    if (std::ranges::any_of(expr.keywords, [&](const auto& each) { return isFactor(each.second); })) return false;
    return opClass == OpClass::Add || opClass == OpClass::Mul || opClass == OpClass::Maximum ||
           opClass == OpClass::Minimum;
}

}  // namespace sonde::analysis
