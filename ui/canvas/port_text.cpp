#include "ui/canvas/port_text.h"

#include "core/analysis/model_summary.h"
#include "core/base/unicode.h"
#include "ui/context/text.h"

namespace sonde::canvas {
namespace {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;
using graph::NodeId;

/// At most 60 bytes of a name.
QString portText(std::string_view name) { return context::text(base::utf8Prefix(name, 60)); }

bool holds(const Argument& argument, NodeId value) {
    if (argument.kind == Argument::Kind::Node) return argument.node == value;
    for (const Argument& item : argument.items)
        if (holds(item, value)) return true;
    return false;
}

/// The name of the i-th of what a specification lists; the last one may stand for all that follow.
QString formalName(const std::vector<ops::Formal>& formals, std::size_t index) {
    if (formals.empty()) return {};
    const std::size_t last = formals.size() - 1;
    if (formals[std::min(index, last)].arity != ops::Arity::Variadic)
        return index <= last ? portText(formals[index].name) : QString();
    const std::size_t at = std::min(index, last);
    return portText(formals[at].name) + QStringLiteral(" %1").arg(index - at + 1);
}

}  // namespace

QString argumentName(const graph::InternalGraph& graph, graph::ExprId reader, graph::NodeId value) {
    const Expr& expr = graph.expr(reader);
    for (const auto& [name, argument] : expr.keywords)
        if (holds(argument, value)) return portText(name);
    std::size_t index = 0;
    while (index < expr.arguments.size() && !holds(expr.arguments[index], value)) ++index;
    if (index == expr.arguments.size()) return {};
    if (expr.kind == ExprKind::Output) return {};
    if (const ops::OpDef* op = analysis::definitionOf(expr)) {
        if (!op->parameters.empty())
            return index < op->parameters.size() ? portText(op->parameters[index].name) : QString();
        return formalName(op->inputs, index);
    }
    // A call: its body's inputs have the names of the parameters.
    if (expr.bodies.empty()) return {};
    const auto& inputs = graph.body(expr.bodies.front()).inputs;
    for (std::size_t i = 0; i < inputs.size() && i < expr.inputs.size(); ++i)
        if (expr.inputs[i] == value) return portText(graph.expr(graph.node(inputs[i]).producer).target);
    return {};
}

QString outputName(const graph::InternalGraph& graph, graph::NodeId value) {
    const graph::Node& node = graph.node(value);
    const Expr& expr = graph.expr(node.producer);
    if (expr.outputs.size() < 2) return {};
    const ops::OpDef* op = analysis::definitionOf(expr);
    return op ? formalName(op->outputs, node.outputIndex) : QString();
}

}  // namespace sonde::canvas
