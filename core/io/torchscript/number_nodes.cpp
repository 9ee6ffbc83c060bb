#include "core/io/torchscript/number_nodes.h"

#include <algorithm>
#include <string_view>

#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

using graph::Argument;
using tensor::ValueKind;

constexpr int kFarthest = 6;

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

NumberKind kindOf(const tensor::Value& value) {
    if (value.kind() == ValueKind::Int) return NumberKind::Whole;
    if (value.isNumber()) return NumberKind::Number;
    if (!value.isListLike() || value.items().empty()) return NumberKind::Unknown;
    NumberKind least = NumberKind::Whole;
    for (const tensor::Value& item : value.items())
        least = std::min(least, item.isNumber() ? kindOf(item) : NumberKind::Unknown);
    return least;
}

NumberKind kindOf(const graph::InternalGraph& graph, const Argument& argument, int depth);

/// Of what an operation gives.
NumberKind resultOf(const graph::InternalGraph& graph, const graph::Expr& expr, int depth) {
    const std::string_view op = expr.op.name;
    if (isOneOf(op, {"size.int", "dim", "numel", "__range_length", "__derive_index"})) return NumberKind::Whole;
    if (isOneOf(op, {"item", "ScalarImplicit", "FloatImplicit"})) return NumberKind::Number;
    if (expr.op.domain != "prim" || expr.arguments.empty() || depth == 0) return NumberKind::Unknown;
    if (isOneOf(op, {"Int", "len"})) return NumberKind::Whole;
    if (isOneOf(op, {"Float", "Bool"})) return NumberKind::Number;
    if (op == "getitem") return kindOf(graph, expr.arguments.front(), depth - 1);
    NumberKind least = NumberKind::Whole;
    for (const Argument& argument : expr.arguments) least = std::min(least, kindOf(graph, argument, depth - 1));
    if (least == NumberKind::Unknown || isOneOf(op, {"add", "sub", "mul", "floordiv", "mod", "neg", "Abs"}))
        return least;
    if (isOneOf(op, {"Floor", "Ceil"})) return NumberKind::Whole;
    const bool isNumber = isOneOf(
        op, {"truediv", "truncdiv", "pow", "sqrt", "Round", "Exp", "Log", "Sin", "Cos", "Tanh", "IsNaN", "IsInf"});
    return isNumber ? NumberKind::Number : NumberKind::Unknown;
}

/// A list is what its elements are.
NumberKind kindOf(const graph::InternalGraph& graph, const Argument& argument, int depth) {
    if (argument.kind == Argument::Kind::Constant) return kindOf(argument.constant);
    if (argument.kind != Argument::Kind::Node) return NumberKind::Unknown;
    const graph::Node& node = graph.node(argument.node);
    if (node.constant) return kindOf(*node.constant);
    const graph::Expr& expr = graph.expr(node.producer);
    if (expr.op.name == "size") return NumberKind::Whole;
    if (expr.op.name == "getattr" && expr.arguments.size() == 2 && expr.arguments[1].kind == Argument::Kind::Constant) {
        const tensor::Value& name = expr.arguments[1].constant;
        return name.kind() == ValueKind::String && name.toString() == "shape" ? NumberKind::Whole : NumberKind::Unknown;
    }
    return resultOf(graph, expr, depth);
}

}  // namespace

NumberKind numberKindOf(const trace::Var& var) {
    if (!var.isProxy() || !var.tracer().recording().recordedGraph() || var.tracer().recording().isTensor(var.node()))
        return NumberKind::Unknown;
    const graph::InternalGraph& graph = *var.tracer().recording().recordedGraph();
    return resultOf(graph, graph.expr(graph.node(var.node()).producer), kFarthest);
}

}  // namespace sonde::io::script
