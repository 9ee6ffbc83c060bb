#include <algorithm>

#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

/// What a question for a shape answers if the shape is known: a tensor (ONNX), a list, a tuple, or one dimension.
std::optional<Value> answer(const InternalGraph& graph, const Expr& expr) {
    if (expr.inputs.empty() || expr.arguments.empty() || expr.arguments[0].kind != Argument::Kind::Node)
        return std::nullopt;
    const auto shape = graph.node(expr.arguments[0].node).type.staticShape();
    if (!shape) return std::nullopt;
    const std::vector<std::int64_t> dims(shape->begin(), shape->end());
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto listed = [&] {
        tensor::ValueList items;
        for (std::int64_t dim : dims) items.push_back(Value::ofInt(dim));
        return items;
    };
    if (familyOf(expr) == Family::Onnx) {
        const auto bound = [&](const char* name, std::int64_t fallback) {
            std::int64_t at = expr.attributes.getInt(name, fallback);
            if (at < 0) at += rank;
            return std::clamp<std::int64_t>(at, 0, rank);
        };
        const std::int64_t start = bound("start", 0);
        const std::int64_t end = std::max(start, bound("end", rank));
        const std::vector<std::int64_t> part(dims.begin() + start, dims.begin() + end);
        return Value(Tensor::of<std::int64_t>({end - start}, part));
    }
    if (expr.op.domain == "prim") return Value::tuple(listed());
    const Argument* dim = argumentOf(expr, 1, "dim");
    if (!dim || (constantOf(graph, dim) && constantOf(graph, dim)->isNone())) return Value::list(listed());
    auto axis = intOf(graph, dim);
    if (!axis) return std::nullopt;
    if (*axis < 0) *axis += rank;
    if (*axis < 0 || *axis >= rank) return std::nullopt;
    return Value::ofInt(dims[static_cast<std::size_t>(*axis)]);
}

bool asksForShape(const Expr& expr) {
    if (opClassOf(expr) == OpClass::Shape) return expr.outputs.size() == 1;
    if (opClassOf(expr) != OpClass::GetAttr || expr.arguments.size() != 2) return false;
    const Argument& name = expr.arguments[1];
    return name.kind == Argument::Kind::Constant && name.constant.kind() == tensor::ValueKind::String &&
           name.constant.toString() == "shape";
}

}  // namespace

base::Result<std::size_t> fixInputShape(Rewrite& rewrite) {
    InternalGraph& graph = rewrite.graph();
    const SharedMemory memory(graph);
    std::size_t count = 0;
    for (ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (!asksForShape(expr) ||
            std::ranges::any_of(expr.inputs, [&](NodeId input) { return memory.isReformed(input); }))
            continue;
        auto value = answer(graph, expr);
        if (!value) continue;
        const NodeId node = rewrite.output(id);
        const std::string name = graph.node(node).name;
        const std::string why = "the shape of " + graph.node(expr.arguments[0].node).name + " is known";
        const NodeId constant = rewrite.constantBefore(id, std::move(*value), name, why);
        rewrite.addOrigins(graph.node(constant).producer, id);
        rewrite.replace(node, constant, why);
        rewrite.erase(id, why);
        SONDE_TRY(graph.rename(constant, name));
        ++count;
    }
    return count;
}

}  // namespace sonde::passes
