#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/exec/runner.h"
#include "core/graph/internal_graph.h"
#include "tests/support/numbers.h"

/// Graphs written by hand, their text, and their values.
namespace sonde::test {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

inline constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

inline Argument arg(NodeId node) { return Argument::of(node); }
inline Argument arg(std::int64_t number) { return Argument::of(Value::ofInt(number)); }
inline Argument arg(int number) { return Argument::of(Value::ofInt(number)); }
inline Argument arg(double number) { return Argument::of(Value::ofFloat(number)); }
inline Argument arg(bool condition) { return Argument::of(Value::ofBool(condition)); }
inline Argument arg(const char* text) { return Argument::of(Value(std::string(text))); }
inline Argument arg(Argument argument) { return argument; }
inline Argument none() { return Argument::of(Value()); }
inline Argument cut(Argument start, Argument stop) {
    return Argument::container(Argument::Kind::Slice, {std::move(start), std::move(stop), none()});
}
inline Argument all() { return cut(none(), none()); }
inline Argument tuple(std::vector<Argument> items) {
    return Argument::container(Argument::Kind::Tuple, std::move(items));
}
inline Argument list(std::vector<Argument> items) {
    return Argument::container(Argument::Kind::List, std::move(items));
}

class Maker {
  public:
    InternalGraph graph;

    NodeId input(const std::string& name, tensor::TypeInfo type = {}) {
        return graph.addInput(graph.mainId(), name, std::move(type), name, graph.main().order.size());
    }
    NodeId floats(const std::string& name, const tensor::Shape& shape) {
        return input(name, tensor::TypeInfo::tensor(tensor::DType::Float32, shape));
    }
    /// A low-level operator, "aten::slice.Tensor", or an operator of Python, "prim::add".
    template <typename... Args>
    NodeId call(const std::string& name, const std::string& op, Args... arguments) {
        return make(ExprKind::CallFunction, name, op, {arg(arguments)...});
    }
    /// A tensor's method as users write it.
    template <typename... Args>
    NodeId method(const std::string& name, const std::string& op, Args... arguments) {
        return make(ExprKind::CallMethod, name, op, {arg(arguments)...});
    }
    /// An operator of ONNX, opset 17.
    template <typename... Args>
    NodeId onnx(const std::string& name, const std::string& op, Args... arguments) {
        return make(ExprKind::Apply, name, op, {arg(arguments)...});
    }
    NodeId constant(const std::string& name, Tensor value, ExprKind kind = ExprKind::Constant) {
        Expr expr;
        expr.kind = kind;
        expr.target = name;
        expr.isParameter = true;
        const std::string own = graph.findNode(name).valid() ? name + "_1" : name;
        const NodeId node = graph.expr(graph.addExpr(std::move(expr), std::span(&own, 1))).outputs.front();
        graph.setType(node, tensor::TypeInfo::tensor(value.dtype(), value.shape()));
        graph.setConstant(node, Value(std::move(value)));
        return node;
    }
    void result(NodeId node) { result(arg(node)); }
    void result(Argument structure) {
        graph.setResult(graph.mainId(), structure);
        Expr output;
        output.kind = ExprKind::Output;
        output.target = "output";
        output.arguments = {std::move(structure)};
        const std::string name = "output";
        graph.addExpr(std::move(output), std::span(&name, 1));
    }
    NodeId make(ExprKind kind, const std::string& name, const std::string& op, std::vector<Argument> arguments) {
        Expr expr;
        expr.kind = kind;
        const std::size_t at = op.find("::");
        const std::string domain = at == std::string::npos ? "" : op.substr(0, at);
        const std::string plain = at == std::string::npos ? op : op.substr(at + 2);
        expr.op = {domain, plain, domain.empty() ? 17 : 0};
        expr.target = domain == "prim" ? "operator." + plain : plain.substr(0, plain.find('.'));
        expr.arguments = std::move(arguments);
        return graph.expr(graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
    }
};

inline std::string text(const InternalGraph& graph, const Argument& argument) {
    std::string inner;
    for (std::size_t i = 0; i < argument.items.size(); ++i) {
        const bool isOpen = argument.kind == Argument::Kind::Slice &&
                            argument.items[i].kind == Argument::Kind::Constant && argument.items[i].constant.isNone();
        if (argument.kind == Argument::Kind::Slice) inner += i == 0 ? "" : i == 1 || !isOpen ? ":" : "";
        else if (i) inner += ",";
        if (!isOpen) inner += text(graph, argument.items[i]);
    }
    switch (argument.kind) {
        case Argument::Kind::Omitted: return "_";
        case Argument::Kind::Node: return graph.node(argument.node).name;
        case Argument::Kind::Constant: {
            if (argument.constant.kind() == tensor::ValueKind::Int && argument.constant.toInt() == kMax) return "MAX";
            return argument.constant.isNone() ? "None" : argument.constant.text();
        }
        case Argument::Kind::Slice: return inner;
        case Argument::Kind::Tuple: return "(" + inner + ")";
        default: return "[" + inner + "]";
    }
}

/// One line for each operation of the main body, "add = add.Tensor(x, 1)"; constants and inputs are left out.
inline std::string text(const InternalGraph& graph) {
    std::string lines;
    for (ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || expr.kind == ExprKind::Constant) continue;
        std::string line =
            graph.node(expr.outputs.front()).name + " = " + (expr.op.name.empty() ? expr.target : expr.op.name) + "(";
        for (std::size_t i = 0; i < expr.arguments.size(); ++i)
            line += (i ? ", " : "") + text(graph, expr.arguments[i]);
        lines += line + ")\n";
    }
    return lines + "return " + text(graph, graph.main().result) + "\n";
}

/// Runs a graph: its outputs, or the error as text in `error`.
inline std::vector<Value> run(const InternalGraph& graph, const std::vector<Value>& inputs,
                              std::string* error = nullptr) {
    const auto shared = std::make_shared<const InternalGraph>(graph);
    const auto plan = exec::Plan::make(shared, {}).value();
    exec::Runner runner(1);
    exec::Recording recording = runner.run(*plan, inputs);
    if (error) *error = recording.error ? recording.error->text() : "";
    return recording.error ? std::vector<Value>{} : recording.outputs;
}

inline Value tensorOf(const tensor::Shape& shape, const std::vector<float>& values) {
    return Value(Tensor::of<float>(shape, values));
}

/// 0, 1, 2 … in a shape.
inline Value counting(const tensor::Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return tensorOf(shape, values);
}

}  // namespace sonde::test
