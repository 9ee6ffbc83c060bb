#pragma once

// Gradients of single operators against central differences, in float64: step 1e-5, tolerance 1e-6 + 1e-5·|expected|.
// Operators that have no float64 in float32: step 1e-2, tolerance 2e-3·(1 + |expected|).

#include <QString>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/exec/runner.h"
#include "tests/core/session/gradient/small_net.h"

namespace sonde::test::gradients::differences {

using graph::Argument;
using graph::NodeId;
using tensor::Attributes;
using tensor::Tensor;
using tensor::Value;

using Nodes = std::vector<NodeId>;
/// Writes the operator on inputs that were made; returns its results.
using Build = std::function<Nodes(SmallNet&, const Nodes&)>;

struct Case {
    std::vector<Dims> shapes;
    Build build;
    double low = 0.3, high = 1.7;
    bool isFloat32 = false;
};

inline Argument number(double value) { return Argument::of(Value::ofFloat(value)); }
inline Argument integer(std::int64_t value) { return Argument::of(Value::ofInt(value)); }
inline Argument flag(bool value) { return Argument::of(Value::ofBool(value)); }
inline Argument integers(const Dims& values) {
    tensor::ValueList items;
    for (const std::int64_t value : values) items.push_back(Value::ofInt(value));
    return Argument::of(Value::list(std::move(items)));
}
inline Argument int64s(const Dims& values) {
    return Argument::of(Value(Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values)));
}
inline Argument none() { return Argument::of(Value()); }

/// ONNX, with constants among the arguments as nodes of their own.
inline Nodes onnx(SmallNet& net, const std::string& op, int version, std::vector<Argument> arguments,
                  Attributes attributes = {}, std::size_t outputs = 1, std::string domain = {}) {
    for (Argument& argument : arguments) {
        if (argument.kind != Argument::Kind::Constant || !argument.constant.isTensor()) continue;
        graph::Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.body = net.graph.mainId();
        expr.scope = net.graph.rootScope();
        const std::string name = "k" + std::to_string(net.graph.exprCount());
        const NodeId node = net.graph.expr(net.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
        net.graph.setType(node, tensor::TypeInfo::of(argument.constant));
        net.graph.setConstant(node, argument.constant);
        argument = Argument::of(node);
    }
    return net.call({std::move(domain), op, version}, std::move(arguments), std::move(attributes), outputs);
}
inline Argument on(NodeId node) { return Argument::of(node); }

/// An operator that takes all inputs, by position.
inline Case plain(const std::string& op, int version, std::vector<Dims> shapes, Attributes attributes = {},
                  double low = 0.3, double high = 1.7) {
    return {std::move(shapes),
            [=](SmallNet& net, const Nodes& xs) {
                std::vector<Argument> arguments(xs.size());
                std::transform(xs.begin(), xs.end(), arguments.begin(), on);
                return onnx(net, op, version, arguments, attributes);
            },
            low, high};
}
/// Of PyTorch: tensors, then `more`.
inline Case aten(const std::string& op, std::vector<Dims> shapes, std::vector<Argument> more = {}, double low = 0.3,
                 double high = 1.7) {
    return {std::move(shapes),
            [=](SmallNet& net, const Nodes& xs) {
                std::vector<Argument> arguments;
                for (const NodeId x : xs) arguments.push_back(on(x));
                arguments.insert(arguments.end(), more.begin(), more.end());
                return net.call({"aten", op, 0}, std::move(arguments));
            },
            low, high};
}

/// Which gradient of the sum of the squares of all results is not what differences say; empty: none.
inline QString wrongDerivative(const Case& one) {
    SmallNet net;
    Nodes xs;
    for (std::size_t i = 0; i < one.shapes.size(); ++i) {
        const Tensor numbers = spread(one.shapes[i], static_cast<int>(i), one.low, one.high);
        xs.push_back(net.input(std::string(1, static_cast<char>('a' + i)),
                               one.isFloat32 ? numbers.cast(tensor::DType::Float32).value() : numbers));
    }
    // The loss is the sum of the squares of all results, so that every element counts in another way.
    NodeId loss;
    for (const NodeId result : one.build(net, xs)) {
        const NodeId square = onnx(net, "Mul", 14, {on(result), on(result)}).front();
        const NodeId sum = onnx(net, "ReduceSum", 13, {on(square)}, {{"keepdims", std::int64_t{0}}}).front();
        loss = loss.valid() ? onnx(net, "Add", 14, {on(loss), on(sum)}).front() : sum;
    }
    const auto document = net.finish(loss);
    const auto found = differentiate(document, net.inputs);
    if (!found) return QString::fromStdString(found.error().text());
    if (found->gradients.size() != xs.size()) return QStringLiteral("gradients are missing");
    const auto plan = exec::Plan::make(document->graph, {});
    if (!plan) return QString::fromStdString(plan.error().text());
    exec::Runner runner(1);
    const double step = one.isFloat32 ? 1e-2 : 1e-5, absolute = one.isFloat32 ? 2e-3 : 1e-6,
                 relative = one.isFloat32 ? 2e-3 : 1e-5;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const Tensor& gradient = found->gradients[i].gradient;
        const Tensor given = net.inputs[i].tensor();
        if (gradient.shape() != given.shape()) return QStringLiteral("a gradient has another shape");
        for (std::int64_t at = 0; at < given.numel(); ++at) {
            double sides[2] = {};
            for (const int side : {0, 1}) {
                Tensor moved = given.clone().value();
                const double by = side ? step : -step;
                if (one.isFloat32) moved.mutableData<float>()[at] += static_cast<float>(by);
                else moved.mutableData<double>()[at] += by;
                std::vector<Value> changed = net.inputs;
                changed[i] = Value(moved);
                const exec::Recording recording = runner.run(**plan, changed, {});
                if (recording.error) return QString::fromStdString(recording.error->text());
                sides[side] = recording.outputs[0].tensor().toDouble(0);
            }
            const double expected = (sides[1] - sides[0]) / (2 * step), value = gradient.toDouble(at);
            if (!(std::abs(value - expected) <= absolute + relative * std::abs(expected)))
                return QString("d%1[%2] is %3 instead of %4")
                    .arg(QChar('a' + static_cast<int>(i)))
                    .arg(at)
                    .arg(value)
                    .arg(expected);
        }
    }
    return {};
}

}  // namespace sonde::test::gradients::differences
