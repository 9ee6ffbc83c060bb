#include "core/analysis/operator_cost.h"

#include <algorithm>

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using graph::InternalGraph;
using operators::Cost;
using tensor::Symbolic;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;

namespace {

/// The arguments of a call in the order of its schema.
class BoundCall {
  public:
    BoundCall(const InternalGraph& graph, const Expr& expr, const ops::Registry& registry) : m_graph(graph) {
        for (const Argument& argument : expr.arguments) add(argument);
        const ops::OpDef* op = registry.find(expr.op.domain, expr.op.name, expr.op.version);
        for (std::size_t i = types.size(); op && i < op->parameters.size(); ++i) {
            const ops::Parameter& parameter = op->parameters[i];
            const auto given = std::ranges::find(expr.keywords, parameter.name,
                                                 [](const auto& keyword) -> std::string_view { return keyword.first; });
            add(given != expr.keywords.end() ? given->second : Argument::of(parameter.fallback.value_or(Value())));
        }
        for (const graph::NodeId node : expr.outputs) outputs.push_back(graph.node(node).type);
    }

    std::vector<TypeInfo> types, outputs;
    std::vector<Value> values;

  private:
    void add(const Argument& argument) {
        types.push_back(typeOf(argument));
        values.push_back(valueOf(argument));
    }

    TypeInfo typeOf(const Argument& argument) const {
        switch (argument.kind) {
            case Argument::Kind::Node: return m_graph.node(argument.node).type;
            case Argument::Kind::Omitted: return TypeInfo::of(Value());
            case Argument::Kind::Constant: return TypeInfo::of(argument.constant);
            default: break;
        }
        // A list in a call has just what is in it.
        TypeInfo type;
        type.kind = ValueKind::Tuple;
        for (const Argument& item : argument.items) type.elements.push_back(typeOf(item));
        return type;
    }

    Value valueOf(const Argument& argument) const {
        if (argument.kind == Argument::Kind::Constant) return argument.constant;
        if (argument.kind == Argument::Kind::Node) return m_graph.node(argument.node).constant.value_or(Value());
        if (argument.kind != Argument::Kind::List && argument.kind != Argument::Kind::Tuple) return {};
        tensor::ValueList items;
        for (const Argument& item : argument.items) {
            items.push_back(valueOf(item));
            if (items.back().isNone()) return {};
        }
        return Value::list(std::move(items));
    }

    const InternalGraph& m_graph;
};

Cost costOfBody(const InternalGraph& graph, const graph::Body& body, const ops::Registry& registry) {
    const Symbolic zero = Symbolic::of(std::int64_t{0});
    Cost sum{zero, zero, zero, zero, zero};
    for (const graph::ExprId id : body.order) {
        const Cost one = costOf(graph, graph.expr(id), registry);
        sum = {sum.flops + one.flops, sum.multiplyAdds + one.multiplyAdds, sum.bytes + one.bytes,
               sum.bytesWritten + one.bytesWritten, sum.bytesRead + one.bytesRead};
    }
    return sum;
}

}  // namespace

Cost costOf(const InternalGraph& graph, const Expr& expr, const ops::Registry& registry) {
    using graph::ExprKind;
    const bool hasOperator = !expr.op.name.empty();
    if (!hasOperator && expr.bodies.size() == 1) return costOfBody(graph, graph.body(expr.bodies.front()), registry);
    const bool isValue = expr.kind == ExprKind::Input || expr.kind == ExprKind::Output ||
                         expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr;
    if (isValue) {
        const Symbolic zero = Symbolic::of(std::int64_t{0});
        return {zero, zero, zero, zero, zero};
    }
    if (!hasOperator || !expr.bodies.empty()) return {};
    const BoundCall bound(graph, expr, registry);
    return operators::costOf({.domain = expr.op.domain,
                              .name = expr.op.name,
                              .inputs = bound.types,
                              .outputs = bound.outputs,
                              .constants = bound.values,
                              .attributes = &expr.attributes});
}

}  // namespace sonde::analysis
